package pull

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"dealflow/internal/catalog"
	"dealflow/internal/heap"
	"dealflow/internal/pull/runclock"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// command is the differences between Run, Sync and RetryQuarantined.
type command struct {
	name     string
	complete bool                                            // feeds are read completely: snapshots are written, and absent deals are asked for by id
	byID     bool                                            // deals are read by id, so their records are not requested again
	plan     func(context.Context, *run) ([]api.Feed, error) // chooses the feeds
	read     func(context.Context, *run, *feedRun) error     // fills a feed's spool
}

// run is one execution of a command.
type run struct {
	Config
	command command
	clock   *runclock.Clock
	began   time.Time // by the machine's clock
	undated bool      // the API's answers have no readable Date
	until   time.Time // the deadline, by the machine's clock; zero for none
	opened
	since   lake.Instant // known_at of the newest commit when the first feed was begun; zero for none
	session *load.Session
	spools  string              // folder for spools
	workers *semaphore.Weighted // limits the feeds that are flattened at once
	catalog *catalog.Made       // of the commit that is prepared or made; nil for none
	save    func()              // ends the growth of the heap (SpareHeap)

	listings listings // of the feeds of this run
}

// opened is what a run reads before any work.
type opened struct {
	lake    *load.Lake
	latest  map[api.Feed]lake.Latest
	started time.Time // by the run's clock, before any wait
	day     string    // of the snapshots; "" if none are written
	zone    string    // IANA name of the time zone of day
}

// Run pulls complete snapshots of the configured feeds into the lake, as one commit. It pulls the feeds that lack the
// day's snapshot. If none lacks it, it pulls all of them again and replaces the day's snapshots.
//
// The Result is nil only if the run ended before any feed was begun. With ErrFeedsFailed, ErrFeedsHeld and ErrDeadline
// the other feeds are committed, unless Result.Commit is 0. Of the other errors *extract.AuthError, ErrContract and
// load.ErrConflict mean that nothing was committed.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	return execute(ctx, cfg, completeRun)
}

var completeRun = command{name: lake.CommandRun, complete: true, plan: lacking, read: readSnapshot}

// execute runs a command, from the first request to the commit and what is derived from it.
func execute(ctx context.Context, cfg Config, c command) (result *Result, err error) {
	r, err := newRun(cfg, c)
	if err != nil {
		return nil, err
	}
	busy, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	result = &Result{
		Command: c.name, Lake: r.Store.URL(), RunID: r.RunID, SnapshotDate: r.day, Outcome: lake.OutcomeFailed,
		Feeds: []lake.FeedRun{}, Checks: []lake.Check{}, Warnings: []string{},
	}
	if r.undated {
		result.warn(undatedWarning)
	}
	if busy != nil {
		result.Outcome = lake.OutcomeSkipped
		result.warn(fmt.Sprintf("%s is running (run %s of %s): nothing was pulled", busy.Command, busy.RunID, busy.Owner))
		return result, nil
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.spools), r.dropCatalog(), r.session.Close(ctx)) }()
	defer func() { result.Seconds = r.Clock().Sub(r.began).Seconds() }()
	r.save = heap.Grow(r.SpareHeap)
	defer r.save()
	return result, r.pull(ctx, result)
}

// newRun returns a run before its first request. Its time to the deadline begins.
func newRun(cfg Config, c command) (*run, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &run{Config: cfg, command: c, began: cfg.Clock(), workers: semaphore.NewWeighted(int64(cfg.Workers)), clock: runclock.New(cfg.Clock, cfg.Elapsed, cfg.ServerClock)}
	if r.Deadline > 0 {
		r.until = time.Now().Add(r.Deadline)
	}
	r.Client.SetClock(r.clock)
	return r, nil
}

// pull reads the feeds, commits them, and publishes what is derived from the commit.
func (r *run) pull(ctx context.Context, result *Result) (err error) {
	watch := stopwatch{clock: r.Clock, last: r.began}
	result.Stages.Open = watch.lap()
	plan, err := r.command.plan(ctx, r)
	if err != nil {
		return err
	}
	r.since = r.lake.Log().KnownAt
	feeds, err := r.feeds(ctx, plan)
	defer func() { err = errors.Join(err, closeFeeds(feeds)) }()
	result.setFeeds(feeds)
	result.Stages.Feeds = watch.lap()
	if err != nil {
		return err
	}
	err = r.commit(ctx, feeds, result)
	result.Stages.Commit = watch.lap()
	r.rememberHolds(ctx, feeds, result)
	result.warnFeeds(feeds)
	if err == nil && result.Commit == 0 && len(r.lake.Lost()) > 0 {
		result.warn("nothing was committed, so the lost commit is not recorded yet: pass --accept-lost-commit again")
	}
	if err != nil || result.Commit == 0 {
		return err
	}
	r.publish(ctx, feeds, result)
	result.Stages.Catalog = watch.lap()
	return result.verdict()
}

// open checks, before any work, that the server answers, the credentials are accepted, the lake can be read and
// written, and the clocks are plausible. Then it starts the session. If another command holds the lease and this one
// must not run at the same time, it returns that lease as busy.
func (r *run) open(ctx context.Context) (busy *load.Lease, err error) {
	if err := r.readLake(ctx); err != nil {
		return nil, err
	}
	bounded, cancel := r.bounded(ctx)
	defer cancel()
	if busy, err = r.awaitLease(bounded); err != nil || busy != nil {
		return busy, r.late(err)
	}
	r.session, busy, err = r.lake.Start(ctx, load.SessionConfig{
		RunID: r.RunID, Command: r.command.name, Lease: r.lease(), Started: r.started, Clock: r.Clock, WorkDir: r.WorkDir, Memory: r.Memory, Log: r.Log,
		OneByOne: r.OneByOne, Keep: r.Cache.Keeper(), SingleWriter: r.SingleWriter, BesideOthers: r.command.complete,
	})
	if err != nil || busy != nil {
		return busy, err
	}
	if r.spools, err = os.MkdirTemp(r.WorkDir, "dealflow-spool-*"); err != nil {
		return nil, errors.Join(fmt.Errorf("work folder: %w", err), r.session.Close(ctx))
	}
	return nil, nil
}

// readLake checks that the server answers and the credentials are accepted, and reads the lake's state.
func (r *run) readLake(ctx context.Context) error {
	bounded, cancel := r.bounded(ctx)
	defer cancel()
	server, err := r.Client.ServerTime(bounded)
	if err != nil {
		return r.late(err)
	}
	if r.undated = server.IsZero(); r.undated && r.ServerClock {
		return r.noDate()
	}
	r.opened, err = r.openLake(ctx, server)
	return err
}

// noDate is the error for an API without Dates where the instants are the server's.
func (r *run) noDate() error {
	return fmt.Errorf("%w: the response to POST %s/oauth/token has no valid Date header, which gives the instants under --clock=server; use --clock=machine", ErrClock, r.Base)
}

// undatedWarning is the warning for an API without Dates where the instants are the machine's.
const undatedWarning = "the API's answers have no readable Date header: the machine's clock could not be compared with the server's"

// lease returns what the lease says of this run.
func (r *run) lease() load.Lease {
	return load.Lease{Owner: r.Owner, API: r.Base.String(), Feeds: r.Feeds, SnapshotDate: r.day}
}

// awaitLease waits for other commands, if this run gives way. It returns the lease of a run that takes all the same
// snapshots, or has taken them while this one waited. The run's day does not change while it waits.
func (r *run) awaitLease(ctx context.Context) (busy *load.Lease, err error) {
	if !r.command.complete || !r.GiveWay {
		return nil, nil
	}
	awaited, err := r.lake.AwaitLease(ctx, load.LeaseWait{Mine: r.lease(), Wait: r.WaitForLease, Clock: r.Clock, Log: r.Log})
	if err != nil || awaited.Covering != nil || !awaited.Waited {
		return awaited.Covering, err
	}
	if err := r.readAgain(ctx); err != nil {
		return nil, err
	}
	committed := func(c lake.Commit) bool { return c.RunID == awaited.Ended.RunID }
	if awaited.Ended != nil && slices.ContainsFunc(r.lake.Log().Commits, committed) && len(r.lackingFeeds()) == 0 {
		return awaited.Ended, nil
	}
	return nil, nil
}

// openLake reads the lake's state, and checks the clocks and the day against it. server is the server's time; zero if it is not known.
func (r *run) openLake(ctx context.Context, server time.Time) (o opened, err error) {
	now := r.clock.Now()
	o.started = r.began
	if r.ServerClock {
		// The first request may have waited for long. A Date has whole seconds.
		o.started = server.Add(-r.clock.SinceStart().Truncate(time.Second))
	}
	r.clock.Observe(now)
	// Only a complete run may begin a lake.
	o.lake, err = load.OpenAccepting(ctx, r.Store, r.AcceptLost)
	if beginsLake := errors.Is(err, load.ErrNoLake) && r.command.complete; err != nil && !beginsLake {
		return o, err
	}
	if err := o.lake.CheckWritable(); err != nil {
		return o, err
	}
	if err := r.checkClock(o.lake.Floor(), now, server); err != nil {
		return o, err
	}
	if r.command.complete {
		if err := o.chooseDay(&r.Config, o.lake.Log()); err != nil {
			return o, err
		}
	}
	o.latest, err = o.lake.Latest(ctx, r.Memory)
	return o, err
}

// bounded returns a context that ends at the run's deadline.
func (r *run) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.until.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, r.until, ErrDeadline)
}

// late adds ErrDeadline to an error that the run's deadline caused. A wait that would end after the deadline fails at
// once.
func (r *run) late(err error) error {
	if r.Deadline > 0 && errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrDeadline) {
		return fmt.Errorf("%w: %w", ErrDeadline, err)
	}
	return err
}

const clockAdvice = "correct the clock, or pass --accept-clock if it is right"

func (r *run) checkClock(last lake.Instant, now, server time.Time) error {
	if r.AcceptClock {
		return nil
	}
	if err := checkKnownAt(last, now); err != nil {
		return err
	}
	if apart := now.Sub(server).Abs(); !r.ServerClock && !server.IsZero() && apart > runclock.Tolerance {
		return fmt.Errorf("%w: it shows %s, but the server's Date is %s; %s (for a simulated market: --clock=server)", ErrClock, lake.At(now), lake.At(server), clockAdvice)
	}
	return nil
}

// lacking is the plan of a complete run: the feeds that lack the day's snapshot. A feed that a run of that day skipped,
// because the account does not include it, does not count as lacking. If no feed lacks the snapshot, it returns all.
func lacking(_ context.Context, r *run) ([]api.Feed, error) {
	if feeds := r.lackingFeeds(); len(feeds) > 0 {
		return feeds, nil
	}
	return r.Feeds, nil
}

func (r *run) lackingFeeds() []api.Feed {
	log := r.lake.Log()
	return slices.DeleteFunc(slices.Clone(r.Feeds), func(f api.Feed) bool {
		return log.HasSnapshot(f, r.day) || log.Skipped(f, r.day)
	})
}

// feeds pulls feeds concurrently. It returns only errors that end the run; a feed's own failure is in its outcome. The
// caller must close the results, also with an error.
func (r *run) feeds(ctx context.Context, plan []api.Feed) ([]*feedRun, error) {
	results := make([]*feedRun, len(plan))
	r.listings = newListings(plan)
	group, ctx := errgroup.WithContext(ctx)
	for i, feed := range plan {
		group.Go(func() error {
			result, err := r.feed(ctx, feed)
			results[i] = result
			if err != nil {
				r.count(result)
				result.Outcome, result.Error = lake.OutcomeFailed, withoutFeed(feed, err)
				return err
			}
			r.FeedDone(result.FeedRun)
			return nil
		})
	}
	err := group.Wait()
	return slices.DeleteFunc(results, func(f *feedRun) bool { return f == nil }), err
}

func closeFeeds(feeds []*feedRun) error {
	var errs []error
	for _, f := range feeds {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}
