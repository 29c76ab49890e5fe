package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/attempts"
	"dealflow/internal/logs"
	"dealflow/internal/ui"
	"dealflow/internal/ui/asof"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/sql"
)

type uiOptions struct {
	listen string
	hosts  string
	now    string
	maxAge time.Duration
}

func newUI(a *app) *cobra.Command {
	var o uiOptions
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Serve pages about the lake: its health, its deals, what changed, as of any instant",
		Long: `ui serves pages to look at the lake with a browser: whether the last run worked and what to type if it
did not, the deals with all their versions, what changed from day to day, and every run.

Each page can be as of any instant: its address has the instant, and then it shows nothing that was
learned later. Each table can be saved as CSV, JSON or Parquet, and each page has its SQL statements.

It changes nothing, and follows every commit. It listens on the loopback interface, or on a socket
file (--listen unix:PATH) that only its owner can open. Every user of this machine can read the lake
through the loopback interface; the file is for machines that several people use.`,
		Example: `  dealflow ui
  dealflow ui --lake s3://bucket/deals --listen 127.0.0.1:8911
  dealflow ui --lake demo-lake --now 2026-01-15T07:00:00Z`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runUI(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8910", "address to listen on: one of the loopback interface, or unix:PATH")
	flags.StringVar(&o.hosts, "host", "", "further names under which browsers ask this server, comma-separated, such as that of a proxy on this machine")
	flags.StringVar(&o.now, "now", "", "show ages as of this instant, such as 2026-11-01T06:00:00Z (default: this machine's clock)")
	flags.DurationVar(&o.maxAge, "max-age", 0, "age from which a feed's snapshot is a problem (default: as `status` judges it)")
	annotate(flags.Lookup("host"), listFlag)
	return cmd
}

func runUI(ctx context.Context, a *app, o uiOptions) (err error) {
	clock, err := o.clock(a)
	if err != nil {
		return err
	}
	where, err := a.settings.store(ctx)
	if err != nil {
		return err
	}
	l, err := a.openToRead(ctx, where)
	if err != nil {
		return err
	}
	opener := editions{catalogs: catalogs{app: a, lake: l}}
	shown, err := asof.Open(ctx, asof.Config{Newer: opener.newer, Every: 2 * time.Second, Now: a.Now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shown.Close()) }()
	listener, err := listenUI(ctx, o.listen)
	if err != nil {
		return err
	}
	e := explorer{app: a, where: where, options: o}
	server, err := ui.New(ui.Config{
		Lake: shown, URL: where.URL(), Version: version(), Health: e.health, Runs: e.runs, Files: e.files, Now: clock,
		Hosts: strings.FieldsFunc(o.hosts, func(r rune) bool { return r == ',' || r == ' ' }), AnyHost: strings.HasPrefix(o.listen, "unix:"), WorkDir: a.workDir(), Log: a.logger(),
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	url := "http://" + listener.Addr().String() + "/"
	if strings.HasPrefix(o.listen, "unix:") {
		url = o.listen
	}
	a.say().Info("explorer", "lake", where.URL(), "url", url, logs.Text("the explorer of %s is at %s; Ctrl-C ends it", where.URL(), url))
	return serveUI(ctx, server, listener)
}

// serveUI answers requests until ctx ends, and then waits for those that are open.
func serveUI(ctx context.Context, handler *ui.Server, listener net.Listener) error {
	server := serve.HTTPServer(handler)
	server.WriteTimeout = 10 * time.Minute // a download of a large table over a slow line
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), 5*time.Second, errors.New("close open pages"))
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			ended <- server.Close()
			return
		}
		ended <- nil
	})
	err := server.Serve(listener)
	if stop() {
		return fmt.Errorf("explorer: %w", errors.Join(err, server.Close()))
	}
	return <-ended
}

// clock returns the clock for ages.
func (o uiOptions) clock(a *app) (func() time.Time, error) {
	if o.now == "" {
		return a.Now, nil
	}
	now, err := time.Parse(time.RFC3339, o.now)
	if err != nil {
		return nil, usagef("--now %q: want an instant such as 2026-11-01T06:00:00Z", o.now)
	}
	return func() time.Time { return now }, nil
}

// listenUI opens the listener. It accepts only what other machines do not reach: there are no accounts.
func listenUI(ctx context.Context, address string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		listener, err := new(net.ListenConfig).Listen(ctx, "unix", path)
		if err != nil {
			return nil, usagef("--listen %s: %w", address, err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
		return listener, nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usagef("--listen %q: %w", address, err)
	}
	ip, err := netip.ParseAddr(host)
	if host != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
		return nil, usagef("--listen %s: want an address of the loopback interface, such as 127.0.0.1:8910, or unix:PATH: the explorer has no accounts; put a proxy that has them in front of it", address)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", address)
}

// editions opens the catalogs of a lake that gets new commits, for the explorer.
type editions struct {
	catalogs
	past pastRuns
}

// pastRuns are the old runs of a long log, as pages show them. They are kept from one edition to the next.
type pastRuns struct {
	commits []lake.Commit
	until   lake.NamedCommit // the last of them
}

// all returns all commits of a log. Of the syncs of long ago it has only the feeds with news, and what failed: there are
// half a million syncs in five years.
func (p *pastRuns) all(ctx context.Context, l *load.Lake) ([]lake.Commit, error) {
	log := l.Log()
	if log.Whole(1) {
		return log.Commits, nil
	}
	if known, ok, err := l.Named(ctx, p.until.Number); err != nil || !ok || known.SHA256 != p.until.SHA256 {
		*p = pastRuns{}
	}
	var newest []lake.Commit
	for run, err := range l.Runs(ctx, p.until.Number+1) {
		if err != nil {
			return nil, err
		}
		c := *run
		if log.Whole(c.Number) {
			newest = append(newest, c)
			continue
		}
		if c.Command == "sync" {
			c.Feeds = slices.DeleteFunc(slices.Clone(c.Feeds), isQuiet)
		}
		p.commits = append(p.commits, c)
	}
	var err error
	p.until, _, err = l.Named(ctx, int64(len(p.commits)))
	return slices.Concat(p.commits, newest), err
}

// isQuiet says whether a run of a feed brought nothing and lacked nothing.
func isQuiet(f lake.FeedRun) bool {
	return f.Outcome == lake.OutcomeDone && f.Added+f.Changed+f.Removed+f.Reappeared+f.Quarantined == 0 && len(f.Drift) == 0
}

// explorerMemory limits the memory of DuckDB for the statements of the explorer.
const explorerMemory = "256MB"

// newer implements asof.Config.Newer.
func (e *editions) newer(ctx context.Context, than int64) (*asof.Edition, error) {
	return openNewer(ctx, &e.catalogs, than, e.open)
}

// open opens the catalog for the lake's latest commit in l. It returns nil if a writer has replaced the catalog.
func (e *editions) open(ctx context.Context, l *load.Lake) (*asof.Edition, error) {
	file, err := e.app.openCatalog(ctx, l)
	if err != nil {
		return nil, err
	}
	db, done, err := sql.OpenApart(ctx, file.Path, file.Root(), e.app.workDir())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	closeAll := func() error { return errors.Join(done(), file.Close()) }
	db.SetMaxOpenConns(6)
	_, err = db.ExecContext(ctx, "SET threads = 2")
	commit := int64(0)
	if err == nil {
		commit, err = prepare(ctx, db, explorerMemory)
	}
	if err != nil || commit != l.Log().Number {
		return nil, errors.Join(err, closeAll())
	}
	runs, err := e.past.all(ctx, l)
	if err != nil {
		return nil, errors.Join(err, closeAll())
	}
	return &asof.Edition{
		Log: l.Log(), Runs: runs, DB: db, Close: closeAll,
		Fetch: func(ctx context.Context, statement string) error { return file.Fetch(ctx, db, statement) },
	}, nil
}

// explorer says to the pages what status and runs say.
type explorer struct {
	app     *app
	where   store.Store
	options uiOptions
}

// quiet returns the app without its log: what is found is on the page.
func (e *explorer) quiet() *app {
	quiet := *e.app
	quiet.sink = logs.NewSink(io.Discard, e.app.sink.Program)
	return &quiet
}

// health returns what status says, with the settings of status.
func (e *explorer) health(ctx context.Context) (*ui.Health, error) {
	a := e.quiet()
	o, err := a.statusSettings()
	if err != nil {
		return nil, err
	}
	if e.options.now != "" {
		o.now = e.options.now
	}
	if e.options.maxAge > 0 {
		o.maxAge = e.options.maxAge
	}
	in, err := a.newInspection(o)
	if err != nil {
		return nil, err
	}
	s, err := in.inspect(ctx, e.where, o)
	if err != nil {
		return nil, err
	}
	h := &ui.Health{Now: in.now, MaxAge: time.Duration(s.MaxAgeSeconds) * time.Second}
	for _, f := range s.Findings {
		h.Findings = append(h.Findings, heldFinding(s, f))
	}
	for i := range s.Feeds {
		f := &s.Feeds[i]
		feed := ui.FeedHealth{Feed: f.Feed, Deals: f.Deals, Stale: f.Stale, Held: f.Held != nil, Last: f.Last}
		if f.SnapshotAt != nil {
			feed.SnapshotAt = f.SnapshotAt.Time
		}
		if f.KnownAt != nil {
			feed.KnownAt = f.KnownAt.Time
		}
		h.Feeds = append(h.Feeds, feed)
	}
	for i := range in.log.Commits {
		if c := &in.log.Commits[i]; len(c.Feeds) > 0 {
			h.Checks = c.Checks
		}
	}
	h.Attempts = runsOf(rowsOf(in.log.Commits, in.log, s.made))
	h.Size = sizeFacts(s)
	return h, nil
}

// heldFinding returns a finding for the page. A failed run that waits for a person is held; the command that releases it
// names the checks that hold it.
func heldFinding(s *statusResult, f finding) ui.Finding {
	found := ui.Finding{Kind: f.Kind, Severity: f.Severity, Feed: f.Feed, Reason: f.Reason, Todo: f.Todo}
	t := s.LastFailure
	if f.Kind != "failed" || t == nil || !t.Open || t.ExitCode == nil || t.Outcome != lake.OutcomeHeld {
		return found
	}
	found.Kind = "held"
	if checks := namedChecks(t.Error); *t.ExitCode == 5 && checks != "" {
		found.Todo = "look at the source; if the data is right, `dealflow run --accept-checks " + checks + "`"
	}
	return found
}

// namedChecks returns the quality checks that a message names, with commas.
func namedChecks(message string) string {
	var named []string
	for _, check := range sql.QualityChecks() {
		if strings.Contains(message, check.Name) {
			named = append(named, check.Name)
		}
	}
	return strings.Join(named, ",")
}

// sizeFacts says what the lake has grown to.
func sizeFacts(s *statusResult) []ui.Fact {
	facts := []ui.Fact{
		{Name: "Files", Value: fmt.Sprintf("%d, %s", s.Files, size(s.Bytes))},
		{Name: "Snapshot day", Value: s.SnapshotDate},
		{Name: "Day zone", Value: s.DayZone},
	}
	switch flaw := catalogFlaw(s); flaw {
	case "":
		facts = append(facts, ui.Fact{Name: "Catalog", Value: "up to date"})
	default:
		facts = append(facts, ui.Fact{Name: "Catalog", Value: flaw})
	}
	if s.OlderFiles > 0 {
		facts = append(facts, ui.Fact{Name: "Files of an older schema", Value: fmt.Sprint(s.OlderFiles)})
	}
	if s.Lease != nil {
		facts = append(facts, ui.Fact{Name: "Lease", Value: fmt.Sprintf("%s: %s of %s", s.Lease.State, s.Lease.Lease.Command, s.Lease.Lease.Owner)})
	}
	if s.Watch != nil {
		facts = append(facts, ui.Fact{Name: "Watch", Value: fmt.Sprintf("%s, last seen at %s", s.Watch.State, s.Watch.Watch.Beat)})
	}
	if len(s.Nights) > 0 {
		n := &s.Nights[0]
		facts = append(facts, ui.Fact{Name: "Last night", Value: fmt.Sprintf("%.1f s, %d requests, %s received, %d files of %s added", n.Seconds, n.Requests, size(n.BytesReceived), n.Files, size(n.Bytes))})
	}
	return facts
}

func runsOf(rows []runRow) []ui.Run {
	runs := make([]ui.Run, 0, len(rows))
	for i := range rows {
		r := ui.Run{Commit: rows[i].Commit, Attempt: rows[i].Attempt}
		if r.Attempt != nil && r.Commit.Number == 0 {
			r.Todo = todoAfter(r.Attempt)
		}
		runs = append(runs, r)
	}
	return runs
}

// runs lists what `dealflow runs` lists.
func (e *explorer) runs(ctx context.Context, most int) ([]ui.Run, error) {
	a := e.quiet()
	l, err := a.openToRead(ctx, e.where)
	if err != nil {
		return nil, err
	}
	made, err := a.readAttempts(ctx, l, most)
	if err != nil {
		made = []attempts.Attempt{} // the log has every commit
	}
	commits := l.Log().Commits // of a long log not all: the pages have the others from the edition
	if most > 0 {
		if commits, err = lastRuns(ctx, l, most); err != nil {
			return nil, err
		}
	}
	rows := rowsOf(commits, l.Log(), made)
	if most > 0 && len(rows) > most {
		rows = rows[:most]
	}
	return runsOf(rows), nil
}

// files counts what a commit added and removed.
func (e *explorer) files(ctx context.Context, number int64) (ui.FileChange, error) {
	a := e.quiet()
	l, err := a.openToRead(ctx, e.where)
	if err != nil {
		return ui.FileChange{}, err
	}
	data, err := l.Object(ctx, lake.CommitKey(number))
	if errors.Is(err, store.ErrNotFound) {
		return ui.FileChange{}, nil
	}
	if err != nil {
		return ui.FileChange{}, err
	}
	c, err := lake.DecodeCommit(data)
	if err != nil {
		return ui.FileChange{}, fmt.Errorf("%s: %w", lake.CommitKey(number), err)
	}
	f := ui.FileChange{Known: true, Added: len(c.Add), Removed: len(c.Remove)}
	for i := range c.Add {
		f.AddedBytes += c.Add[i].Bytes
	}
	return f, nil
}
