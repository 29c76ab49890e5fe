package maintain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dealflow/internal/catalog"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// Result says what a command did. It is part of the objects that `--json` prints; fields are only ever added.
type Result struct {
	Command      string       `json:"command"` // compact, expire, replay or iceberg
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
	l, err := load.OpenAccepting(ctx, cfg.Store, cfg.AcceptLost)
	if err != nil {
		return false, err
	}
	session, busy, err := l.Start(ctx, load.SessionConfig{
		RunID: cfg.RunID, Command: command, Lease: load.Lease{Owner: cfg.Owner}, Started: began, Clock: cfg.Clock, WorkDir: cfg.WorkDir, Memory: cfg.Memory, Log: cfg.Log,
		Keep: cfg.Cache.Keeper(),
	})
	if err != nil {
		return false, err
	}
	w := &work{Config: cfg, command: command, lake: l, started: began, now: cfg.Clock}
	*result = w.newResult()
	measure := func() { result.Seconds = cfg.Clock().Sub(began).Seconds() }
	if busy != nil {
		measure()
		result.giveWay(busy)
		return true, nil
	}
	defer func() { err = errors.Join(err, session.Close(ctx)) }()
	defer measure()
	w.tx = session.Transaction
	err = do(ctx, w)
	if err == nil && result.Commit == 0 && w.hasLost() {
		err = w.commit(ctx, []string{}, result)
	}
	if result.Commit > 0 {
		warn := w.warner(result)
		warn("the hint or checkpoint was not written; the next start takes longer", w.lake.Derive(ctx, w.Memory))
		warn("the Iceberg tables were not published; run `dealflow iceberg publish`", w.publishTables(ctx))
		warn("the lease was not released; it expires by itself", session.DropLease(ctx))
		if !w.NoCatalog {
			warn("the catalog was not published; run `dealflow catalog`", w.publish(ctx))
		}
	}
	return true, err
}

// hasLost says whether the lake has lost commits that a commit must record, even if there is nothing else to commit. That
// the user accepts the loss was checked before.
func (w *work) hasLost() bool { return len(w.lake.Lost()) > 0 }

func (w *work) newResult() Result {
	return Result{Command: w.command, Lake: w.Store.URL(), RunID: w.RunID, Outcome: lake.OutcomeFailed, Warnings: []string{}}
}

// giveWay says that nothing was done because another command holds the lease.
func (r *Result) giveWay(busy *load.Lease) {
	r.Outcome = lake.OutcomeSkipped
	r.warn(fmt.Sprintf("%s is running (run %s of %s): nothing was done", busy.Command, busy.RunID, busy.Owner))
}

// warner returns a function that reports a failure after a commit, in the result and in the log. The commit stays
// valid, so the failure is a warning.
func (w *work) warner(result *Result) func(what string, err error) {
	return func(what string, err error) {
		if err != nil {
			result.warn(fmt.Sprintf("%s: %v", what, err))
			w.Log.Warn("a step after the commit failed", "step", what, "error", err)
		}
	}
}

// commit makes the written files visible and removes others from the lake. If another command committed first, it tries
// again as long as all files to remove are still part of the lake.
func (w *work) commit(ctx context.Context, remove []string, result *Result) error {
	return w.commitWith(ctx, lake.Commit{Remove: remove}, result)
}

// commitWith is commit for a commit that has Corrections, too.
func (w *work) commitWith(ctx context.Context, c lake.Commit, result *Result) error {
	remove := c.Remove
	slices.Sort(remove)
	return w.retryConflicts(ctx, func() error {
		return w.commitOnce(ctx, c, result)
	}, func() error {
		if gone := slices.IndexFunc(remove, func(path string) bool { return !w.lake.Log().Live(path) }); gone >= 0 {
			return fmt.Errorf("%w, and %s is no longer part of the lake; run again", load.ErrConflict, remove[gone])
		}
		return nil
	})
}

// retryConflicts calls commit until no other command commits first, maxTries times at most. After a conflict it reads
// the lake's state and calls plan.
func (w *work) retryConflicts(ctx context.Context, commit, plan func() error) error {
	for try := 1; ; try++ {
		err := commit()
		if !errors.Is(err, load.ErrConflict) || try == maxTries {
			return err
		}
		w.Log.Warn("another run committed first; trying again on its state", "error", err)
		if err := w.lake.Refresh(ctx); err != nil {
			return fmt.Errorf("%w; reading its state failed: %w; nothing was committed: run again", load.ErrConflict, err)
		}
		if err := plan(); err != nil {
			return err
		}
	}
}

// commitOnce completes c, which has Remove and Corrections, and commits it.
func (w *work) commitOnce(ctx context.Context, c lake.Commit, result *Result) error {
	var bytesRemoved int64
	for _, path := range c.Remove {
		file, _ := w.lake.Log().LiveFile(path)
		bytesRemoved += file.Bytes
	}
	c.Command, c.DealflowVersion, c.StartedAt, c.FinishedAt = w.command, w.Version, lake.At(w.started), lake.At(w.now())
	// Such a commit changes no answer. Its instant is the next one after the last commit's, so that a wrong clock cannot
	// make later instants wrong.
	c.KnownAt = w.lake.Floor().Next()
	c.Outcome, c.Feeds, c.Checks = lake.OutcomeDone, []lake.FeedRun{}, []lake.Check{}
	made, err := w.tx.Commit(ctx, c)
	if err != nil {
		return err
	}
	for i := range made.Lost {
		result.warn(made.Lost[i].Warning())
	}
	result.Commit, result.KnownAt, result.Outcome = made.Number, made.KnownAt, made.Outcome
	result.FilesAdded, result.FilesRemoved, result.BytesRemoved = len(made.Add), len(c.Remove), bytesRemoved
	for _, file := range made.Add {
		result.BytesAdded += file.Bytes
	}
	return nil
}

// publish puts a current catalog into the lake.
func (w *work) publish(ctx context.Context) error {
	maker := &catalog.Maker{Lake: w.lake, Cache: w.Cache, WorkDir: w.WorkDir, Log: w.Log}
	return maker.PublishCurrent(ctx, nil)
}
