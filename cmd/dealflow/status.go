package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"dealflow/internal/attempts"
	"dealflow/internal/catalog"
	"dealflow/internal/pull"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// statusOptions are the flags of status.
type statusOptions struct {
	maxAge  time.Duration
	feeds   string
	now     string
	timeout time.Duration
}

// statusFiles is what is said of the live files.
type statusFiles struct {
	Files          int   `json:"files"`
	Bytes          int64 `json:"bytes"`
	OlderFiles     int   `json:"older_files"` // of an older schema: `dealflow replay` writes them again
	olderSnapshots bool  // some of these are of snapshots
}

// statusResult is the object that status --json prints; fields are only ever added. docs/reference/status.md has them.
type statusResult struct {
	Lake string `json:"lake"`
	statusVerdict
	Commit        int64        `json:"commit"`
	KnownAt       lake.Instant `json:"known_at"` // known_at of the last pull; age_seconds and outcome are also those of that pull
	AgeSeconds    int64        `json:"age_seconds"`
	SnapshotDate  string       `json:"snapshot_date"`
	Outcome       string       `json:"outcome"`
	CatalogCommit int64        `json:"catalog_commit"` // 0: no catalog, or none that can be read
	CatalogFlaw   string       `json:"catalog_flaw"`   // why readers do not use the catalog; "" for none
	statusFiles
	Lost          []lake.LostCommit `json:"lost"`           // commits that the lake has lost and that no commit records
	Checks        []lake.Check      `json:"checks"`         // checks of the last pull that did not pass
	DayZone       string            `json:"day_zone"`       // time zone of days
	Refused       string            `json:"refused"`        // why the next run would be refused now; "" if it would not, or if now is not known
	RefusedBefore lake.Instant      `json:"refused_before"` // a run that starts before this instant, by its clock, is refused
	Iceberg       statusTables      `json:"iceberg"`
	statusHistory
	Feeds []feedStatus `json:"feeds"`
}

// statusVerdict is what status says in short.
type statusVerdict struct {
	State         string       `json:"state"`           // ok, warning, problem; or unknown, if the lake could not be read
	Now           lake.Instant `json:"now"`             // instant for which the verdict holds
	MaxAgeSeconds int64        `json:"max_age_seconds"` // greatest age of a feed's snapshot that is no problem; 0: ages are not judged
	Findings      []finding    `json:"findings"`        // problems first
}

// statusHistory is what became of the commands on the lake.
type statusHistory struct {
	Lease       *statusLease    `json:"lease"`        // null if no command is at work
	LastSuccess *statusSuccess  `json:"last_success"` // the newest pull that made a commit; null for none
	LastFailure *statusAttempt  `json:"last_failure"` // the newest attempt that failed, of any command; null if none is recorded
	LastVerify  *statusAttempt  `json:"last_verify"`  // null if none is recorded
	Watch       *statusWatch    `json:"watch"`        // the newest watch; null if there was none
	Waiting     []statusAttempt `json:"waiting"`      // attempts that wait in the work folder of this machine to be put into the lake
	Nights      []statusNight   `json:"nights"`       // the last runs that made a commit, newest first
	made        []attempts.Attempt
	succeeded   map[string]lake.Instant // by command
}

// feedStatus is the state of one feed in the lake, and its last pull.
type feedStatus struct {
	Feed         api.Feed      `json:"feed"`
	SnapshotDate string        `json:"snapshot_date"` // date of the latest snapshot; "" for none
	Deals        int64         `json:"deals"`         // in that snapshot
	KnownAt      *lake.Instant `json:"known_at"`      // known_at of the latest commit that pulled the feed: run, sync or retry
	Last         *lake.FeedRun `json:"last"`          // the last pull, also if it failed; null for none

	Held           *load.Hold `json:"held"`            // why the removal guard holds the feed; null if it does not
	UnprovedAbsent int        `json:"unproved_absent"` // number of deals in that snapshot that no list shows, kept without evidence

	SnapshotAt  *lake.Instant `json:"snapshot_at"` // known_at of the latest complete snapshot; null for none
	AgeSeconds  *int64        `json:"age_seconds"` // since snapshot_at; null for none
	Stale       bool          `json:"stale"`       // it is older than max_age_seconds
	judged      bool          // its age is compared with max_age_seconds
	LastFailure *feedFailure  `json:"last_failure"` // since the latest complete snapshot; null for none
}

// feedFailure is how a feed failed, or was held, in a commit or in an attempt without one.
type feedFailure struct {
	RunID     string       `json:"run_id"`
	StartedAt lake.Instant `json:"started_at"`
	Outcome   string       `json:"outcome"`
	Error     string       `json:"error"`
}

// errUnwell is the error if status found a problem, which is already printed.
var errUnwell = errors.New("status found problems")

func newStatus(a *app) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether all is well with the lake, and what to do where it is not",
		Long: `status says how fresh each feed is, what became of the last runs, what the next run will meet, and
what the lake has grown to. Each finding has its reason, and the command that mends it.

The exit code is 8 if there is a problem: the last run failed, a feed is stale or held, the next run
will be refused, a commit is lost, or a verify found damage that is not mended. It is 0 if there are
only warnings, such as a partial run.

A feed is stale if its newest complete snapshot is older than --max-age. Without the flag that is 26
hours in a lake that has snapshots of more than one day, and ages are not judged in another. With
--clock=server the time is that of the source, which this machine does not know: name it with --now.`,
		Example: `  dealflow status
  dealflow status --lake /data/deals --json
  dealflow status --max-age 50h --feeds bond/ig/priced,bond/hy/priced
  dealflow status --lake demo-lake --now 2026-01-14T23:00:00Z`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	flags.DurationVar(&o.maxAge, "max-age", 0, "age from which a feed's snapshot is a problem (default: 26h if the lake has snapshots of more than one day)")
	flags.StringVar(&o.feeds, "feeds", "", "feeds whose age is judged, comma-separated, such as bond/ig/priced (default: all that the lake has)")
	annotate(flags.Lookup("feeds"), listFlag)
	flags.StringVar(&o.now, "now", "", "judge as of this instant, such as 2026-11-01T06:00:00Z (default: this machine's clock)")
	flags.DurationVar(&o.timeout, "timeout", statusTimeout, "time after which status gives up on a store that does not answer")
	a.settings.addMetricsFile(flags)
	return cmd
}

const statusTimeout = 30 * time.Second

// inspection is one call of status.
type inspection struct {
	app    *app
	now    time.Time
	dated  bool // now is the time of the runs
	maxAge time.Duration
	judged []api.Feed
	lake   *load.Lake
	log    *load.Log

	catalogs *catalog.Memory // nil: the published catalog is read each time
}

// newInspection checks the flags of status.
func (a *app) newInspection(o statusOptions) (*inspection, error) {
	in := &inspection{app: a, now: a.Now(), dated: a.settings.clock != "server", maxAge: o.maxAge}
	var err error
	if in.judged, err = api.ParseFeeds(o.feeds); err != nil {
		return nil, usagef("--feeds: %w", err)
	}
	if o.now != "" {
		if in.now, err = time.Parse(time.RFC3339, o.now); err != nil {
			return nil, usagef("--now %q: want an instant such as 2026-11-01T06:00:00Z", o.now)
		}
		in.dated = true
	}
	return in, nil
}

func runStatus(ctx context.Context, a *app, o statusOptions) error {
	in, err := a.newInspection(o)
	if err != nil {
		return err
	}
	where, err := a.settings.store(ctx)
	if err != nil {
		return err
	}
	s, err := in.inspect(ctx, where, o)
	a.writeMetrics(where.URL(), s.health(), nil)
	if errors.Is(err, load.ErrNoLake) {
		return a.printEmpty(ctx, in, where, o, err)
	}
	if err != nil {
		return a.printUnknown(where, in.now, err)
	}
	if a.settings.json {
		err = printJSON(a.Stdout, s)
	} else {
		err = a.printStatus(s)
	}
	switch {
	case err != nil:
	case s.State == verdictProblem:
		err = &silentError{errUnwell}
	case s.State == verdictWarning && a.settings.strict:
		err = &silentError{errWarnings}
	}
	return err
}

// errNoAnswer is the error of inspect if its time is over.
var errNoAnswer = errors.New("the store did not answer in time (--timeout)")

// inspect reads all that status says, within the time of o.
func (in *inspection) inspect(ctx context.Context, where store.Store, o statusOptions) (*statusResult, error) {
	return store.Within(ctx, o.timeout, errNoAnswer, func(ctx context.Context) (*statusResult, error) { return in.read(ctx, where) })
}

func (in *inspection) read(ctx context.Context, where store.Store) (*statusResult, error) {
	a := in.app
	l, err := a.openToRead(ctx, where)
	if err != nil {
		return nil, err
	}
	in.lake, in.log = l, l.Log()
	s := statusOf(l, in.now)
	reading, readCtx := errgroup.WithContext(ctx) // each adds fields of its own
	reading.Go(func() error {
		published, err := in.catalogs.ReadPublished(readCtx, l, a.workDir(), time.Now())
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
	from, refusal := pull.NextRun(l, in.now, a.settings.dayZone, in.dated)
	s.RefusedBefore = from
	if refusal != nil {
		s.Refused = refusal.Error()
	}
	in.judge(s)
	return s, nil
}

func statusOf(l *load.Lake, now time.Time) *statusResult {
	log := l.Log()
	s := &statusResult{Lake: l.Store().URL(), Commit: log.Number, SnapshotDate: log.SnapshotDay(), DayZone: log.DayZone(), Checks: []lake.Check{}, Lost: append([]lake.LostCommit{}, l.Lost()...)}
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

func statusOfFeed(log *load.Log, feed api.Feed) feedStatus {
	s := feedStatus{Feed: feed}
	for i := range log.Commits {
		run := &log.Commits[i]
		f := run.Feed(feed)
		if f == nil {
			continue
		}
		s.Last = f
		switch {
		case f.Outcome == lake.OutcomeFailed || f.Outcome == lake.OutcomeHeld:
			s.LastFailure = &feedFailure{run.RunID, run.StartedAt, f.Outcome, f.Error}
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
