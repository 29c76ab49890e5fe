package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/schemas/lake"
)

// compactAfter is the number of small history files of a table, market and year above which a run merges
// them by itself. A sync every five minutes makes 288 a day; views open quickly up to some thousands of
// files, and there are 18 tables in up to six markets. What reads wide tables pays for each file, so the
// folders of past years are merged whatever their number: once, by the first run of a new year.
const compactAfter = 32

// Compact merges small history files into larger ones, as one commit: the same rows in fewer files, so
// that no answer changes. It needs no Client; of the other settings those of a run count that name no
// feeds. Where nothing can be merged, nothing is committed (lake.OutcomeUnchanged); where another run holds
// the lease, nothing is done (lake.OutcomeSkipped). load.ErrConflict says that others have committed
// again and again, or have replaced the same files; nothing of this one is visible then.
//
// The result is nil only where the command ended before it had begun.
func Compact(ctx context.Context, cfg Config) (*MaintainResult, error) {
	result := &MaintainResult{}
	begun, err := maintain(ctx, cfg, "compact", result, func(ctx context.Context, r *run) error {
		return r.compact(ctx, 2, result)
	})
	if !begun {
		return nil, err
	}
	return result, err
}

// compact merges where a folder has at least so many small files.
func (r *run) compact(ctx context.Context, least int, result *MaintainResult) error {
	var remove []string
	var faults []error
	for _, group := range r.lake.Log().Compactable(r.lake.Log().KnownAt.Year(), least) {
		err := r.load.Merge(ctx, group)
		if errors.Is(err, mirror.ErrNotCommitted) {
			// What is damaged stays as it is; it does not keep the rest from being merged.
			faults = append(faults, fmt.Errorf("compact: %w", err))
			continue
		}
		if err != nil {
			return fmt.Errorf("compact: %w", err)
		}
		for _, file := range group {
			remove = append(remove, file.Path)
		}
	}
	if len(remove) == 0 {
		if len(faults) == 0 {
			result.Outcome = lake.OutcomeUnchanged
		}
		return errors.Join(faults...)
	}
	return errors.Join(append(faults, r.commitMaintenance(ctx, remove, result))...)
}

// compactIfNeeded merges history files behind the run's own commit, where there have come to be many, as
// a commit of its own under the run's lease; hint and checkpoint follow it. The result is nil where
// there are not many. The run stands whatever comes of it.
func (r *run) compactIfNeeded(ctx context.Context) (result *MaintainResult, err error) {
	now := r.now()
	if len(r.lake.Log().Compactable(r.lake.Log().KnownAt.Year(), compactAfter+1)) == 0 {
		return nil, nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("run id: %w", err)
	}
	c := &run{Config: r.Config, command: "compact", lake: r.lake, began: r.Clock(), started: now, latest: now}
	c.RunID = id.String()
	if c.load, err = c.lake.Begin(load.RunConfig{ID: c.RunID, Started: now, WorkDir: c.WorkDir, Memory: c.Memory}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.load.Close()) }()
	made := c.maintainResult()
	if err := c.compact(ctx, compactAfter+1, &made); err != nil {
		return nil, err
	}
	if err := c.settleLog(ctx); err != nil {
		made.warn(fmt.Sprintf("the hint or checkpoint was not written; the next start takes longer: %v", err))
		c.Log.Warn("the hint or checkpoint was not written behind the compaction", "err", err)
	}
	made.Seconds = c.Clock().Sub(c.began).Seconds()
	return &made, nil
}
