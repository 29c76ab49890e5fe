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

	"dealflow/internal/catalog"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// clockTolerance is how far clocks may be apart before a run is refused: one wrong commit would spoil
// all later instants.
const clockTolerance = 10 * time.Minute

// run is one execution of Run, Sync or RetryQuarantined.
type run struct {
	Config
	command  string
	complete bool                                      // feeds are read whole: snapshots are written, and absent deals asked for
	plan     func(context.Context) ([]api.Feed, error) // chooses the feeds
	read     func(context.Context, *feedResult) error  // fills a feed's spool

	lake    *load.Lake
	load    *load.Run
	lease   *leaseKeeper
	heads   map[api.Feed]lake.Heads
	day     string              // of the snapshots; "" where none are written
	began   time.Time           // by the machine's clock
	started time.Time           // by the run's clock
	until   time.Time           // the deadline, by the machine's clock; zero for none
	work    string              // folder for spools
	catalog *catalog.Made       // of the commit that is about to be made, or was
	workers *semaphore.Weighted // bounds the feeds that are flattened at once

	mu     sync.Mutex
	latest time.Time // the latest instant observed
}

// Run pulls complete snapshots of the configured feeds into the lake, as one commit. Of the feeds,
// those go that lack the day's snapshot; where none lacks it, all go again and replace the day.
//
// The Result is nil only where the run ended before any feed was begun. With ErrFeedsFailed,
// ErrFeedsHeld and ErrDeadline the other feeds are committed, unless Result.Commit is 0. Of the other
// errors *extract.AuthError, ErrContract and load.ErrConflict mean that nothing was committed.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	r := &run{command: "run", complete: true}
	r.plan, r.read = r.lacking, r.readSnapshot
	return r.execute(ctx, cfg)
}

// execute goes from the first request to the commit.
func (r *run) execute(ctx context.Context, cfg Config) (result *Result, err error) {
	if r.Config, err = cfg.withDefaults(); err != nil {
		return nil, err
	}
	r.began = r.Clock()
	r.workers = semaphore.NewWeighted(int64(r.Workers))
	busy, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close(ctx)) }()
	result = &Result{
		Command: r.command, Lake: r.Store.URL(), RunID: r.RunID, SnapshotDate: r.day, Outcome: lake.OutcomeFailed,
		Feeds: []lake.FeedRun{}, Checks: []lake.Check{}, Warnings: []string{},
	}
	if busy != nil {
		result.Outcome = lake.OutcomeSkipped
		result.warn(fmt.Sprintf("%s is at work (run %s of %s): nothing was pulled", busy.Command, busy.RunID, busy.Owner))
		return result, nil
	}
	defer func() { result.Seconds = r.Clock().Sub(r.began).Seconds() }()
	return result, r.pull(ctx, result)
}

// pull reads the feeds, commits them, and publishes what follows from the commit.
func (r *run) pull(ctx context.Context, result *Result) (err error) {
	watch := stopwatch{clock: r.Clock, last: r.began}
	result.Stages.Open = watch.lap()
	plan, err := r.plan(ctx)
	if err != nil {
		return err
	}
	feeds, err := r.feeds(ctx, plan)
	defer func() { err = errors.Join(err, closeFeeds(feeds)) }()
	result.take(feeds)
	result.Stages.Feeds = watch.lap()
	if err != nil {
		return err
	}
	err = r.commit(ctx, feeds, result)
	result.Stages.Commit = watch.lap()
	result.warnMissed()
	if err != nil || result.Commit == 0 {
		return err
	}
	r.settle(ctx, result)
	result.Stages.Catalog = watch.lap()
	return result.verdict()
}

// open finds out, before any work, that the server answers, the credentials hold, the lake can be
// read and written, and the clocks make sense. busy is the lease of another run, before which this one
// gives way.
func (r *run) open(ctx context.Context) (busy *load.Lease, err error) {
	bounded, cancel := r.bounded(ctx)
	defer cancel()
	server, err := r.Client.ServerTime(bounded)
	if err != nil {
		return nil, r.late(err)
	}
	r.started = r.Clock()
	if r.ServerClock {
		r.started = server
	}
	r.latest = r.started
	if err := r.openLake(ctx); err != nil {
		return nil, err
	}
	if err := r.checkClock(server); err != nil {
		return nil, err
	}
	if err := r.chooseDay(); err != nil {
		return nil, err
	}
	if r.heads, err = r.lake.Heads(ctx, r.Memory); err != nil {
		return nil, err
	}
	return r.begin(ctx)
}

// begin looks at a store that is new, takes the lease, and makes the folders for unfinished files.
func (r *run) begin(ctx context.Context) (busy *load.Lease, err error) {
	if r.lake.Log().Number == 0 {
		if err := r.probe(ctx); err != nil {
			return nil, err
		}
	}
	if r.lease, busy, err = r.takeLease(ctx); err != nil {
		return nil, err
	}
	if r.work, err = os.MkdirTemp(r.WorkDir, "dealflow-spool-*"); err != nil {
		return nil, errors.Join(fmt.Errorf("work folder: %w", err), r.lease.drop(ctx))
	}
	r.load, err = r.lake.Begin(load.RunConfig{ID: r.RunID, Started: r.started, WorkDir: r.WorkDir, Memory: r.Memory})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(r.work), r.lease.drop(ctx))
	}
	return busy, nil
}

func (r *run) close(ctx context.Context) error {
	return errors.Join(r.load.Close(), os.RemoveAll(r.work), r.dropCatalog(), r.lease.drop(ctx))
}

// bounded gives a context that ends with the run's deadline, which the first call fixes.
func (r *run) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	switch {
	case r.Deadline <= 0:
		return context.WithCancel(ctx)
	case !r.until.IsZero():
		return context.WithDeadlineCause(ctx, r.until, ErrDeadline)
	}
	bounded, cancel := context.WithTimeoutCause(ctx, r.Deadline, ErrDeadline)
	r.until, _ = bounded.Deadline()
	return bounded, cancel
}

// late marks an error as due to the run's deadline where it is. A wait that would pass the deadline
// fails before it.
func (r *run) late(err error) error {
	if r.Deadline > 0 && errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrDeadline) {
		return fmt.Errorf("%w: %w", ErrDeadline, err)
	}
	return err
}

// openLake reads the log. Where there is no lake yet, only a complete run may begin one.
func (r *run) openLake(ctx context.Context) (err error) {
	r.lake, err = load.Open(ctx, r.Store)
	if errors.Is(err, load.ErrNoLake) && r.complete {
		return nil
	}
	return err
}

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
	if !r.complete {
		return nil
	}
	r.day = r.SnapshotDate
	if r.day == "" {
		r.day = lake.DateOf(r.started)
	}
	if last := r.lake.Log().SnapshotDay(); r.day < last {
		return fmt.Errorf("snapshot date %s is older than the last one, %s: a snapshot of the past cannot be taken", r.day, last)
	}
	return nil
}

// lacking is the plan of a complete run. A feed that was found that day to be no part of the account
// does not lack the snapshot: it goes with the others when all go again.
func (r *run) lacking(context.Context) ([]api.Feed, error) {
	log := r.lake.Log()
	lacking := slices.DeleteFunc(slices.Clone(r.Feeds), func(f api.Feed) bool {
		return log.HasSnapshot(f, r.day) || log.Skipped(f, r.day)
	})
	if len(lacking) == 0 {
		return r.Feeds, nil
	}
	return lacking, nil
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
