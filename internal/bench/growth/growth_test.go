//go:build unix

package growth

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"dealflow/extract"
	"dealflow/internal/catalog"
	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
	"dealflow/sql"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// BenchmarkGrowth takes a lake through TEST_NIGHTS nights (5; 3 with -short) of a market of constant size, with as many syncs
// a day as TEST_SYNCS says (none), and reports what a night costs at the beginning and at the end. With TEST_KEEP_DAYS each
// night is maintained as by `run --maintain --keep-days`. With TEST_PAST the log gets that number of commits of quiet syncs before
// each night as if that much time had passed: 365 nights and 1,440 are five years of nights and syncs. The figures of each night go to the file that TEST_GROWTH names.
func BenchmarkGrowth(b *testing.B) {
	usual := 5
	if testing.Short() {
		usual = 3
	}
	nights, syncs, keep, past := setting(b, "TEST_NIGHTS", usual), setting(b, "TEST_SYNCS", 0), setting(b, "TEST_KEEP_DAYS", 0), setting(b, "TEST_PAST", 0)
	for b.Loop() {
		w := newWorld(b)
		var rows []Row
		for night := range nights {
			sync := math.NaN()
			if night > 0 { // before, there is no lake
				w.lengthen(b, past)
				for i := range syncs {
					w.clock.Set(epoch.AddDate(0, 0, night).Add(8*time.Hour + time.Duration(i)*12*time.Hour/time.Duration(syncs)))
					sync = w.sync(b)
				}
			}
			w.clock.Set(epoch.AddDate(0, 0, night).Add(22 * time.Hour))
			row := w.night(b, night+1, keep, night%max(nights/20, 1) == 0 || night == nights-1)
			row.Sync = sync
			rows = append(rows, row)
			writeRows(b, rows)
		}
		report(b, rows)
	}
}

func setting(b *testing.B, name string, otherwise int) int {
	b.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		b.Fatalf("%s=%q: want a number", name, text)
	}
	return n
}

// writeRows writes the figures of the nights so far, so that a benchmark that is stopped has shown something.
func writeRows(b *testing.B, rows []Row) {
	b.Helper()
	path := os.Getenv("TEST_GROWTH")
	if path == "" {
		return
	}
	var out strings.Builder
	if err := Write(&out, rows); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		b.Fatal(err)
	}
}

// report makes metrics of the figures: the medians of the first and of the last tenth, and their ratio.
func report(b *testing.B, rows []Row) {
	for _, c := range columns {
		first, last := Tenths(rows, c.value)
		if c.name == "night" || math.IsNaN(first) {
			continue
		}
		name := strings.ReplaceAll(c.name, "_", "-")
		b.ReportMetric(first, name+"-first")
		b.ReportMetric(last, name+"-last")
		if first != 0 {
			b.ReportMetric(last/first, name+"-ratio")
		}
	}
}

// world is a market of constant size, served over HTTP, and a lake in a folder. Its clock does not advance during a
// run.
type world struct {
	clock *sim.ManualClock
	url   string
	store store.Store
}

var epoch = time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)

// standing is how long a priced deal stays in this market.
const standing = 182 * 24 * time.Hour

// steady is a market from which priced deals disappear after a while, about as many as are added.
type steady struct{ *sim.Market }

func (s steady) since() string { return s.Now().Add(-standing).Format(time.DateOnly) }

func (s steady) List(ctx context.Context, q serve.Query) (serve.Page, error) {
	if q.Feed.Kind == api.Priced {
		q.PricingDateFrom = max(q.PricingDateFrom, s.since())
	}
	return s.Market.List(ctx, q)
}

func (s steady) Get(ctx context.Context, feed api.Feed, id int64) (serve.Record, error) {
	record, err := s.Market.Get(ctx, feed, id)
	if err == nil && feed.Kind == api.Priced && record.PricingDate < s.since() {
		return serve.Record{}, serve.ErrNotFound
	}
	return record, err
}

func newWorld(b *testing.B) *world {
	b.Helper()
	clock := sim.NewManualClock(epoch)
	market := sim.New(sim.Config{Seed: 1, Deals: 600, Expected: 40, PerDay: 1.3, Epoch: epoch, Clock: clock.Now})
	server, err := serve.New(serve.Config{Source: steady{market}})
	if err != nil {
		b.Fatal(err)
	}
	address := httptest.NewServer(server.Handler())
	b.Cleanup(address.Close)
	folder, err := dirstore.New(filepath.Join(b.TempDir(), "lake"))
	if err != nil {
		b.Fatal(err)
	}
	return &world{clock: clock, url: address.URL, store: folder}
}

// execute does one execution of a run, or of a sync.
func (w *world) execute(b *testing.B, do func(context.Context, pull.Config) (*pull.Result, error)) *pull.Result {
	b.Helper()
	base, err := api.ParseBase(w.url)
	if err != nil {
		b.Fatal(err)
	}
	client, err := extract.New(extract.Config{Base: base, ClientID: "demo", ClientSecret: api.NewSecret("demo")})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	// Quality checks hold nothing here: a market this small may change by half in a night.
	var accepted []string
	for _, check := range sql.QualityChecks() {
		accepted = append(accepted, check.Name)
	}
	result, err := do(b.Context(), pull.Config{
		Client: client, Base: base, Store: w.store, RunID: uuid.Must(uuid.NewV7()).String(), Clock: time.Now, ServerClock: true,
		WorkDir: b.TempDir(), AcceptRemovals: true, AcceptChecks: accepted,
	})
	if err != nil {
		b.Fatal(err)
	}
	return result
}

// sync does a sync, and returns the seconds.
func (w *world) sync(b *testing.B) float64 {
	begin := time.Now()
	w.execute(b, pull.Sync)
	return time.Since(begin).Seconds()
}

// lengthen adds commits of syncs without news to the log, a month old. It writes nothing that is derived from commits.
func (w *world) lengthen(b *testing.B, commits int) {
	b.Helper()
	if commits == 0 {
		return
	}
	l, err := load.Open(b.Context(), w.store)
	if err != nil {
		b.Fatal(err)
	}
	last, known := l.Log().Newest(), l.Log().KnownAt
	monthAgo := time.Now().AddDate(0, -1, 0)
	for range commits {
		known = known.Next()
		c := lake.Commit{
			FormatVersion: lake.FormatVersion, Number: last.Number + 1, RunID: uuid.Must(uuid.NewV7()).String(), Command: "sync", KnownAt: known, PreviousSHA256: last.SHA256,
			DealflowVersion: "test", StartedAt: known, FinishedAt: known, Outcome: lake.OutcomeDone, Add: []lake.File{}, Remove: []string{}, Checks: []lake.Check{},
		}
		for _, feed := range api.Feeds() {
			c.Feeds = append(c.Feeds, lake.FeedRun{Feed: feed, Outcome: lake.OutcomeDone, BaseURL: w.url, StartedAt: known, FinishedAt: known, Requests: 1, Drift: []lake.Drift{}})
		}
		data, err := c.Encode()
		if err == nil {
			path := filepath.Join(w.store.URL(), lake.CommitKey(c.Number))
			err = errors.Join(os.WriteFile(path, data, 0o600), os.Chtimes(path, monthAgo, monthAgo)) // without the store's care, which takes time
		}
		if err != nil {
			b.Fatal(err)
		}
		last.Number, last.SHA256 = c.Number, lake.SHA256(data)
	}
}

// maintain does what `run --maintain --keep-days` does after the run's commit, and returns the seconds.
func (w *world) maintain(b *testing.B, keep int) float64 {
	b.Helper()
	cfg := func(quietly bool) maintain.Config {
		return maintain.Config{
			Store: w.store, RunID: uuid.Must(uuid.NewV7()).String(), Clock: w.clock.Now, WorkDir: b.TempDir(), NoCatalog: quietly,
		}
	}
	return seconds(func() error {
		_, err := maintain.Compact(b.Context(), cfg(true))
		if err == nil {
			_, err = maintain.Expire(b.Context(), maintain.ExpireConfig{Config: cfg(false), Keep: maintain.Retention{Days: keep, MonthEnds: true}, Apply: true})
		}
		return err
	}, b)
}

// night runs, and takes the figures; with questions, also of what readers do. keep is as of --keep-days; 0: no maintenance.
func (w *world) night(b *testing.B, number, keep int, questions bool) Row {
	b.Helper()
	row := unmeasured()
	before := processors(b)
	result := w.execute(b, pull.Run)
	row.CPU = processors(b) - before
	row.Night = float64(number)
	row.Deals = float64(result.Count(func(f *lake.FeedRun) int64 { return f.Deals }))
	row.Versions = float64(result.Count(func(f *lake.FeedRun) int64 { return f.Added + f.Changed + f.Removed + f.Reappeared }))
	row.Run, row.Open, row.Feeds, row.Commit, row.Catalog = result.Seconds, result.Stages.Open, result.Stages.Feeds, result.Stages.Commit, result.Stages.Catalog
	row.Compaction = 0
	if result.Compaction != nil {
		row.Compaction = result.Compaction.Seconds
	}
	var l *load.Lake
	w.sizes(b, result.Commit, &row)
	if keep > 0 {
		row.Compaction += w.maintain(b, keep)
	}
	row.LogOpen = seconds(func() (err error) { l, err = load.Open(b.Context(), w.store); return err }, b)
	row.LiveFiles = float64(len(l.Log().AllFiles()))
	if questions {
		w.questions(b, l, &row)
	}
	return row
}

// sizes takes what a commit and the catalog weigh.
func (w *world) sizes(b *testing.B, number int64, row *Row) {
	b.Helper()
	data, err := store.Read(b.Context(), w.store, lake.CommitKey(number))
	if err != nil {
		b.Fatal(err)
	}
	commit, err := lake.DecodeCommit(data)
	if err != nil {
		b.Fatal(err)
	}
	row.CommitBytes, row.HistoryBytes, row.SnapshotBytes = float64(len(data)), 0, 0
	for _, file := range commit.Add {
		switch {
		case strings.HasPrefix(file.Table, lake.HistoryTable("")):
			row.HistoryBytes += float64(file.Bytes)
		case strings.HasPrefix(file.Table, lake.SnapshotTable("")):
			row.SnapshotBytes += float64(file.Bytes)
		}
	}
	info, err := os.Stat(w.catalog())
	if err != nil {
		b.Fatal(err)
	}
	row.CatalogBytes = float64(info.Size())
}

func (w *world) catalog() string { return filepath.Join(w.store.URL(), lake.CatalogKey) }

// questions takes the time of what people ask of the catalog, and of making it from scratch.
func (w *world) questions(b *testing.B, l *load.Lake, row *Row) {
	b.Helper()
	row.Attach = seconds(func() error { return w.attach(b.Context()) }, b)
	var db *stdsql.DB
	var done func() error
	row.First = seconds(func() (err error) {
		if db, done, err = sql.OpenApart(b.Context(), w.catalog(), w.store.URL(), b.TempDir()); err == nil {
			err = count(b.Context(), db, "bond_priced_deals WHERE spread IS NOT NULL")
		}
		return err
	}, b)
	then := l.Log().Commits[len(l.Log().Commits)/2].KnownAt
	row.AsOf = seconds(func() error {
		return count(b.Context(), db, fmt.Sprintf("bond_priced_banks_as_of(TIMESTAMPTZ '%s') WHERE name IS NOT NULL", then))
	}, b)
	if err := done(); err != nil {
		b.Fatal(err)
	}
	// The catalog from scratch must not replace the one that grew.
	grown := filepath.Join(b.TempDir(), "grown.duckdb")
	if err := os.Link(w.catalog(), grown); err != nil {
		b.Fatal(err)
	}
	if l.Log().Whole(1) { // of a long log it takes minutes
		row.ScratchCatalog = seconds(func() error { return catalog.Publish(b.Context(), l, b.TempDir(), nil) }, b)
	}
	if err := os.Rename(grown, w.catalog()); err != nil {
		b.Fatal(err)
	}
}

// attach does what any DuckDB can do with the catalog.
func (w *world) attach(ctx context.Context) (err error) {
	db, err := stdsql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "ATTACH '"+w.catalog()+"' AS dealflow (READ_ONLY)"); err != nil {
		return err
	}
	var commit int64
	return conn.QueryRowContext(ctx, `SELECT "commit" FROM dealflow.catalog_info`).Scan(&commit)
}

func count(ctx context.Context, db *stdsql.DB, from string) error {
	var n int64
	return db.QueryRowContext(ctx, "SELECT count(*) FROM "+from).Scan(&n)
}

// processors is the seconds that the process has had of all processors.
func processors(b *testing.B) float64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// seconds is how long something takes.
func seconds(do func() error, b *testing.B) float64 {
	b.Helper()
	begin := time.Now()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return time.Since(begin).Seconds()
}
