package status

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/internal/catalog"
	"dealflow/internal/pull"
	"dealflow/internal/runlist"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Config is what an inspection needs to know.
type Config struct {
	Open func(context.Context, store.Store) (*load.Lake, error) // opens a lake to read it, also one that has lost a commit

	Now     time.Time     // for which the verdict holds
	Dated   bool          // the clock of the runs shows what Now's does: ages can be judged
	MaxAge  time.Duration // greatest age of a snapshot that is no problem; 0: DefaultMaxAge in a lake that has snapshots of more than one day
	Feeds   []api.Feed    // whose ages are judged
	DayZone string        // in which the next run will count days; "" for the lake's
	Timeout time.Duration // after which a store that does not answer is given up

	Clock    func() time.Time                 // this machine's, by which leases and watches are judged
	Runs     func(*load.Lake) *runlist.Reader // reads the attempts on a lake
	Folder   func() string                    // a local folder for unfinished files, which is made when it is asked for
	Catalogs *catalog.Memory                  // nil: the published catalog is read each time
}

// inspection is one reading of a lake.
type inspection struct {
	Config
	lake *load.Lake
	log  *load.Log
}

// ErrNoAnswer is the error of Inspect if its time is over.
var ErrNoAnswer = errors.New("the store did not answer in time (--timeout)")

// Inspect says whether all is well with a lake, and writes nothing. Without a lake it returns load.ErrNoLake, and ErrNoAnswer after cfg.Timeout.
func Inspect(ctx context.Context, where store.Store, cfg Config) (*Result, error) {
	in := &inspection{Config: cfg}
	return store.Within(ctx, cfg.Timeout, ErrNoAnswer, func(ctx context.Context) (*Result, error) { return in.read(ctx, where) })
}

// InspectEmpty says what is known of a place without a commit: what was tried, and what is at work. If a commit has come, it says
// what Inspect says.
func InspectEmpty(ctx context.Context, where store.Store, cfg Config) (*Result, error) {
	in := &inspection{Config: cfg}
	return store.Within(ctx, cfg.Timeout, ErrNoAnswer, func(ctx context.Context) (*Result, error) { return in.readEmpty(ctx, where) })
}

func (in *inspection) read(ctx context.Context, where store.Store) (*Result, error) {
	l, err := in.Open(ctx, where)
	if err != nil {
		return nil, err
	}
	in.lake, in.log = l, l.Log()
	s := statusOf(l, in.Now)
	reading, readCtx := errgroup.WithContext(ctx) // each adds fields of its own
	reading.Go(func() error {
		published, err := in.Catalogs.ReadPublished(readCtx, l, in.Folder(), time.Now())
		s.CatalogCommit = published.Shows.Number
		if published.Flaw != nil {
			s.CatalogFlaw = published.Flaw.Error()
		}
		return err
	})
	for i := range s.Feeds {
		reading.Go(func() (err error) {
			s.Feeds[i].Held, err = l.Hold(readCtx, s.Feeds[i].Feed)
			return err
		})
	}
	reading.Go(func() error { return in.addHistory(readCtx, s) })
	reading.Go(func() error { return in.addTables(readCtx, s) })
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	from, refusal := pull.NextRun(l, in.Now, in.DayZone, in.Dated)
	s.RefusedBefore = from
	if refusal != nil {
		s.Refused = refusal.Error()
	}
	in.judge(s)
	return s, nil
}

func statusOf(l *load.Lake, now time.Time) *Result {
	log := l.Log()
	s := &Result{lake: l, Lake: l.Store().URL(), Commit: log.Number, SnapshotDate: log.SnapshotDay(), DayZone: log.DayZone(), Checks: []lake.Check{}, Lost: append([]lake.LostCommit{}, l.Lost()...)}
	// A lake is as fresh as its last pull: maintenance adds no data.
	for i := range log.Commits {
		if run := &log.Commits[i]; len(run.Feeds) > 0 {
			s.KnownAt, s.Outcome = run.KnownAt, run.Outcome
			s.Checks = slices.DeleteFunc(append([]lake.Check{}, run.Checks...), func(c lake.Check) bool { return c.Outcome == lake.CheckPassed })
		}
	}
	s.Now = lake.At(now)
	s.AgeSeconds = int64(now.Sub(s.KnownAt.Time).Seconds())
	for _, file := range log.AllFiles() {
		s.Files++
		s.Bytes += file.Bytes
		if file.SchemaVersion < lake.SchemaVersion && file.Table != lake.QuarantineTable { // what is in quarantine has no columns to fill
			s.OlderFiles++
			s.olderSnapshots = s.olderSnapshots || file.Day() != ""
		}
	}
	for _, feed := range api.Feeds() {
		s.Feeds = append(s.Feeds, statusOfFeed(log, feed))
	}
	return s
}

func statusOfFeed(log *load.Log, feed api.Feed) Feed {
	s := Feed{Feed: feed}
	for i := range log.Commits {
		run := &log.Commits[i]
		f := run.Feed(feed)
		if f == nil {
			continue
		}
		s.Last = f
		switch {
		case f.Outcome == lake.OutcomeFailed || f.Outcome == lake.OutcomeHeld:
			s.LastFailure = &FeedFailure{run.RunID, run.StartedAt, f.Outcome, f.Error}
		case f.Outcome != lake.OutcomeDone:
		default:
			s.KnownAt = &run.KnownAt
			if run.SnapshotDate != "" {
				s.SnapshotDate, s.Deals, s.UnprovedAbsent = run.SnapshotDate, f.Deals, len(f.UnprovedAbsent)
				s.LastFailure = nil
			}
		}
	}
	if last := log.LastSnapshot(feed); last != nil {
		s.SnapshotDate, s.Deals, s.SnapshotAt = last.SnapshotDate, last.Feed(feed).Deals, &last.KnownAt
	}
	return s
}

func (in *inspection) readEmpty(ctx context.Context, where store.Store) (*Result, error) {
	l, err := in.Open(ctx, where)
	switch {
	case err == nil:
		return in.read(ctx, where)
	case !errors.Is(err, load.ErrNoLake):
		return nil, err
	}
	in.lake, in.log = l, l.Log()
	s := statusOf(l, in.Now)
	s.AgeSeconds = 0
	if err := in.addHistory(ctx, s); err != nil {
		return nil, err
	}
	s.Findings = []Finding{}
	in.judgeRuns(s)
	switch atWork := s.Lease; {
	case atWork != nil && atWork.State == load.LeaseHeld:
		s.add("empty", "", "nothing: wait for that command", "%s has no commit yet; %s of %s is at work", where.URL(), atWork.Lease.Command, atWork.Lease.Owner)
	default:
		s.add("empty", "", "`dealflow run` takes the first snapshot; if there was a lake, see first whether --lake is right and its disk is mounted", "%s has no commit yet", where.URL())
	}
	in.judgeLease(s)
	in.judgeWatch(s)
	s.conclude()
	return s, nil
}
