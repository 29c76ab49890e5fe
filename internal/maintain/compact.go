package maintain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/schemas/lake"
)

// compactAfter is the number of small history files of a table, market and year above which a run merges them. A sync
// every five minutes adds 288 a day. Views open quickly up to some thousands of files, and there are 18 tables in up to
// six markets. Readers of wide tables pay for each file, so the first run of a new year merges the folders of past
// years whatever their number.
const compactAfter = 32

// Compact merges small history files into larger ones, as one commit: the same rows in fewer files, so that no answer
// changes. If nothing can be merged, nothing is committed (lake.OutcomeUnchanged). If another command holds the lease,
// nothing is done (lake.OutcomeSkipped). load.ErrConflict means that others have committed again and again, or have
// replaced the same files; then nothing of this command is visible.
//
// The result is nil only if the command ended before it had begun.
func Compact(ctx context.Context, cfg Config) (*Result, error) {
	result := &Result{}
	begun, err := execute(ctx, cfg, "compact", result, func(ctx context.Context, w *work) error {
		return w.compact(ctx, 2, result)
	})
	if !begun {
		return nil, err
	}
	return result, err
}

// compact merges the groups that Compactable finds with this least number of files, and commits.
func (w *work) compact(ctx context.Context, least int, result *Result) error {
	var remove []string
	var faults []error
	for _, group := range compactable(w.lake.Log(), w.lake.Log().KnownAt.Year(), least) {
		err := merge(ctx, w.lake, w.tx, group)
		if errors.Is(err, mirror.ErrNotCommitted) {
			// A damaged file stays as it is; the other groups are still merged.
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
	return errors.Join(append(faults, w.commit(ctx, remove, result))...)
}

// CompactAfterRun merges history files if there are many, as its own commit after a run's and under that run's lease.
// It writes hint and checkpoint; the caller publishes the catalog. cfg.RunID is the compaction's, now is the run's
// clock. The result is nil if there are not many files.
func CompactAfterRun(ctx context.Context, l *load.Lake, cfg Config, now func() time.Time) (result *Result, err error) {
	if len(compactable(l.Log(), l.Log().KnownAt.Year(), compactAfter+1)) == 0 {
		return nil, nil
	}
	if cfg, err = cfg.withDefaults(); err != nil {
		return nil, err
	}
	began := cfg.Clock()
	w := &work{Config: cfg, command: "compact", lake: l, started: now(), now: now}
	if w.tx, err = l.Begin(load.TransactionConfig{
		ID: cfg.RunID, Command: w.command, Started: w.started, Clock: cfg.Clock, WorkDir: cfg.WorkDir, Memory: cfg.Memory,
	}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.tx.Close(ctx)) }()
	made := w.newResult()
	if err := w.compact(ctx, compactAfter+1, &made); err != nil {
		return nil, err
	}
	w.warner(&made)("the hint or checkpoint was not written; the next start takes longer", w.lake.Derive(ctx, w.Memory))
	made.Seconds = cfg.Clock().Sub(began).Seconds()
	return &made, nil
}
