package pipeline_test

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"dealflow/extract"
	"dealflow/internal/catalog"
	"dealflow/internal/pipeline"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/oracle"
	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
	"dealflow/sql"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a market, served over HTTP, and a lake that is filled from it. Virtual time stands still
// during a run.
type world struct {
	clock    *sim.ManualClock
	market   *sim.Market // nil where the market is a book
	url      string
	root     string
	store    store.Store
	pages    int // the client's wish of deals a page
	attempts int // of the client at one request; 0: as many as it does by itself
	meddle   atomic.Pointer[meddler]
}

// meddler answers a request in the server's place, or says that it has not.
type meddler func(http.ResponseWriter, *http.Request) bool

var epoch = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// newWorld is a world with a simulated market.
func newWorld(t testing.TB, config sim.Config) *world {
	t.Helper()
	clock := sim.NewManualClock(epoch)
	config.Epoch, config.Clock = epoch, clock.Now
	market := sim.New(config)
	w := worldOf(t, clock, market)
	w.market = market
	return w
}

func worldOf(t testing.TB, clock *sim.ManualClock, source serve.Source) *world {
	t.Helper()
	w := &world{clock: clock, root: filepath.Join(t.TempDir(), "lake"), pages: 25, attempts: 2}
	server, err := serve.New(serve.Config{Source: source})
	if err != nil {
		t.Fatal(err)
	}
	api := server.Handler()
	w.serve(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if meddle := w.meddle.Load(); meddle == nil || !(*meddle)(out, r) {
			api.ServeHTTP(out, r)
		}
	}))
	w.store = folder(t, w.root)
	return w
}

// serve puts the market at an address of its own, from which it is pulled from then on.
func (w *world) serve(t testing.TB, handler http.Handler) {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w.url = server.URL
}

func folder(t testing.TB, root string) store.Store {
	t.Helper()
	s, err := dirstore.New(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// interfere has requests answered by m where it wants to; nil: by the market alone.
func (w *world) interfere(m meddler) {
	if m == nil {
		w.meddle.Store(nil)
		return
	}
	w.meddle.Store(&m)
}

// refuse answers all requests for paths under prefix with a status.
func refuse(status int, prefix string) meddler {
	return func(out http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, prefix) {
			return false
		}
		out.WriteHeader(status)
		return true
	}
}

// client pulls from this world. It does not try for long, and is closed at the end of the test.
func (w *world) client(t testing.TB, secret string) (*extract.Client, api.Base) {
	t.Helper()
	base, err := api.ParseBase(w.url)
	if err != nil {
		t.Fatal(err)
	}
	client, err := extract.New(extract.Config{
		Base: base, ClientID: "demo", ClientSecret: api.NewSecret(secret), PageSize: w.pages,
		MaxAttempts: w.attempts, Backoff: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, base
}

// config is a run of this world.
func (w *world) config(t testing.TB) pipeline.Config {
	t.Helper()
	client, base := w.client(t, "demo")
	return pipeline.Config{
		Client: client, Base: base, Store: w.store, RunID: uuid.Must(uuid.NewV7()).String(),
		Clock: w.clock.Now, ServerClock: true, WorkDir: t.TempDir(), Version: "test", Memory: testkit.Allocator(t),
	}
}

// change adapts the configuration of a run.
type change func(*pipeline.Config)

func feeds(of ...api.Feed) change { return func(c *pipeline.Config) { c.Feeds = of } }

// quiet publishes no catalog, which takes the most time where little is pulled.
func quiet(c *pipeline.Config) { c.NoCatalog = true }

// run runs now.
func (w *world) run(t testing.TB, changes ...change) (*pipeline.Result, error) {
	t.Helper()
	cfg := w.config(t)
	for _, adapt := range changes {
		adapt(&cfg)
	}
	return pipeline.Run(t.Context(), cfg)
}

// mustRun runs now, and nothing may be wrong.
func (w *world) mustRun(t testing.TB, changes ...change) *pipeline.Result {
	t.Helper()
	result, err := w.run(t, changes...)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Warnings) > 0 {
		t.Fatal(result.Warnings)
	}
	return result
}

// evening moves the clock to 22:00 of a day after the epoch.
func (w *world) evening(day int) { w.clock.Set(epoch.AddDate(0, 0, day).Add(22 * time.Hour)) }

// log reads the lake's log afresh.
func (w *world) log(t testing.TB) *load.Log {
	t.Helper()
	l, err := load.Open(t.Context(), w.store)
	if err != nil && !errors.Is(err, load.ErrNoLake) {
		t.Fatal(err)
	}
	return l.Log()
}

// night runs in the evening of a day after the epoch, and nothing may be wrong.
func (w *world) night(t testing.TB, day int, changes ...change) *pipeline.Result {
	t.Helper()
	w.evening(day)
	return w.mustRun(t, changes...)
}

// ask opens the lake's catalog for the length of a call.
func (w *world) ask(t testing.TB, questions func(*stdsql.DB)) {
	t.Helper()
	l, err := load.Open(t.Context(), w.store)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := mirror.NewCache(filepath.Join(t.TempDir(), "cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := catalog.Open(t.Context(), l, t.TempDir(), cache)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(t.Context(), catalog.Path, catalog.Root())
	if err != nil {
		t.Fatal(err)
	}
	fetch(t, catalog, db)
	defer func() {
		if err := errors.Join(db.Close(), catalog.Close()); err != nil {
			t.Error(err)
		}
	}()
	// Many small questions are asked: threads of their own cost more than they give.
	if _, err := db.Exec("SET threads = 1"); err != nil {
		t.Fatal(err)
	}
	questions(db)
}

// truth flattens the market's own state, by an oracle that shares no code with transform.
type truth struct {
	oracle *oracle.Oracle
	feeds  []api.Feed                         // that are looked at
	cache  map[string]map[string][]oracle.Row // by feed and body: most deals are as they were yesterday
	live   map[api.Feed]map[int64]bool        // deals that can be known: see visible
}

func newTruth(t testing.TB, feeds ...api.Feed) *truth {
	t.Helper()
	md, err := os.ReadFile("../../testdata/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	o, err := oracle.Parse(md)
	if err != nil {
		t.Fatal(err)
	}
	return &truth{oracle: o, feeds: feeds, cache: map[string]map[string][]oracle.Row{}, live: map[api.Feed]map[int64]bool{}}
}

// rows gives the rows of the feeds' tables as the market is now.
func (tr *truth) rows(t testing.TB, w *world) map[string][]oracle.Row {
	t.Helper()
	all := map[string][]oracle.Row{}
	for _, feed := range tr.feeds {
		for _, deal := range tr.visible(t, w, feed) {
			key := feed.String() + string(deal.Body)
			rows, ok := tr.cache[key]
			if !ok {
				var err error
				if rows, err = tr.oracle.Rows(feed, w.url, deal.Body); err != nil {
					t.Fatalf("%s deal %d: %v", feed, deal.ID, err)
				}
				tr.cache[key] = rows
			}
			for table, of := range rows {
				all[table] = append(all[table], of...)
			}
		}
	}
	return all
}

// visible lists the deals that an extraction can know: those listed, and of those that the list omits
// the ones that stood at the last night. A deal that no list has shown yet is nobody's to know.
func (tr *truth) visible(t testing.TB, w *world, feed api.Feed) []serve.Record {
	t.Helper()
	page, err := w.market.List(t.Context(), serve.Query{Feed: feed, Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	live := map[int64]bool{}
	for _, deal := range page.Records {
		live[deal.ID] = true
	}
	var deals []serve.Record
	for _, deal := range w.market.Deals(feed) {
		if live[deal.ID] || tr.live[feed][deal.ID] {
			live[deal.ID] = true
			deals = append(deals, deal)
		}
	}
	tr.live[feed] = live
	return deals
}

// compare checks what a table expression gives against rows, in the documented columns and those of
// more.
func (tr *truth) compare(t testing.TB, db *stdsql.DB, what string, from func(table string) string, want map[string][]oracle.Row, more ...oracle.Column) {
	t.Helper()
	for _, table := range tr.oracle.Tables() {
		asked := func(f api.Feed) bool {
			return slices.ContainsFunc(lake.FeedTables(f), func(of *lake.Table) bool { return of.Name == table.Name })
		}
		if !slices.ContainsFunc(tr.feeds, asked) {
			continue
		}
		table.Columns = append(slices.Clone(table.Columns), more...)
		got, err := query(t.Context(), db, table, from(table.Name))
		if err != nil {
			t.Fatalf("%s: %s: %v", what, table.Name, err)
		}
		if diff := oracle.Compare(want[table.Name], got); diff != "" {
			t.Fatalf("%s: %s differs:\n%s", what, table.Name, diff)
		}
	}
}

// query reads a table's documented columns in the oracle's spelling.
func query(ctx context.Context, db *stdsql.DB, table oracle.Table, from string) ([]oracle.Row, error) {
	columns := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		columns[i] = fmt.Sprintf("CAST(%q AS VARCHAR)", c.Name)
		if strings.HasPrefix(c.Type, "TIMESTAMP") {
			columns[i] = fmt.Sprintf("strftime(%q AT TIME ZONE 'UTC', '%%Y-%%m-%%dT%%H:%%M:%%S.%%fZ')", c.Name)
		}
	}
	rows, err := db.QueryContext(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM "+from)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []oracle.Row
	values := make([]stdsql.NullString, len(columns))
	places := make([]any, len(columns))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		row := oracle.Row{}
		for i, c := range table.Columns {
			row[c.Name] = cell(c.Type, values[i])
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

func cell(typ string, value stdsql.NullString) any {
	switch {
	case !value.Valid:
		return nil
	case typ == "BOOLEAN":
		return value.String == "true"
	case strings.HasPrefix(typ, "INT"):
		n, err := strconv.ParseInt(value.String, 10, 64)
		if err != nil {
			panic(err)
		}
		return n
	}
	return value.String
}

func asOf(at lake.Instant) func(string) string {
	return func(table string) string { return fmt.Sprintf("%s_as_of(TIMESTAMPTZ '%s')", table, at) }
}

// hears has the log of a run written to said.
func hears(said io.Writer) func(*pipeline.Config) {
	return func(c *pipeline.Config) { c.Log = slog.New(slog.NewTextHandler(said, nil)) }
}
