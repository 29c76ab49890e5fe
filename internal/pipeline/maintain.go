package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// MaintainResult says what a command did that rewrites or drops files without pulling anything. It is
// part of the objects that --json prints; fields are only ever added.
type MaintainResult struct {
	Command      string       `json:"command"` // compact, expire or replay
	Lake         string       `json:"lake"`    // the lake's root
	RunID        string       `json:"run_id"`
	Commit       int64        `json:"commit"` // 0: nothing was committed
	KnownAt      lake.Instant `json:"known_at"`
	Outcome      string       `json:"outcome"` // done; without a commit: unchanged, skipped or failed
	FilesAdded   int          `json:"files_added"`
	FilesRemoved int          `json:"files_removed"` // that are no longer part of the lake
	BytesAdded   int64        `json:"bytes_added"`
	BytesRemoved int64        `json:"bytes_removed"`
	Seconds      float64      `json:"seconds"` // of the machine's clock
	Warnings     []string     `json:"warnings"`
}

func (r *MaintainResult) warn(text string) { r.Warnings = append(r.Warnings, text) }

// maxTries bounds how often a command without decisions of its own tries to commit: once, and three
// times behind another's commit.
const maxTries = 4

// maintain does some work on a lake under the lease: its commit, if any, and what follows from it. Where
// another run holds the lease, nothing is done (lake.OutcomeSkipped). The result is filled where begun is
// true.
func maintain(ctx context.Context, cfg Config, command string, result *MaintainResult, work func(context.Context, *run) error) (begun bool, err error) {
	r := &run{command: command}
	if r.Config, err = cfg.withoutClient(); err != nil {
		return false, err
	}
	r.began = r.Clock()
	r.started = r.began
	if err := r.openLake(ctx); err != nil {
		return false, err
	}
	// Such a commit changes no answer. Its instant is that of the last one and a microsecond, so no clock that
	// is wrong can spoil the instants to come.
	r.ServerClock, r.latest = true, r.lake.Log().KnownAt.Time
	busy, err := r.begin(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.close(ctx)) }()
	*result = r.maintainResult()
	defer func() { result.Seconds = r.Clock().Sub(r.began).Seconds() }()
	if busy != nil {
		result.Outcome = lake.OutcomeSkipped
		result.warn(fmt.Sprintf("%s is at work (run %s of %s): nothing was done", busy.Command, busy.RunID, busy.Owner))
		return true, nil
	}
	err = work(ctx, r)
	if result.Commit > 0 {
		r.settleMaintenance(ctx, result)
	}
	return true, err
}

func (r *run) maintainResult() MaintainResult {
	return MaintainResult{Command: r.command, Lake: r.Store.URL(), RunID: r.RunID, Outcome: lake.OutcomeFailed, Warnings: []string{}}
}

// commitMaintenance makes visible what was written, in place of the files of remove. Where another run
// committed first, that changes nothing about it as long as all these files are still part of the lake.
func (r *run) commitMaintenance(ctx context.Context, remove []string, result *MaintainResult) error {
	slices.Sort(remove)
	for try := 1; ; try++ {
		err := r.commitMaintenanceOnce(ctx, remove, result)
		if !errors.Is(err, load.ErrConflict) || try == maxTries {
			return err
		}
		r.Log.Warn("another run committed first; trying behind it", "err", err)
		if err := r.lake.Refresh(ctx); err != nil {
			return fmt.Errorf("%w, and looking at its state failed: %w", load.ErrConflict, err)
		}
		if gone := slices.IndexFunc(remove, func(path string) bool { return !r.lake.Log().Live(path) }); gone >= 0 {
			return fmt.Errorf("%w, and %s is no longer part of the lake; run again", load.ErrConflict, remove[gone])
		}
	}
}

func (r *run) commitMaintenanceOnce(ctx context.Context, remove []string, result *MaintainResult) error {
	if err := r.youngEnough(); err != nil {
		return err
	}
	var bytesRemoved int64
	for _, path := range remove {
		file, _ := r.lake.Log().LiveFile(path)
		bytesRemoved += file.Bytes
	}
	made, err := r.load.Commit(ctx, lake.Commit{
		Command: r.command, KnownAt: r.knownAt(), DealflowVersion: r.Version, StartedAt: lake.At(r.started), FinishedAt: lake.At(r.now()),
		Outcome: lake.OutcomeDone, Feeds: []lake.FeedRun{}, Remove: remove, Checks: []lake.Check{},
	})
	if err != nil {
		return err
	}
	result.Commit, result.KnownAt, result.Outcome = made.Number, made.KnownAt, made.Outcome
	result.FilesAdded, result.FilesRemoved, result.BytesRemoved = len(made.Add), len(remove), bytesRemoved
	for _, file := range made.Add {
		result.BytesAdded += file.Bytes
	}
	return nil
}

// settleMaintenance writes what is derived from the commit. The commit stands whatever comes of it, so
// failures are warnings.
func (r *run) settleMaintenance(ctx context.Context, result *MaintainResult) {
	warn := r.warner(result)
	warn("the hint or checkpoint was not written; the next start takes longer", r.settleLog(ctx))
	warn("the lease was not given back; it runs out by itself", r.lease.drop(ctx))
	if !r.NoCatalog {
		warn("the catalog was not published; `dealflow catalog` does it", r.publish(ctx))
	}
}

// settleLog writes hint and checkpoint. The heads are read only where a checkpoint needs them.
func (r *run) settleLog(ctx context.Context) error {
	var heads map[api.Feed]lake.Heads
	if r.lake.Log().CheckpointDue() {
		var err error
		if heads, err = r.lake.Heads(ctx, r.Memory); err != nil {
			return err
		}
	}
	return r.load.Settle(ctx, heads)
}
