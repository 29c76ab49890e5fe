package maintain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// compactAfter is the number of history files of a table and year, of runs and syncs, above which a run merges them. A
// night adds one for each market, and a sync every five minutes up to 288 a day for each. Views open quickly up to some
// thousands of files, and there are 18 tables. Readers of wide tables pay for each file, so the first runs of a new year
// merge those of past years whatever their number.
const compactAfter = 32

// Compact merges files as one commit: the same rows in fewer files, so that no answer changes. The small history files of
// a table and year become one file of the latest versions and one of all others; the snapshots of a table and a day older
// than a week become one file. If nothing can be merged, nothing is committed (lake.OutcomeUnchanged). If another command
// holds the lease, nothing is done (lake.OutcomeSkipped). load.ErrConflict means that others have committed again and
// again, or have replaced the same files; then nothing of this command is visible.
//
// The result is nil only if the command ended before it had begun.
func Compact(ctx context.Context, cfg Config) (*Result, error) {
	result := &Result{}
	begun, err := execute(ctx, cfg, lake.CommandCompact, result, func(ctx context.Context, w *work) error {
		snapshots, err := compactableSnapshots(w.lake.Log(), w.started)
		if err != nil {
			return fmt.Errorf("compact: %w", err)
		}
		return w.compact(ctx, compactable(w.lake.Log(), w.lake.Log().KnownAt.Year(), 0), snapshots, nil, result)
	})
	if !begun {
		return nil, err
	}
	return result, err
}

// compact merges groups of files, each of them into one or two, and commits. latest are the latest versions of all deals;
// nil means that it reads them.
func (w *work) compact(ctx context.Context, history, snapshots [][]lake.File, latest map[api.Feed]lake.Latest, result *Result) (err error) {
	if len(history) > 0 && latest == nil {
		if latest, err = w.lake.Latest(ctx, w.Memory); err != nil {
			return fmt.Errorf("compact: %w", err)
		}
	}
	fetched, err := w.Cache.FetchAhead(ctx, w.Store, slices.Concat(slices.Concat(history, snapshots)...))
	defer func() { err = errors.Join(err, fetched.Close()) }()
	if err != nil && ctx.Err() != nil { // a file that cannot be fetched fails when its group is merged
		return fmt.Errorf("compact: %w", err)
	}
	var remove []string
	var faults []error
	for i, group := range slices.Concat(history, snapshots) {
		m := merging{files: group, schema: group[0].SchemaVersion, cache: w.Cache}
		if i < len(history) {
			m.latest = latest
		}
		err := merge(ctx, w.lake, w.tx, m)
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
// Snapshots stay as they are. It writes hint and checkpoint; the caller publishes the catalog. cfg.RunID is the
// compaction's, now is the run's clock. latest are the latest versions of all deals, or nil if the caller does not know
// them. The result is nil if there are not many files, or nothing was committed because of an error. With a result, an error says
// which files stay as they are because they are damaged.
func CompactAfterRun(ctx context.Context, l *load.Lake, cfg Config, latest map[api.Feed]lake.Latest, now func() time.Time) (result *Result, err error) {
	history := compactable(l.Log(), l.Log().KnownAt.Year(), compactAfter)
	if len(history) == 0 {
		return nil, nil
	}
	if cfg, err = cfg.withDefaults(); err != nil {
		return nil, err
	}
	began := cfg.Clock()
	w := &work{Config: cfg, command: lake.CommandCompact, lake: l, started: now(), now: now}
	if w.tx, err = l.Begin(load.TransactionConfig{
		ID: cfg.RunID, Command: w.command, Started: w.started, Clock: cfg.Clock, WorkDir: cfg.WorkDir, Memory: cfg.Memory,
		Keep: cfg.Cache.Keeper(),
	}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.tx.Close(ctx)) }()
	made := w.newResult()
	fault := w.compact(ctx, history, nil, latest, &made)
	if fault != nil && made.Commit == 0 {
		return nil, fault
	}
	w.warner(&made)("the hint or checkpoint was not written; the next start takes longer", w.lake.Derive(ctx, w.Memory))
	made.Seconds = cfg.Clock().Sub(began).Seconds()
	return &made, fault
}
