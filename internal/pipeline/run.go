package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// clockTolerance is how far clocks may be apart before a run is refused: one wrong commit would spoil
// all later instants.
const clockTolerance = 10 * time.Minute

// run is one execution of Run.
type run struct {
	Config
	lake    *load.Lake
	load    *load.Run
	heads   map[api.Feed]lake.Heads
	day     string
	started time.Time
	work    string              // folder for spools
	workers *semaphore.Weighted // bounds the feeds that are flattened at once

	mu     sync.Mutex
	latest time.Time // the latest instant observed
}

// Run pulls complete snapshots of the configured feeds into the lake, as one commit. Of the feeds,
// those go that lack the day's snapshot; where none lacks it, all go again and replace the day.
//
// The Result is nil only where the run ended before any feed was begun. With ErrFeedsFailed and
// ErrFeedsHeld the other feeds are committed, unless Result.Commit is 0. Of the rooms' errors
// *extract.AuthError and load.ErrConflict mean that nothing was committed.
func Run(ctx context.Context, cfg Config) (result *Result, err error) {
	cfg, err = cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	began := cfg.Clock()
	r := &run{Config: cfg, workers: semaphore.NewWeighted(int64(cfg.Workers))}
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()

	result = &Result{Command: "run", Lake: r.Store.URL(), RunID: r.RunID, SnapshotDate: r.day, Outcome: lake.OutcomeFailed, Warnings: []string{}}
	defer func() { result.Seconds = cfg.Clock().Sub(began).Seconds() }()
	feeds, err := r.feeds(ctx, r.plan())
	defer func() { err = errors.Join(err, closeFeeds(feeds)) }()
	for _, f := range feeds {
		result.Feeds = append(result.Feeds, f.FeedRun)
	}
	if err != nil {
		return result, err
	}
	if err := r.commit(ctx, feeds, result); err != nil {
		return result, err
	}
	return result, result.verdict()
}

// open finds out, before any work, that the server answers, the credentials hold, the lake can be
// read and the clocks make sense.
func (r *run) open(ctx context.Context) error {
	server, err := r.Client.ServerTime(ctx)
	if err != nil {
		return err
	}
	r.started = r.Clock()
	if r.ServerClock {
		r.started = server
	}
	r.latest = r.started
	r.lake, err = load.Open(ctx, r.Store)
	if err != nil && !errors.Is(err, load.ErrNoLake) {
		return err
	}
	if err := r.checkClock(server); err != nil {
		return err
	}
	if err := r.chooseDay(); err != nil {
		return err
	}
	if r.heads, err = r.lake.Heads(ctx, r.Memory); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp(r.WorkDir, "dealflow-spool-*"); err != nil {
		return fmt.Errorf("work folder: %w", err)
	}
	r.load, err = r.lake.Begin(load.RunConfig{ID: r.RunID, Started: r.started, WorkDir: r.WorkDir, Memory: r.Memory})
	if err != nil {
		return errors.Join(err, os.RemoveAll(r.work))
	}
	return nil
}

func (r *run) close() error { return errors.Join(r.load.Close(), os.RemoveAll(r.work)) }

func (r *run) checkClock(server time.Time) error {
	if r.AcceptClock {
		return nil
	}
	const advice = "set the clock right, or pass --accept-clock if you are sure"
	if last := r.lake.Log().KnownAt; r.started.Before(last.Add(-clockTolerance)) {
		return fmt.Errorf("%w: it says %s, but the lake's last commit was at %s; %s", ErrClock, lake.At(r.started), last, advice)
	}
	if apart := r.started.Sub(server).Abs(); !r.ServerClock && apart > clockTolerance {
		return fmt.Errorf("%w: it says %s, but the server's Date is %s; %s (for a simulated market: --clock=server)", ErrClock, lake.At(r.started), lake.At(server), advice)
	}
	return nil
}

// chooseDay fixes the snapshot's day, which is never older than the last one.
func (r *run) chooseDay() error {
	r.day = r.SnapshotDate
	if r.day == "" {
		r.day = lake.DateOf(r.started)
	}
	if last := r.lake.Log().SnapshotDay(); r.day < last {
		return fmt.Errorf("snapshot date %s is older than the last one, %s: a snapshot of the past cannot be taken", r.day, last)
	}
	return nil
}

// plan chooses the feeds to pull. A feed that was found that day to be no part of the account does not
// lack the snapshot: it goes with the others when all go again.
func (r *run) plan() []api.Feed {
	log := r.lake.Log()
	lacking := slices.DeleteFunc(slices.Clone(r.Feeds), func(f api.Feed) bool {
		return log.HasSnapshot(f, r.day) || log.Skipped(f, r.day)
	})
	if len(lacking) == 0 {
		return r.Feeds
	}
	return lacking
}

// feeds pulls feeds side by side. A feed's own failure is in its outcome; the error is one that ends
// the run. The results that are not nil must be closed in either case.
func (r *run) feeds(ctx context.Context, plan []api.Feed) ([]*feedResult, error) {
	results := make([]*feedResult, len(plan))
	group, ctx := errgroup.WithContext(ctx)
	for i, feed := range plan {
		group.Go(func() error {
			result, err := r.feed(ctx, feed)
			results[i] = result
			if err != nil {
				result.Outcome, result.Error = lake.OutcomeFailed, err.Error()
				return err
			}
			r.FeedDone(result.FeedRun)
			return nil
		})
	}
	err := group.Wait()
	return slices.DeleteFunc(results, func(f *feedResult) bool { return f == nil }), err
}

func closeFeeds(feeds []*feedResult) error {
	var errs []error
	for _, f := range feeds {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// observed notes an instant of observation: the commit must be later.
func (r *run) observed(t time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.After(r.latest) {
		r.latest = t
	}
}

// now is the present by the run's clock. The server's clock is known only by its answers.
func (r *run) now() time.Time {
	if !r.ServerClock {
		return r.Clock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest
}

// knownAt fixes the instant of the commit: by the clock, but later than everything observed for it
// and than the commit before it.
func (r *run) knownAt() lake.Instant {
	r.mu.Lock()
	latest := r.latest
	r.mu.Unlock()
	at := lake.At(r.now())
	for _, floor := range []lake.Instant{lake.At(latest), r.lake.Log().KnownAt} {
		if !at.After(floor.Time) {
			at = lake.At(floor.Add(time.Microsecond))
		}
	}
	return at
}

// commit writes deal_versions, the commit, and what is derived from it.
func (r *run) commit(ctx context.Context, feeds []*feedResult, result *Result) error {
	done := slices.DeleteFunc(slices.Clone(feeds), func(f *feedResult) bool { return f.Outcome != lake.OutcomeDone })
	if len(done) == 0 {
		if err := result.verdict(); err != nil {
			return fmt.Errorf("%w: %w", ErrNothingDone, err)
		}
		return fmt.Errorf("%w: no feed is part of the account; check DEALFLOW_CLIENT_ID and --feeds", ErrNothingDone)
	}
	known := r.knownAt()
	if err := r.writeVersions(ctx, done, known); err != nil {
		return err
	}
	commit := lake.Commit{
		Command: "run", KnownAt: known, DealflowVersion: r.Version, StartedAt: lake.At(r.started), FinishedAt: lake.At(r.now()),
		SnapshotDate: r.day, Outcome: lake.OutcomeDone, Feeds: result.Feeds, Remove: []string{}, Checks: []lake.Check{},
	}
	if result.verdict() != nil {
		commit.Outcome = lake.OutcomePartial
	}
	for _, f := range done {
		commit.Remove = append(commit.Remove, r.lake.Log().Replaced(f.Feed, r.day)...)
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
		r.heads[f.Feed] = f.heads
	}
	r.settle(ctx, result)
	return nil
}

// settle writes what is derived from the commit. The commit stands whatever comes of it, so failures
// are warnings.
func (r *run) settle(ctx context.Context, result *Result) {
	warn := func(what string, err error) {
		if err != nil {
			result.Warnings = append(result.Warnings, fmt.Sprintf("%s: %v", what, err))
			r.Log.Warn(what, "err", err)
		}
	}
	warn("the hint or checkpoint was not written; the next start takes longer", r.load.Settle(ctx, r.heads))
	warn("the catalog was not published; `dealflow catalog` does it", Publish(ctx, r.lake, r.WorkDir))
}
