package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/advice"
	"dealflow/internal/attempts"
	"dealflow/internal/catalog"
	"dealflow/internal/exitcode"
	"dealflow/internal/logs"
	"dealflow/internal/pull"
	"dealflow/internal/runlist"
	"dealflow/internal/status"
	"dealflow/internal/ui"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/console"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/login"
	"dealflow/internal/ui/operator"
	"dealflow/internal/ui/study"
	"dealflow/internal/words"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/limits"
	"dealflow/sql"
	"dealflow/sql/engine"
)

type uiOptions struct {
	listen       string
	hosts        string
	now          string
	maxAge       time.Duration
	tokenFile    string
	tlsCert      string
	tlsKey       string
	proxy        string
	insecureHTTP bool
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

It changes nothing, and follows every commit. It listens on the loopback interface, where every user
of this machine can read the lake, or on a socket file (--listen unix:PATH) that only its owner can open.

With --token-file the pages ask for the token in that file; programs send it in the header
Authorization. With a token it can listen on any address: with --tls-cert, or with --behind-proxy if
a proxy with TLS is in front of it, or with --insecure-http if all may be read on the way.`,
		Example: `  dealflow ui
  dealflow ui --lake s3://bucket/deals --listen 127.0.0.1:8911
  dealflow ui --lake demo-lake --now 2026-01-15T07:00:00Z
  dealflow ui --token-file token --listen 0.0.0.0:8910 --host lake.example --tls-cert cert.pem --tls-key key.pem`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runUI(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8910", "address to listen on: one of the loopback interface, or unix:PATH; with --token-file any other")
	flags.StringVar(&o.hosts, "host", "", "further names under which browsers ask this server, comma-separated, such as the name of this machine")
	flags.StringVar(&o.now, "now", "", "show ages as of this instant, such as 2026-11-01T06:00:00Z (default: this machine's clock)")
	flags.DurationVar(&o.maxAge, "max-age", 0, "age from which a feed's snapshot is a problem (default: as `status` judges it)")
	flags.StringVar(&o.tokenFile, "token-file", "", "file with the token that lets into the pages, of at least 32 bytes")
	flags.StringVar(&o.tlsCert, "tls-cert", "", "certificate chain (PEM); turns https on")
	flags.StringVar(&o.tlsKey, "tls-key", "", "key of the certificate (PEM)")
	flags.StringVar(&o.proxy, "behind-proxy", "", "address by which browsers reach the proxy in front of this server, such as https://lake.example: all requests come through it, and clients are told apart by the last address of X-Forwarded-For")
	flags.BoolVar(&o.insecureHTTP, "insecure-http", false, "listen beyond loopback without TLS")
	annotate(flags.Lookup("host"), listFlag)
	return cmd
}

func runUI(ctx context.Context, a *app, o uiOptions) (err error) {
	where, err := a.settings.store(ctx)
	if err != nil {
		return err
	}
	l, err := a.openToRead(ctx, where)
	isEmpty := errors.Is(err, load.ErrNoLake)
	if isEmpty {
		err = a.checkPlace(where)
	}
	if err != nil {
		return err
	}
	door, hosts, err := o.door(ctx, a)
	if err != nil {
		return err
	}
	secure, err := tlsOf(o.tlsCert, o.tlsKey)
	if err != nil {
		return err
	}
	pages, done, err := a.pages(ctx, l, o, door, hosts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	listener, err := o.binding().listen(ctx)
	if err != nil {
		return err
	}
	address := "http://" + listener.Addr().String() + "/"
	switch {
	case strings.HasPrefix(o.listen, "unix:"):
		address = o.listen
	case secure != nil:
		address = "https://" + listener.Addr().String() + "/"
		listener = tls.NewListener(listener, secure)
	}
	who := "all who know the token"
	if door == nil {
		who = "every user of this machine"
		if strings.HasPrefix(o.listen, "unix:") {
			who = "the owner of the file"
		}
	}
	a.say().Info("explorer", "lake", where.URL(), "url", address, "readers", who, logs.Text("the explorer of %s is at %s, for %s; Ctrl-C ends it", where.URL(), address, who))
	if isEmpty {
		a.say().Warn("no commit yet", logs.Text("the pages of %s say so until `dealflow run` has made the first one; if there was a lake, see whether --lake is right and its disk is mounted", where.URL()))
	}
	if o.insecureHTTP && secure == nil {
		a.say().Warn("serving without TLS", logs.Text("--insecure-http: the token and the lake cross the network unencrypted"))
	}
	return serveUI(ctx, pages, listener)
}

// pages returns the server of the pages about a lake, which may have no commit. door admits readers, nil without a token; hosts are further
// names under which it may be asked. The caller calls done after the last answer.
func (a *app) pages(ctx context.Context, l *load.Lake, o uiOptions, door *login.Door, hosts []string) (server *frame.Server, done func() error, err error) {
	clock, err := o.clock(a)
	if err != nil {
		return nil, nil, err
	}
	described, err := describedAnalyses()
	if err != nil {
		return nil, nil, err
	}
	asked, err := a.console()
	if err != nil {
		return nil, nil, err
	}
	opener := editions{catalogs: catalogs{app: a, lake: l}, published: new(catalog.Memory)}
	shown, err := asof.Open(ctx, asof.Config{Newer: opener.newer, Every: 2 * time.Second, Clock: a.Now, Opened: ui.Prepare})
	if err != nil {
		return nil, nil, err
	}
	where := l.Store()
	e := explorer{app: a, where: where, options: o, catalogs: opener.published, begun: &opener.begun}
	server, err = ui.New(frame.Config{
		Lake: shown, URL: where.URL(), Version: version(), Clock: clock,
		Login: door, Hosts: hosts, AnyHost: strings.HasPrefix(o.listen, "unix:"), WorkDir: a.workDir(), Log: a.logger(),
	}, operator.Source{Health: e.health, Runs: e.runs, Run: e.run, Files: e.files, Record: e.record}, described, asked)
	if err != nil {
		return nil, nil, errors.Join(err, shown.Close())
	}
	return server, shown.Close, nil
}

// serveUI answers requests until ctx ends, and then waits for those that are open.
func serveUI(ctx context.Context, handler *frame.Server, listener net.Listener) error {
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

// door returns what admits readers, nil without a token, and the names under which the server may be asked.
func (o uiOptions) door(ctx context.Context, a *app) (*login.Door, []string, error) {
	hosts := strings.FieldsFunc(o.hosts, func(r rune) bool { return r == ',' || r == ' ' })
	for _, host := range hosts {
		if strings.ContainsAny(host, "/:") && net.ParseIP(strings.Trim(host, "[]")) == nil {
			return nil, nil, usagef("--host %q: want a name such as lake.example, without scheme, port and path", host)
		}
	}
	if o.proxy != "" {
		proxy, err := url.Parse(o.proxy)
		if err != nil || proxy.Scheme != "https" || proxy.Hostname() == "" {
			return nil, nil, usagef("--behind-proxy %q: want an address such as https://lake.example", o.proxy)
		}
		hosts = append(hosts, proxy.Hostname())
	}
	if host, _, err := net.SplitHostPort(o.listen); err == nil {
		if ip, err := netip.ParseAddr(host); err == nil && !ip.IsUnspecified() {
			hosts = append(hosts, host) // no name of another site leads to an address
		}
	}
	if o.tokenFile == "" {
		return nil, hosts, nil
	}
	data, err := a.readSecretFile(ctx, "token", o.tokenFile)
	if err != nil {
		return nil, nil, usagef("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if err := checkSecret(token, false); err != nil {
		return nil, nil, usagef("--token-file: %w", err)
	}
	style, err := frame.Style()
	if err != nil {
		return nil, nil, err
	}
	client := func(r *http.Request) string { return limits.ClientOf(r, o.proxy != "") }
	door, err := login.New(login.Config{Token: token, Secure: o.tlsCert != "" || o.proxy != "", Client: client, Clock: a.Now, Style: style})
	if err != nil {
		return nil, nil, usagef("--token-file %s: %w", o.tokenFile, err)
	}
	return door, hosts, nil
}

// binding says where the explorer is served. Without a token, only this machine may reach it.
func (o uiOptions) binding() binding {
	return binding{
		address: o.listen, sockets: true, guarded: o.tokenFile != "", encrypted: o.tlsCert != "" || o.proxy != "", insecure: o.insecureHTTP,
		unguarded: "want an address of the loopback interface, such as 127.0.0.1:8910, or unix:PATH; for another address, pass --token-file",
		exposed:   "the token and the lake",
	}
}

// describedAnalyses returns what the analyses say of themselves.
func describedAnalyses() (all []study.Analysis, err error) {
	found, err := sql.Analyses()
	for _, a := range found {
		all = append(all, study.Analysis{Name: a.Name, Title: a.Title, Definition: a.Definition, Parameters: a.Parameters, Units: a.Units, Caveats: a.Caveats})
	}
	return all, err
}

// console returns what the page for statements has.
func (a *app) console() (console.Source, error) {
	runner, err := a.statementRunner(statementTime)
	optional, unnamed := sql.OptionalParameters()
	source := console.Source{Runner: runner, Optional: optional}
	for _, name := range []string{"newest_deals", "pipeline_then", "deal_changes"} {
		example := sql.ExampleByName(name)
		source.Examples = append(source.Examples, console.Example{Title: example.Title(), SQL: example.Text})
	}
	described, unread := sql.Analyses()
	for _, analysis := range described {
		source.Examples = append(source.Examples, console.Example{Title: analysis.Name + ": " + analysis.Question, SQL: strings.TrimSpace(analysis.Example)})
	}
	return source, errors.Join(err, unnamed, unread)
}

// statementTime is the time of a statement of a reader of the explorer.
const statementTime = 10 * time.Second

// editions opens the catalogs of a lake that gets new commits, for the explorer.
type editions struct {
	catalogs
	past      pastRuns
	published *catalog.Memory
	begun     atomic.Bool // a commit was seen
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
		if c.Command == lake.CommandSync {
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
const explorerMemory = "512MB"

// newer implements asof.Config.Newer.
func (e *editions) newer(ctx context.Context, than int64) (*asof.Edition, error) {
	edition, err := openNewer(ctx, &e.catalogs, than, e.open)
	switch {
	case !errors.Is(err, load.ErrNoLake) || e.begun.Load():
		return edition, err
	case than == 0:
		return nil, nil //nolint:nilnil // the edition without a commit is open
	}
	return e.open(ctx, e.lake) // which was without a commit when the explorer began
}

// open opens the catalog for the lake's latest commit in l. It returns nil if a writer has replaced the catalog.
func (e *editions) open(ctx context.Context, l *load.Lake) (*asof.Edition, error) {
	// Health says whether the catalog is as it was made. Its first reader after a commit need not wait until all of it is read.
	var reading sync.WaitGroup
	defer reading.Wait()
	reading.Go(func() { _, _ = e.published.ReadPublished(ctx, l, e.app.workDir(), time.Now()) }) // Health reads it again, and says what is wrong
	file, err := e.app.openCatalog(ctx, l)
	if err != nil {
		return nil, err
	}
	db, done, err := file.Apart(ctx, e.app.workDir())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	closeAll := func() error { return errors.Join(done(), file.Close()) }
	db.SetMaxOpenConns(6)
	_, err = db.ExecContext(ctx, engine.Threads(2))
	commit := int64(0)
	if err == nil {
		commit, err = prepare(ctx, db, explorerMemory)
	}
	if err != nil || commit != l.Log().Number {
		return nil, errors.Join(err, closeAll())
	}
	e.begun.Store(commit > 0)
	runs, err := e.past.all(ctx, l)
	path, unnamed := sql.FileOf(ctx, db)
	if err = errors.Join(err, unnamed); err != nil {
		return nil, errors.Join(err, closeAll())
	}
	return &asof.Edition{
		Log: l.Log(), Runs: runs, DB: db, Close: closeAll,
		Fetch: func(ctx context.Context, statement string) error { return file.Fetch(ctx, db, statement) },
		Path:  path, Root: file.Root(),
		Cut: func(ctx context.Context, to string, shown lake.NamedCommit) error {
			return file.Cut(ctx, path, to, shown.KnownAt, shown)
		},
	}, nil
}

// explorer says to the pages what status and runs say.
type explorer struct {
	app     *app
	where   store.Store
	options uiOptions

	catalogs *catalog.Memory
	begun    *atomic.Bool // a commit was seen
}

// quiet returns the app without its log: what is found is on the page.
func (e *explorer) quiet() *app {
	quiet := *e.app
	quiet.sink = logs.NewSink(io.Discard, e.app.sink.Program)
	return &quiet
}

// open opens the lake, which may be one without a commit if the explorer has seen none.
func (e *explorer) open(ctx context.Context) (*load.Lake, error) {
	l, err := e.quiet().openToRead(ctx, e.where)
	if errors.Is(err, load.ErrNoLake) && !e.begun.Load() {
		return l, nil
	}
	return l, e.gone(err)
}

// gone says of a lake without commits that the explorer has seen some: a run would begin a new lake in its place.
func (e *explorer) gone(err error) error {
	if errors.Is(err, load.ErrNoLake) {
		return fmt.Errorf("%s has no commit any more: see whether its disk is mounted, and start no run before, which would begin a new lake there", e.where.URL())
	}
	return err
}

// health returns what status says, with the settings of status.
func (e *explorer) health(ctx context.Context) (*operator.Health, error) {
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
	cfg, err := a.statusConfig(o)
	if err != nil {
		return nil, err
	}
	cfg.Catalogs = e.catalogs
	s, err := status.Inspect(ctx, e.where, cfg)
	if errors.Is(err, load.ErrNoLake) && !e.begun.Load() {
		s, err = status.InspectEmpty(ctx, e.where, cfg)
	}
	if err != nil {
		return nil, e.gone(err)
	}
	log := s.Opened().Log()
	h := &operator.Health{Now: cfg.Now, MaxAge: time.Duration(s.MaxAgeSeconds) * time.Second}
	for _, f := range s.Findings {
		h.Findings = append(h.Findings, heldFinding(s, f))
	}
	for i := range s.Feeds {
		f := &s.Feeds[i]
		feed := operator.FeedHealth{Feed: f.Feed, Deals: f.Deals, Stale: f.Stale, Held: f.Held != nil, Last: f.Last}
		if last := log.LastSnapshot(f.Feed); last != nil {
			feed.Night = last.Feed(f.Feed)
		}
		if f.SnapshotAt != nil {
			feed.SnapshotAt = f.SnapshotAt.Time
		}
		if f.KnownAt != nil {
			feed.KnownAt = f.KnownAt.Time
		}
		h.Feeds = append(h.Feeds, feed)
	}
	for i := range log.Commits {
		if c := &log.Commits[i]; len(c.Feeds) > 0 {
			h.Checks = c.Checks
		}
	}
	h.Attempts = runsOf(runlist.Merge(log.Commits, log, s.Attempts()))
	h.Size = sizeFacts(s)
	h.Quarantine, err = store.Within(ctx, o.timeout, status.ErrNoAnswer, func(ctx context.Context) ([]operator.Quarantined, error) {
		return openQuarantine(ctx, s.Opened())
	})
	if err != nil {
		h.QuarantineFlaw = err.Error() // the rest is known, and may say why
	}
	return h, nil
}

// openQuarantine returns the records that the last pulls of their feeds could not read. It reads the files of these pulls alone:
// a source whose record is broken for a year has a file for each night.
func openQuarantine(ctx context.Context, l *load.Lake) (all []operator.Quarantined, err error) {
	for _, feed := range api.Feeds() {
		found, err := openRecords(ctx, l, feed)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			all = append(all, operator.Quarantined{ID: r.ID, Feed: feed, DealID: r.DealID, Reason: r.Reason, Detail: r.Detail, ObservedAt: r.First.Time, Bytes: int64(r.Bytes)})
		}
	}
	return all, nil
}

func openRecords(ctx context.Context, l *load.Lake, feed api.Feed) ([]quarantined, error) {
	met, err := pull.OpenQuarantine(ctx, l, feed)
	return recordsOf(feed, met, nil), err
}

// record returns the bytes that `dealflow quarantine show` prints of a record that openQuarantine lists; nil for another one.
func (e *explorer) record(ctx context.Context, id string) ([]byte, error) {
	l, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	return recordIn(ctx, l, id)
}

func recordIn(ctx context.Context, l *load.Lake, id string) ([]byte, error) {
	for _, feed := range api.Feeds() {
		found, err := openRecords(ctx, l, feed)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].ID == id {
				return found[i].payload, nil
			}
		}
	}
	return nil, nil
}

// heldFinding returns a finding for the page. A failed run that waits for a person is held, and says what its checks found.
func heldFinding(s *status.Result, f status.Finding) operator.Finding {
	found := operator.Finding{Kind: f.Kind, Severity: f.Severity, Feed: f.Feed, Reason: f.Reason, Todo: f.Todo}
	t := s.LastFailure
	if f.Kind != "failed" || t == nil || !t.Open {
		return found
	}
	found.RunID = t.RunID
	if !exitcode.WasHeld(t.ExitCode) {
		return found
	}
	found.Kind = "held"
	// The lines between the first, which is the reason, and the last, which is what to do.
	if lines := strings.Split(strings.TrimSpace(t.Error), "\n"); len(lines) > 2 {
		for _, line := range lines[1 : len(lines)-1] {
			found.Details = append(found.Details, strings.TrimSpace(line))
		}
	}
	return found
}

// sizeFacts says what the lake has grown to, and who is at work.
func sizeFacts(s *status.Result) []frame.Fact {
	var facts []frame.Fact
	if s.Commit > 0 {
		facts = lakeFacts(s)
	}
	if s.Lease != nil {
		facts = append(facts, frame.Fact{Name: "Lease", Value: fmt.Sprintf("%s: %s of %s", s.Lease.State, s.Lease.Lease.Command, s.Lease.Lease.Owner)})
	}
	if s.Watch != nil {
		facts = append(facts, frame.Fact{Name: "Watch", Value: fmt.Sprintf("%s, last seen at %s", s.Watch.State, s.Watch.Watch.Beat)})
	}
	if len(s.Nights) > 0 {
		n := &s.Nights[0]
		facts = append(facts, frame.Fact{Name: "Last night", Value: fmt.Sprintf("%.1f s, %d requests, %s received, %d files of %s added", n.Seconds, n.Requests, words.Size(n.BytesReceived), n.Files, words.Size(n.Bytes))})
	}
	return facts
}

func lakeFacts(s *status.Result) []frame.Fact {
	facts := []frame.Fact{
		{Name: "Files", Value: fmt.Sprintf("%d, %s", s.Files, words.Size(s.Bytes))},
		{Name: "Snapshot day", Value: s.SnapshotDate},
		{Name: "Day zone", Value: s.DayZone},
	}
	switch flaw := s.CatalogTrouble(); flaw {
	case "":
		facts = append(facts, frame.Fact{Name: "Catalog", Value: "up to date"})
	default:
		facts = append(facts, frame.Fact{Name: "Catalog", Value: flaw})
	}
	if s.OlderFiles > 0 {
		facts = append(facts, frame.Fact{Name: "Files of an older schema", Value: fmt.Sprint(s.OlderFiles)})
	}
	return facts
}

func runsOf(rows []runlist.Row) []operator.Run {
	runs := make([]operator.Run, 0, len(rows))
	for i := range rows {
		r := operator.Run{Commit: rows[i].Commit, Attempt: rows[i].Attempt}
		if r.Attempt != nil && r.Commit.Number == 0 {
			r.Todo = advice.AfterAttempt(r.Attempt)
			if exitcode.WasHeld(r.Attempt.ExitCode) {
				r.Commit.Outcome = lake.OutcomeHeld // the record says that it failed
			}
		}
		runs = append(runs, r)
	}
	return runs
}

// runs lists what `dealflow runs` lists.
func (e *explorer) runs(ctx context.Context, most int) (*operator.Listing, error) {
	a := e.quiet()
	l, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	var found operator.Listing
	made, err := a.attemptsOn(l).Attempts(ctx, most)
	if err != nil {
		found.Flaw, made = err.Error(), []attempts.Attempt{} // the log has every commit
	}
	commits, err := runlist.Last(ctx, l, most)
	if err != nil {
		return nil, err
	}
	rows := runlist.Merge(commits, l.Log(), made)
	found.Runs = runsOf(rows[:min(most, len(rows))])
	return &found, nil
}

// run finds what `dealflow runs show` shows.
func (e *explorer) run(ctx context.Context, name string) (*operator.Run, error) {
	a := e.quiet()
	l, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	row, err := a.findRun(ctx, l, name)
	var none *usageError
	if errors.As(err, &none) {
		return nil, nil //nolint:nilnil // no run, or more than one
	}
	if err != nil {
		return nil, err
	}
	return &runsOf([]runlist.Row{*row})[0], nil
}

// files counts what a commit added and removed.
func (e *explorer) files(ctx context.Context, number int64) (operator.FileChange, error) {
	l, err := e.open(ctx)
	if err != nil {
		return operator.FileChange{}, err
	}
	return e.filesIn(ctx, l, number)
}

func (*explorer) filesIn(ctx context.Context, l *load.Lake, number int64) (operator.FileChange, error) {
	data, err := l.Object(ctx, lake.CommitKey(number))
	if errors.Is(err, store.ErrNotFound) {
		return operator.FileChange{}, nil
	}
	if err != nil {
		return operator.FileChange{}, err
	}
	c, err := lake.DecodeCommit(data)
	if err != nil {
		return operator.FileChange{}, fmt.Errorf("%s: %w", lake.CommitKey(number), err)
	}
	f := operator.FileChange{Known: true, Added: len(c.Add), Removed: len(c.Remove)}
	for i := range c.Add {
		f.AddedBytes += c.Add[i].Bytes
	}
	f.RemovedBytes, err = removedBytes(ctx, l, c)
	return f, err
}

// runsSized is the most commits that are read to say how large the files were that another one removed.
const runsSized = 100

// removedBytes returns the size of the files that a commit removed: the commits that added them have it. It returns -1 if one of
// these is not known, or if they are very many.
func removedBytes(ctx context.Context, l *load.Lake, c *lake.Commit) (int64, error) {
	removed, runs := map[string]bool{}, map[string]bool{}
	for _, path := range c.Remove {
		removed[path] = true
		runs[lake.RunIDOf(path)] = true
	}
	if len(runs) > runsSized {
		return -1, nil
	}
	sum := int64(0)
	for i := range l.Log().Commits {
		earlier := &l.Log().Commits[i]
		if earlier.Number >= c.Number || !runs[earlier.RunID] || len(removed) == 0 {
			continue
		}
		data, err := l.Object(ctx, lake.CommitKey(earlier.Number))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return 0, err
		}
		whole, err := lake.DecodeCommit(data)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", lake.CommitKey(earlier.Number), err)
		}
		for _, file := range whole.Add {
			if removed[file.Path] {
				sum += file.Bytes
				delete(removed, file.Path)
			}
		}
	}
	if len(removed) > 0 {
		return -1, nil
	}
	return sum, nil
}
