package pull

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"dealflow/internal/maintain"
	"dealflow/load"
	"dealflow/load/iceberg"
	"dealflow/load/mirror"
	"dealflow/schemas/lake"
)

// maxDecisions is how often a complete run decides, at most: again each time another run committed first.
const maxDecisions = 4

// commit makes the run visible. If another run took the number first, a complete run reads the new state, decides again
// from its spools, and tries the next number. Any other command gives up: its next execution is soon.
func (r *run) commit(ctx context.Context, feeds []*feedRun, result *Result) error {
	for decision := 1; ; decision++ {
		err := r.commitOnce(ctx, feeds, result)
		if !errors.Is(err, load.ErrConflict) || !r.command.complete || decision == maxDecisions {
			return err
		}
		r.Log.Warn("another run committed first; deciding again on its state", "error", err)
		if err := r.decideAgain(ctx, feeds); err != nil {
			return fmt.Errorf("%w; deciding again on its state failed: %w; nothing was committed: run again", load.ErrConflict, err)
		}
		result.setFeeds(feeds)
	}
}

// commitOnce writes deal_versions and the commit. Result.Commit stays 0 if there was nothing to commit.
func (r *run) commitOnce(ctx context.Context, feeds []*feedRun, result *Result) error {
	done := slices.DeleteFunc(slices.Clone(feeds), func(f *feedRun) bool { return f.Outcome != lake.OutcomeDone })
	if some, err := r.hasToCommit(feeds, done, result); err != nil || !some {
		return err
	}
	if err := r.mayCommit(ctx, done, result); err != nil {
		return err
	}
	commit, err := r.prepare(ctx, done, result)
	if err != nil {
		return err
	}
	if err := r.check(ctx, &commit, result); err != nil {
		return err
	}
	made, err := r.session.Commit(ctx, commit)
	if err != nil {
		return err
	}
	result.committed(made)
	if err := r.catalog.Finish(ctx, r.lake.Log().Newest()); err != nil {
		r.Log.Info("the catalog is built again", "why", errors.Join(err, r.dropCatalog()))
	}
	return nil
}

// hasToCommit says whether there is something to commit. If there is nothing, it returns why, or sets the outcome if that is no error. done are
// the feeds that were read completely.
func (r *run) hasToCommit(feeds, done []*feedRun, result *Result) (bool, error) {
	switch {
	case len(feeds) == 0 && r.command.byID: // no deal with a readable id is in quarantine
		result.Outcome = lake.OutcomeUnchanged
		return false, nil
	case len(done) == 0:
		if err := result.verdict(); err != nil {
			return false, fmt.Errorf("%w: %w", ErrNothingDone, err)
		}
		return false, r.nothingToPull()
	case !r.command.complete && len(r.lake.Lost()) == 0 && !slices.ContainsFunc(done, (*feedRun).hasNews):
		result.Outcome = lake.OutcomeUnchanged
		return false, result.verdict()
	}
	return true, nil
}

// mayCommit checks what forbids a commit whatever its rows say: drift that must be accepted, a run that has taken too long, and a clock that
// went wrong.
func (r *run) mayCommit(ctx context.Context, done []*feedRun, result *Result) error {
	if err := r.checkContract(done); err != nil {
		result.Held.Contract = true
		return err
	}
	if err := r.session.CheckAge(); err != nil {
		return err
	}
	return r.recheckClock(ctx, result)
}

// prepare writes what is still to be written, and returns the commit that names all files. They are in the store then: the catalog reads them.
func (r *run) prepare(ctx context.Context, done []*feedRun, result *Result) (commit lake.Commit, err error) {
	known := r.clock.KnownAt(r.lake.Floor())
	if err := r.writeVersions(ctx, done, known); err != nil {
		return commit, err
	}
	commit = r.newCommit(result, known)
	if err := r.replaceSnapshots(ctx, done, &commit); err != nil {
		return commit, err
	}
	if err := r.session.Settle(ctx); err != nil {
		return commit, err
	}
	return commit, r.freeMemory(done)
}

// recheckClock returns an error if the true time may be another than the run's, unless the caller accepts that.
func (r *run) recheckClock(ctx context.Context, result *Result) error {
	bounded, cancel := r.bounded(ctx)
	defer cancel()
	warning, err := r.clock.Recheck(bounded, r.Client.ServerTime)
	if err != nil && r.AcceptClock {
		warning, err = err.Error(), nil
	}
	if warning != "" && !slices.Contains(result.Warnings, warning) {
		result.warn(warning)
	}
	return err
}

// newCommit returns the commit without its files: the session adds them.
func (r *run) newCommit(result *Result, known lake.Instant) lake.Commit {
	commit := lake.Commit{
		Command: r.command.name, KnownAt: known, DealflowVersion: r.Version, StartedAt: lake.At(r.started), FinishedAt: lake.At(r.clock.Now()),
		SnapshotDate: r.day, Outcome: lake.OutcomeDone, Feeds: result.Feeds, Remove: []string{}, Checks: []lake.Check{}, DriftKinds: lake.DriftKinds(),
	}
	if result.verdict() != nil {
		commit.Outcome = lake.OutcomePartial
	}
	if r.zone != lake.UTC { // absent means UTC
		commit.DayZone = r.zone
	}
	return commit
}

// replaceSnapshots removes the files of earlier snapshots of the day from the lake. Rows of other feeds in them are written
// again.
func (r *run) replaceSnapshots(ctx context.Context, done []*feedRun, commit *lake.Commit) (err error) {
	if !r.command.complete {
		return nil
	}
	var parts []maintain.Part
	for _, f := range done {
		for _, file := range r.lake.Log().Snapshot(f.Feed, r.day) {
			parts = append(parts, maintain.Part{File: file, Market: f.Feed.Market})
		}
	}
	commit.Remove, err = maintain.TakeOut(ctx, r.lake, r.session.Transaction, r.Cache, parts)
	return err
}

// freeMemory moves to work files what the feeds have in memory for each deal, once the data files are written: DuckDB runs next and
// needs the memory. What the commit needs after that is read back (apply, decideAgain).
func (r *run) freeMemory(feeds []*feedRun) error {
	for _, f := range feeds {
		if err := errors.Join(f.spill(r.spools), f.spool.Rest()); err != nil {
			return err
		}
	}
	r.save()
	// A pool keeps its buffers until the second collection.
	runtime.GC()
	debug.FreeOSMemory()
	return nil
}

// apply adds the committed versions to the latest ones. If they cannot be read back, the lake has them.
func (r *run) apply(ctx context.Context, feeds []*feedRun) error {
	for _, f := range feeds {
		if f.Outcome != lake.OutcomeDone {
			continue
		}
		if r.latest[f.Feed] == nil {
			r.latest[f.Feed] = make(lake.Latest, f.came.Len)
		}
		if err := f.came.AddTo(r.latest[f.Feed]); err != nil {
			r.Log.Info("the latest versions are read again", "why", err)
			if r.latest, err = r.lake.Latest(ctx, r.Memory); err != nil {
				r.latest = nil // not a part of them: what follows reads them by itself
			}
			return err
		}
	}
	return nil
}

// nothingToPull returns the error of a run whose feeds were all skipped.
func (r *run) nothingToPull() error {
	if r.command.complete {
		return fmt.Errorf("%w: no feed is part of the account; check DEALFLOW_CLIENT_ID and --feeds", ErrNothingDone)
	}
	return fmt.Errorf("%w: the lake has no snapshot of these feeds; run `dealflow run` first", ErrNothingDone)
}

// decideAgain reads what other runs have committed since this one began to read, and decides all complete feeds again, from
// the payloads that this run has. For each deal the later observation wins, also over one of a commit that an earlier
// decision has seen already.
func (r *run) decideAgain(ctx context.Context, feeds []*feedRun) error {
	if err := r.readAgain(ctx); err != nil {
		return err
	}
	theirs, err := r.lake.ObservedAfter(ctx, r.Memory, r.since)
	if err != nil {
		return err
	}
	r.session.Discard()
	group, ctx := errgroup.WithContext(ctx)
	for _, f := range feeds {
		if f.Outcome == lake.OutcomeDone {
			group.Go(func() error { return r.redo(ctx, f, theirs[f.Feed]) })
		}
	}
	return group.Wait()
}

// readAgain reads the lake's state after others may have committed.
func (r *run) readAgain(ctx context.Context) (err error) {
	if err := r.lake.Refresh(ctx); err != nil {
		return err
	}
	if r.latest, err = r.lake.Latest(ctx, r.Memory); err != nil {
		return err
	}
	if !r.command.complete {
		return nil
	}
	return r.chooseDay(&r.Config, r.lake.Log())
}

// redo decides and writes one feed again. theirs says when other runs' new versions of deals were observed. A run that has read
// the complete feed since has observed all of its deals later, also those of which it made no version.
func (r *run) redo(ctx context.Context, f *feedRun, theirs map[int64]time.Time) error {
	if err := f.spool.Wake(); err != nil {
		return err
	}
	var reread time.Time
	if last := r.lake.Log().LastSnapshot(f.Feed); last != nil && last.KnownAt.After(r.since.Time) {
		reread = last.Feed(f.Feed).StartedAt.Time
	}
	superseded := map[int64]bool{}
	for _, id := range f.spool.IDs() {
		if entry, _ := f.spool.Entry(id); entry.ObservedAt.Before(reread) || entry.ObservedAt.Before(theirs[id]) {
			superseded[id] = true
		}
	}
	f.begin(superseded)
	bounded, cancel := r.bounded(ctx)
	defer cancel()
	if err := r.resolveAbsent(bounded, f); err != nil {
		return r.outcome(ctx, f, err)
	}
	r.stillAbsent(f, reread)
	return r.decideAndWrite(ctx, f)
}

// publish writes what is derived from the commit. The commit stays valid if this fails, so failures are warnings. The Iceberg
// tables are many small objects, and the catalog is two large ones: a store that is far away takes them side by side.
func (r *run) publish(ctx context.Context, feeds []*feedRun, result *Result) {
	warn := r.warner(result)
	err := r.apply(ctx, feeds)
	if err == nil {
		err = r.lake.WriteDerived(ctx, r.latest)
	}
	warn("the hint or checkpoint was not written; the next start takes longer", err)
	result.Compaction, err = r.compactIfNeeded(ctx)
	switch {
	case result.Compaction == nil:
		warn("history was not compacted; run `dealflow compact`", err)
	case errors.Is(err, mirror.ErrNotCommitted):
		warn("some files of history were not compacted, for they may be damaged; run `dealflow verify`", err)
	default:
		warn("history was compacted, and work files of that could not be removed", err)
	}
	var tables sync.WaitGroup
	var tablesErr error
	tables.Go(func() {
		_, tablesErr = iceberg.AfterCommit(ctx, r.lake, iceberg.Config{Clock: r.Clock, Memory: r.Memory}, r.command.name == lake.CommandSync)
	})
	if !r.NoCatalog {
		warn("the catalog was not published; run `dealflow catalog`", r.maker().PublishCurrent(ctx, r.catalog))
	}
	tables.Wait()
	warn("the Iceberg tables were not published; run `dealflow iceberg publish`", tablesErr)
	warn("the lease was not released; it expires by itself", r.session.DropLease(ctx))
}

// compactIfNeeded merges history files if there are many.
func (r *run) compactIfNeeded(ctx context.Context) (*maintain.Result, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("run id: %w", err)
	}
	return maintain.CompactAfterRun(ctx, r.lake, maintain.Config{
		Store: r.Store, RunID: id.String(), Clock: r.Clock, WorkDir: r.WorkDir, Owner: r.Owner, Version: r.Version, Memory: r.Memory, Log: r.Log, Cache: r.Cache,
	}, r.latest, r.clock.Now)
}

// warner returns a function that reports a failure after the commit, in the result and in the log.
func (r *run) warner(result *Result) func(what string, err error) {
	return func(what string, err error) {
		if err != nil {
			result.warn(fmt.Sprintf("%s: %v", what, err))
			r.Log.Warn("a step after the commit failed", "step", what, "error", err)
		}
	}
}
