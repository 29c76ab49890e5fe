package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// maxDecisions bounds how often a complete run decides anew because another run committed first.
const maxDecisions = 4

// probe refuses a store on which two first commits could both win.
func (r *run) probe(ctx context.Context) error {
	err := store.Probe(ctx, r.Store)
	if errors.Is(err, store.ErrIgnoresReplaceIf) || errors.Is(err, store.ErrIgnoresCreateOnly) && r.SingleWriter {
		r.Log.Warn("the store does not keep all promises", "err", err)
		return nil
	}
	return err
}

// commit makes the run visible. Where another run took the number first, a complete run takes that one's
// state in, decides again from its spools, and tries the next number; any other gives up, because the
// next one is never far.
func (r *run) commit(ctx context.Context, feeds []*feedResult, result *Result) error {
	for decision := 1; ; decision++ {
		err := r.commitOnce(ctx, feeds, result)
		if !errors.Is(err, load.ErrConflict) || !r.complete || decision == maxDecisions {
			return err
		}
		r.Log.Warn("another run committed first; deciding again on its state", "err", err)
		if err := r.decideAgain(ctx, feeds); err != nil {
			return fmt.Errorf("%w, and deciding again failed: %w", load.ErrConflict, err)
		}
		result.take(feeds)
	}
}

// commitOnce writes deal_versions and the commit. Result.Commit stays 0 where there was nothing to
// commit.
func (r *run) commitOnce(ctx context.Context, feeds []*feedResult, result *Result) error {
	done := slices.DeleteFunc(slices.Clone(feeds), func(f *feedResult) bool { return f.Outcome != lake.OutcomeDone })
	if len(done) == 0 {
		if err := result.verdict(); err != nil {
			return fmt.Errorf("%w: %w", ErrNothingDone, err)
		}
		return r.nothingToPull()
	}
	if !r.complete && !slices.ContainsFunc(done, (*feedResult).hasNews) {
		result.Outcome = lake.OutcomeUnchanged
		return result.verdict()
	}
	if err := r.holdsContract(done); err != nil {
		return err
	}
	if err := r.youngEnough(); err != nil {
		return err
	}
	known := r.knownAt()
	if err := r.writeVersions(ctx, done, known); err != nil {
		return err
	}
	commit := lake.Commit{
		Command: r.command, KnownAt: known, DealflowVersion: r.Version, StartedAt: lake.At(r.started), FinishedAt: lake.At(r.now()),
		SnapshotDate: r.day, Outcome: lake.OutcomeDone, Feeds: result.Feeds, Remove: []string{}, Checks: []lake.Check{},
	}
	if result.verdict() != nil {
		commit.Outcome = lake.OutcomePartial
	}
	if r.complete {
		for _, f := range done {
			commit.Remove = append(commit.Remove, r.lake.Log().Replaced(f.Feed, r.day)...)
		}
	}
	for _, f := range done {
		f.decisions = nil // they are written
	}
	debug.FreeOSMemory() // DuckDB, which works next, needs what flattening held, and Go does not know of it
	if err := r.check(ctx, &commit, result); err != nil {
		return err
	}
	if err := r.youngEnough(); err != nil { // checks take their time, too
		return err
	}
	made, err := r.load.Commit(ctx, commit)
	if err != nil {
		return err
	}
	result.Commit, result.KnownAt, result.Outcome, result.Files = made.Number, made.KnownAt, made.Outcome, len(made.Add)
	for _, file := range made.Add {
		result.BytesWritten += file.Bytes
	}
	for _, f := range done {
		r.learn(f)
	}
	return nil
}

// learn takes in what a committed run has made of a feed.
func (r *run) learn(f *feedResult) {
	if r.heads[f.Feed] == nil {
		r.heads[f.Feed] = f.heads
		return
	}
	maps.Copy(r.heads[f.Feed], f.heads)
}

// youngEnough refuses a run that may have lost files by now: nobody deletes what is younger than the grace.
func (r *run) youngEnough() error {
	if age := r.Clock().Sub(r.began); age > load.Grace/2 {
		return fmt.Errorf("%s began %s ago: a file that no commit names may be removed after %s, so it does not commit any more; run it again", r.command, age.Round(time.Minute), load.Grace)
	}
	return nil
}

// nothingToPull is the error of a run all of whose feeds were skipped.
func (r *run) nothingToPull() error {
	if r.complete {
		return fmt.Errorf("%w: no feed is part of the account; check DEALFLOW_CLIENT_ID and --feeds", ErrNothingDone)
	}
	return fmt.Errorf("%w: the lake holds no snapshot of these feeds; `dealflow run` takes the first", ErrNothingDone)
}

// decideAgain takes in what another run has committed, and decides the versions of all feeds that are
// done against it, from the payloads that this run has. Per deal the later observation wins.
func (r *run) decideAgain(ctx context.Context, feeds []*feedResult) error {
	before := r.lake.Log().KnownAt
	if err := r.lake.Refresh(ctx); err != nil {
		return err
	}
	var err error
	if r.heads, err = r.lake.Heads(ctx, r.Memory); err != nil {
		return err
	}
	if err := r.chooseDay(); err != nil {
		return err
	}
	theirs, err := r.lake.ObservedAfter(ctx, r.Memory, before)
	if err != nil {
		return err
	}
	r.load.Discard()
	group, ctx := errgroup.WithContext(ctx)
	for _, f := range feeds {
		if f.Outcome == lake.OutcomeDone {
			group.Go(func() error { return r.redo(ctx, f, theirs[f.Feed]) })
		}
	}
	return group.Wait()
}

// redo decides and writes one feed again. theirs says when deals were observed that another run has
// committed meanwhile.
func (r *run) redo(ctx context.Context, f *feedResult, theirs map[int64]time.Time) error {
	f.forget()
	for id, at := range theirs {
		if entry, ok := f.spool.Entry(id); ok && at.After(entry.ObservedAt) {
			f.superseded[id] = true
		}
	}
	bounded, cancel := r.bounded(ctx)
	defer cancel()
	if err := r.settleAbsent(bounded, f); err != nil {
		return r.outcome(ctx, f, err)
	}
	return r.decideAndWrite(ctx, f)
}

// settle writes what is derived from the commit. The commit stands whatever comes of it, so failures
// are warnings.
func (r *run) settle(ctx context.Context, result *Result) {
	warn := r.warner(result)
	warn("the hint or checkpoint was not written; the next start takes longer", r.load.Settle(ctx, r.heads))
	var err error
	result.Compaction, err = r.compactIfNeeded(ctx)
	warn("history was not compacted; `dealflow compact` does it", err)
	warn("the lease was not given back; it runs out by itself", r.lease.drop(ctx))
	if !r.NoCatalog {
		warn("the catalog was not published; `dealflow catalog` does it", r.publish(ctx))
	}
}

// warner tells a failure of what follows a commit, in the result and in the log; no error is none.
func (r *run) warner(result interface{ warn(text string) }) func(what string, err error) {
	return func(what string, err error) {
		if err != nil {
			result.warn(fmt.Sprintf("%s: %v", what, err))
			r.Log.Warn(what, "err", err)
		}
	}
}
