package maintain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dealflow/internal/catalog"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Result says what a command did. It is part of the objects that `--json` prints; fields are only ever added.
type Result struct {
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

func (r *Result) warn(text string) { r.Warnings = append(r.Warnings, text) }

// maxTries is how often a commit is tried: once, and three more times after another command's commit.
const maxTries = 4

// work is one execution of a command.
type work struct {
	Config
	command string
	lake    *load.Lake
	tx      *load.Transaction
	started time.Time        // by the clock now
	now     func() time.Time // the clock of the commit's started_at and finished_at
}

// execute runs do on a lake under the lease: its commit, if any. Then it writes what is derived from the commit. If
// another command holds the lease, nothing is done (lake.OutcomeSkipped). The result is set if begun is true.
func execute(ctx context.Context, cfg Config, command string, result *Result, do func(context.Context, *work) error) (begun bool, err error) {
	if cfg, err = cfg.withDefaults(); err != nil {
		return false, err
	}
	began := cfg.Clock()
	l, err := load.Open(ctx, cfg.Store)
	if err != nil {
		return false, err
	}
	session, busy, err := l.Start(ctx, load.SessionConfig{
		RunID: cfg.RunID, Command: command, Owner: cfg.Owner, Started: began, Clock: cfg.Clock, WorkDir: cfg.WorkDir, Memory: cfg.Memory, Log: cfg.Log,
	})
	if err != nil {
		return false, err
	}
	w := &work{Config: cfg, command: command, lake: l, started: began, now: cfg.Clock}
	*result = w.newResult()
	measure := func() { result.Seconds = cfg.Clock().Sub(began).Seconds() }
	if busy != nil {
		measure()
		result.Outcome = lake.OutcomeSkipped
		result.warn(fmt.Sprintf("%s is at work (run %s of %s): nothing was done", busy.Command, busy.RunID, busy.Owner))
		return true, nil
	}
	defer func() { err = errors.Join(err, session.Close(ctx)) }()
	defer measure()
	w.tx = session.Transaction
	err = do(ctx, w)
	if result.Commit > 0 {
		warn := w.warner(result)
		warn("the hint or checkpoint was not written; the next start takes longer", w.writeDerived(ctx))
		warn("the lease was not given back; it runs out by itself", session.DropLease(ctx))
		if !w.NoCatalog {
			warn("the catalog was not published; `dealflow catalog` does it", w.publish(ctx))
		}
	}
	return true, err
}

func (w *work) newResult() Result {
	return Result{Command: w.command, Lake: w.Store.URL(), RunID: w.RunID, Outcome: lake.OutcomeFailed, Warnings: []string{}}
}

// warner returns a function that reports a failure after a commit, in the result and in the log. The commit stays
// valid, so the failure is a warning.
func (w *work) warner(result *Result) func(what string, err error) {
	return func(what string, err error) {
		if err != nil {
			result.warn(fmt.Sprintf("%s: %v", what, err))
			w.Log.Warn(what, "err", err)
		}
	}
}

// commit makes the written files visible and removes others from the lake. If another command committed first, it tries
// again as long as all files to remove are still part of the lake.
func (w *work) commit(ctx context.Context, remove []string, result *Result) error {
	slices.Sort(remove)
	for try := 1; ; try++ {
		err := w.commitOnce(ctx, remove, result)
		if !errors.Is(err, load.ErrConflict) || try == maxTries {
			return err
		}
		w.Log.Warn("another run committed first; trying behind it", "err", err)
		if err := w.lake.Refresh(ctx); err != nil {
			return fmt.Errorf("%w, and looking at its state failed: %w", load.ErrConflict, err)
		}
		if gone := slices.IndexFunc(remove, func(path string) bool { return !w.lake.Log().Live(path) }); gone >= 0 {
			return fmt.Errorf("%w, and %s is no longer part of the lake; run again", load.ErrConflict, remove[gone])
		}
	}
}

func (w *work) commitOnce(ctx context.Context, remove []string, result *Result) error {
	var bytesRemoved int64
	for _, path := range remove {
		file, _ := w.lake.Log().LiveFile(path)
		bytesRemoved += file.Bytes
	}
	made, err := w.tx.Commit(ctx, lake.Commit{
		// Such a commit changes no answer. Its instant is the next one after the last commit's, so that a wrong clock
		// cannot make later instants wrong.
		Command: w.command, KnownAt: w.lake.Log().KnownAt.Next(), DealflowVersion: w.Version, StartedAt: lake.At(w.started), FinishedAt: lake.At(w.now()),
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

// writeDerived writes hint and checkpoint. The latest versions are read only if a checkpoint needs them.
func (w *work) writeDerived(ctx context.Context) error {
	var heads map[api.Feed]lake.Heads
	if w.lake.Log().CheckpointDue() {
		var err error
		if heads, err = w.lake.Heads(ctx, w.Memory); err != nil {
			return err
		}
	}
	return w.lake.WriteDerived(ctx, heads)
}

// publish puts a current catalog into the lake.
func (w *work) publish(ctx context.Context) error {
	maker := &catalog.Maker{Lake: w.lake, Cache: w.Cache, WorkDir: w.WorkDir, Log: w.Log}
	return maker.PublishCurrent(ctx, nil)
}
