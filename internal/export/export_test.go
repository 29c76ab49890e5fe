package export_test

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"dealflow/internal/export"
	"dealflow/internal/maintain"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// feeds fill all seventeen tables.
var feeds = world.Feeds(world.Priced, world.Expected, world.LoanPriced, world.LoanExpected)

// writeDeals writes deals of all feeds, whose lists have n entries.
func writeDeals(b *world.Book, first, last int64, message string, n int) {
	list := func(entry string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(entry, i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	text := fmt.Sprintf(`"message":%q`, message)
	sponsors := `"borrower":{"sponsors":{"sponsors":` + list(`{"name":"sponsor %d"}`) + `}}`
	shares := strings.NewReplacer("[", "{", "]", "}").Replace(list(`"kind %d":10.5`))
	b.WriteAll(world.Priced, first, last, text+`,"fxRate":{"usd":1.0123456789},"isinCode":"","banks":`+list(`{"name":"bank %d","status":"lead"}`)+
		`,"priceEvolution":`+list(`{"date":"2026-01-05T10:00:0%dZ","value":"a \"b\", c\nd"}`)+`,"stats":{"investorType":`+shares+`,"geography":`+shares+`}`)
	b.WriteAll(world.Expected, first, last, text+`,"regions":`+list(`"region %d"`)+`,"dealHistory":`+list(`{"headline":"%d","changed":"2026-01-05T10:00:00Z"}`)+
		`,"_embedded":{"tranches":`+list(`{"name":"tranche %d"}`)+`}`)
	b.WriteAll(world.LoanPriced, first, last, text+`,`+sponsors+`,"dealTotal":{"currencies":`+list(`{"amount":%d,"currency":"EUR"}`)+`},"tranches":`+
		list(`{"id":%d,"banks":[{"name":"x"},{"name":"y"}]}`))
	b.WriteAll(world.LoanExpected, first, last, text+`,`+sponsors+`,"tranches":`+list(`{"name":"%d"}`))
}

// exporter exports a lake as the command does.
type exporter struct {
	*world.World
	db   *stdsql.DB // the catalog
	lake *load.Lake
}

// open opens the lake as it is now for the length of a call.
func (e *exporter) open(t *testing.T, use func()) {
	t.Helper()
	e.lake = e.Lake(t)
	e.Ask(t, func(db *stdsql.DB) {
		e.db = db
		use()
	})
}

// export exports to a target; since is as of --since, "" for all.
func (e *exporter) export(t *testing.T, target store.Store, since string, changes ...func(*export.Config)) (*export.Result, error) {
	t.Helper()
	cfg := export.Config{
		Lake: e.lake, Target: target, Since: export.Since{Full: since == ""}, ID: uuid.Must(uuid.NewV7()).String(), Version: "test", WorkDir: t.TempDir(),
	}
	if since != "" {
		var err error
		if cfg.Since, err = export.ParseSince(since); err != nil {
			return nil, err
		}
	}
	for _, change := range changes {
		change(&cfg)
	}
	defer world.WantEmpty(t, cfg.WorkDir)
	planned, err := export.Plan(t.Context(), cfg)
	if err != nil {
		return nil, err
	}
	return planned.Write(t.Context(), e.db)
}

// mustExport is export; an error ends the test.
func (e *exporter) mustExport(t *testing.T, target store.Store, since string, changes ...func(*export.Config)) *export.Result {
	t.Helper()
	result, err := e.export(t, target, since, changes...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// asOf returns the digests of tables as of a commit; without names, of all.
func (e *exporter) asOf(t *testing.T, commit lake.NamedCommit, tables ...string) map[string]string {
	t.Helper()
	at := world.AsOf(commit.KnownAt)
	return digests(t, e.db, func(table string) string { return `(SELECT *, 0 AS "commit" FROM ` + at(table) + ")" }, tables...)
}

// life is what happens to the lake: one commit each, except that the first two make the lake.
func life(t *testing.T, w *world.World, b *world.Book) []func() {
	upkeep := func(c *maintain.Config) { c.NoCatalog = true }
	night := func(day int) { w.Night(t, day, feeds, world.Quiet) }
	return []func(){
		func() {
			writeDeals(b, 1, 24, "first", 3)
			w.Night(t, 0, feeds) // and a catalog, which those of later commits extend
		},
		func() { // changes, lost entries of lists, removals with two reasons, a record that cannot be read
			writeDeals(b, 1, 3, "second", 2)
			writeDeals(b, 4, 4, "no lists", 0)
			b.Strike(world.Priced, 5)
			b.Forbid(world.LoanPriced, 6)
			b.Strike(world.Expected, 7)
			b.Strike(world.LoanExpected, 8)
			b.WriteBody(world.Priced, 9, `{"dealId":9,"dealId":9}`)
			night(1)
		},
		func() { // a sync
			w.Later(10 * time.Hour)
			writeDeals(b, 10, 11, "synced", 4)
			w.MustSync(t, feeds, world.Quiet)
		},
		func() { // reappearances, and a new deal
			writeDeals(b, 5, 6, "again", 1)
			writeDeals(b, 7, 8, "first", 3)
			writeDeals(b, 30, 30, "new", 3)
			b.Write(world.Priced, 9, `"message":"can be read again"`)
			night(2)
		},
		func() {
			if _, err := maintain.Compact(t.Context(), w.Upkeep(t, upkeep)); err != nil {
				t.Fatal(err)
			}
		},
		func() { // changes that are as if nothing had been, except for their version
			writeDeals(b, 1, 1, "other", 1)
			b.Strike(world.LoanPriced, 30)
			night(3)
		},
		func() {
			w.MustReplay(t, "snapshots", "force")
			w.Publish(t)
		},
		func() {
			if _, err := w.Expire(t, maintain.Retention{Days: 1}, true, upkeep); err != nil {
				t.Fatal(err)
			}
		},
		func() { // a deal added and removed in two nights, seen by one of two loaders alone
			writeDeals(b, 40, 41, "short", 2)
			night(4)
		},
		func() {
			for _, feed := range []api.Feed{world.Priced, world.Expected, world.LoanPriced, world.LoanExpected} {
				b.Strike(feed, 40, 41)
			}
			writeDeals(b, 2, 2, "next year", 2)
			w.Night(t, 360, feeds, world.Quiet, world.AcceptRemovals)
		},
	}
}

// TestLoaderHasAsOf has a loader apply export after export of a lake that lives on: nights, syncs, removals,
// reappearances, records that cannot be read, compaction, a forced replay, expiry. After each commit all tables of the
// loader are exactly those of <table>_as_of. So are those of a second loader, which runs the statements of ddl, and whose
// exports skip commits. A third loader begins again with a complete export.
func TestLoaderHasAsOf(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	e := &exporter{World: w}
	each := world.Folder(t, t.TempDir())
	first, second, third := newLoader(t), newStatements(t), newStatements(t)
	steps := life(t, w, b)
	var seen []lake.NamedCommit
	for n, step := range steps {
		step()
		e.open(t, func() {
			since := "last"
			if n == 0 {
				since = ""
			}
			r := e.mustExport(t, each, since)
			if r.Outcome != lake.OutcomeDone {
				t.Fatalf("step %d: outcome %s", n, r.Outcome)
			}
			m := r.Export
			first.apply(t, m, each)
			want := e.asOf(t, m.To)
			first.wantEqual(t, fmt.Sprintf("step %d, commit %d", n, m.To.Number), want)
			command := e.lake.Log().Commits[m.To.Number-1].Command
			if files, _, _ := m.Sums(); (files == 0) != slices.Contains([]string{"compact", "replay", "expire"}, command) {
				t.Errorf("step %d: the export of a %s has %d files", n, command, files)
			}
			if n == 0 {
				wantAllTables(t, m)
			}
			wantProvisional(t, e, m, command)
			if n%4 == 0 || n == len(steps)-1 {
				second.apply(t, e, since)
				second.wantEqual(t, fmt.Sprintf("step %d, statements of ddl", n), want)
			}
			if n == 3 || n == len(steps)-1 { // deals are removed in between
				third.target = world.Folder(t, t.TempDir())
				third.apply(t, e, "")
				third.wantEqual(t, fmt.Sprintf("step %d, a complete export", n), want)
			}
			seen = append(seen, m.To)
			if n == len(steps)-1 {
				second.wantVersions(t, e, 3)
				third.wantVersions(t, e, 1)
				e.wantOlder(t, seen)
				e.wantNDJSON(t, want)
				e.wantKilled(t, seen)
				e.wantRefusals(t, each, seen)
			}
		})
	}
	e.wantRestated(t, each)
}

// wantAllTables checks that the first export has rows in all tables: otherwise the test compares nothing.
func wantAllTables(t *testing.T, m *export.Manifest) {
	t.Helper()
	if len(m.Tables) != len(lake.Tables()) || m.From != nil {
		t.Errorf("the first export has %d tables, from %v", len(m.Tables), m.From)
	}
	for i := range m.Tables {
		if m.Tables[i].Inserts == nil || m.Tables[i].Mode != export.ModeFull || m.Tables[i].Deletes != nil {
			t.Errorf("the first export: %+v, want rows of a complete table", m.Tables[i])
		}
	}
}

// wantProvisional checks what the manifest says about complete snapshots, by a count of the versions of syncs.
func wantProvisional(t *testing.T, e *exporter, m *export.Manifest, command string) {
	t.Helper()
	var total int64
	for _, f := range m.Feeds {
		if f.Complete == nil {
			if slices.Contains([]string{"bond/ig/priced", "bond/ig/expected", "loan/ll/priced", "loan/ll/expected"}, f.Feed.String()) {
				t.Errorf("commit %d: %s has no complete snapshot", m.To.Number, f.Feed)
			}
			continue
		}
		run := e.lake.Log().Commits[f.Complete.Number-1]
		if run.Command != "run" || command == "run" && f.Complete.Number != m.To.Number {
			t.Errorf("commit %d: the last complete snapshot of %s is that of commit %d, a %s", m.To.Number, f.Feed, f.Complete.Number, run.Command)
		}
		total += f.Provisional
	}
	want := int64(0)
	if command == "sync" {
		want = 2 * 4 // deals 10 and 11 of four feeds
	}
	if total != want {
		t.Errorf("commit %d, a %s: %d provisional deals, want %d", m.To.Number, command, total, want)
	}
}

// wantOlder exports the complete lake as of an older commit, and from there to another one that is not the newest.
func (e *exporter) wantOlder(t *testing.T, seen []lake.NamedCommit) {
	t.Helper()
	target, l := world.Folder(t, t.TempDir()), newLoader(t)
	since := ""
	for _, to := range []lake.NamedCommit{seen[1], seen[5]} {
		l.apply(t, e.mustExport(t, target, since, few, func(cfg *export.Config) { cfg.To = to.Number }).Export, target)
		for table, want := range e.asOf(t, to, "bond_priced_banks", "loan_priced_sponsors") {
			if got := digest(t, l.db, table); got != want {
				t.Errorf("commit %d: %s: the loader has %s, the lake says %s (rows, sum)", to.Number, table, got, want)
			}
		}
		since = fmt.Sprintf("%d:%s", to.Number, to.SHA256[:12])
	}
}

// wantNDJSON loads the lake from lines of JSON: NULL differs from the empty text, and all digits are there. (The statements
// of ddl load CSV.)
func (e *exporter) wantNDJSON(t *testing.T, want map[string]string) {
	t.Helper()
	target, l := world.Folder(t, t.TempDir()), newLoader(t)
	l.apply(t, e.mustExport(t, target, "", func(cfg *export.Config) { cfg.Format = "ndjson" }).Export, target)
	l.wantEqual(t, "ndjson", want)
}

// few are two tables of one feed kind, and one of another.
func few(cfg *export.Config) {
	cfg.Tables = []string{"bond_priced_banks", "bond_priced_geographies", "loan_priced_sponsors"}
}

// wantKilled ends an export at one call of the target after the other, before and after it is applied. Without a manifest
// there is no export; with it, the next call finds a complete one.
func (e *exporter) wantKilled(t *testing.T, seen []lake.NamedCommit) {
	t.Helper()
	since := fmt.Sprint(seen[1].Number)
	outcomes := map[string]int{}
	undisturbed := &faultstore.Store{Store: new(memstore.Mem)}
	e.mustExport(t, undisturbed, since, few)
	for call := int64(1); call <= undisturbed.Calls(); call++ {
		for _, applied := range []bool{true, false} {
			if !applied && call%2 == 1 {
				continue
			}
			target := new(memstore.Mem)
			_, err := e.export(t, &faultstore.Store{Store: target, FailAt: call, Applied: applied}, since, few)
			if !errors.Is(err, faultstore.ErrInjected) {
				t.Errorf("call %d: got %v, want the injected fault", call, err)
			}
			r := e.mustExport(t, target, since, few)
			outcomes[r.Outcome]++
			for i := range r.Export.Tables {
				for _, f := range []*export.File{r.Export.Tables[i].Deletes, r.Export.Tables[i].Inserts} {
					if f == nil {
						continue
					}
					if data := storetest.Bytes(t, target, f.Path); lake.SHA256(data) != f.SHA256 || int64(len(data)) != f.Bytes {
						t.Errorf("call %d: %s is not what the manifest says", call, f.Path)
					}
				}
			}
		}
	}
	if outcomes[lake.OutcomeDone] < 6 || outcomes[lake.OutcomeUnchanged] != 1 {
		t.Errorf("the next calls ended with %v, want one that found the manifest, and others that did not", outcomes)
	}
}

// wantOvertaken plans two exports from the same commit, and writes one after the other. Only one becomes visible.
func (e *exporter) wantOvertaken(t *testing.T, target store.Store, since string, shorter, longer func(*export.Config)) {
	t.Helper()
	plan := func(change func(*export.Config)) *export.Export {
		cfg := export.Config{Lake: e.lake, Target: target, ID: uuid.Must(uuid.NewV7()).String(), Version: "test", WorkDir: t.TempDir()}
		change(&cfg)
		var err error
		if cfg.Since, err = export.ParseSince(since); err != nil {
			t.Fatal(err)
		}
		planned, err := export.Plan(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return planned
	}
	slow, fast := plan(shorter), plan(longer)
	if _, err := fast.Write(t.Context(), e.db); err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Write(t.Context(), e.db); err == nil || !strings.Contains(err.Error(), "another one has ended in the meantime") {
		t.Errorf("the slow export: got %v, want it to be refused", err)
	}
}

// readManifests counts the manifests that are read of a target.
type readManifests struct {
	store.Store
	n atomic.Int64
}

func (r *readManifests) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if strings.HasPrefix(key, "manifests/") {
		r.n.Add(1)
	}
	return r.Store.Get(ctx, key)
}

// wantRefusals asks for what cannot be exported.
func (e *exporter) wantRefusals(t *testing.T, done store.Store, seen []lake.NamedCommit) {
	t.Helper()
	newest := seen[len(seen)-1]
	before := world.Keys(t, done)
	if r := e.mustExport(t, done, "last"); r.Outcome != lake.OutcomeUnchanged || r.Export != nil {
		t.Errorf("without a new commit: %+v", r)
	}
	counted := &readManifests{Store: done}
	e.mustExport(t, counted, "last")
	if n, all := counted.n.Load(), len(seen); n > 4 {
		t.Errorf("%d of %d manifests were read to continue, want the newest and those that end with the newest commit", n, all)
	}
	if r := e.mustExport(t, done, fmt.Sprint(seen[len(seen)-2].Number)); r.Outcome != lake.OutcomeUnchanged || r.Export.To.SHA256 != newest.SHA256 {
		t.Errorf("the same export again: %+v", r)
	}
	for name, c := range map[string]struct {
		target store.Store
		since  string
		change func(*export.Config)
		want   string
		is     error
	}{
		"nothing before":     {new(memstore.Mem), "last", few, "has no export of bond_priced_banks to continue from; begin with --full", export.ErrUsage},
		"an empty target":    {new(memstore.Mem), "last", nil, "has no export of bond_priced_deals to continue from", export.ErrUsage},
		"no such commit":     {done, "999", nil, "commit 999 does not exist: want one from 1 to", export.ErrUsage},
		"lost":               {done, "999:" + newest.SHA256, nil, "does not have that commit, and ends before it", export.ErrFork},
		"another hash":       {done, "2:0123456789abcdef", nil, "and has commit 2 (SHA-256 " + seen[1].SHA256[:12], export.ErrFork},
		"a short hash":       {done, "2:0123", nil, "want last, the number of a commit", export.ErrUsage},
		"no number":          {done, "yesterday", nil, "want last, the number of a commit", export.ErrUsage},
		"backwards":          {done, "4", func(c *export.Config) { c.To = 3 }, "want a later end", export.ErrUsage},
		"no such end":        {done, "4", func(c *export.Config) { c.To = 99 }, "commit 99 does not exist", export.ErrUsage},
		"no such table":      {done, "last", func(c *export.Config) { c.Tables = []string{"deals"} }, `no table "deals"`, export.ErrUsage},
		"no such format":     {done, "last", func(c *export.Config) { c.Format = "xml" }, "want parquet, csv, ndjson", export.ErrUsage},
		"another format":     {done, fmt.Sprint(seen[0].Number), func(c *export.Config) { c.To, c.Format = seen[1].Number, "csv" }, "are in the format parquet, not in csv", export.ErrUsage},
		"inside of the lake": {world.Folder(t, e.Root+"/export"), "", nil, "outside of the lake", export.ErrUsage},
	} {
		change := func(*export.Config) {}
		if c.change != nil {
			change = c.change
		}
		_, err := e.export(t, c.target, c.since, change)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	from := func(n int) string { return fmt.Sprint(seen[n].Number) }
	to := func(n int) func(*export.Config) { return func(c *export.Config) { few(c); c.To = seen[n].Number } }
	chain := new(memstore.Mem)
	e.mustExport(t, chain, "", to(1))
	e.mustExport(t, chain, from(1), to(2))
	for _, c := range []struct {
		since string
		to    int
	}{{from(1), 3}, {from(0), 3}, {from(3), 4}} { // before the end of the chain, and after a gap
		if _, err := e.export(t, chain, c.since, to(c.to)); !errors.Is(err, export.ErrUsage) || !strings.Contains(err.Error(), "run `dealflow export --since last` to continue them") {
			t.Errorf("after %s, to %d: got %v, want a refusal", c.since, seen[c.to].Number, err)
		}
	}
	e.mustExport(t, chain, from(0), to(2)) // it ends where the chain ends
	e.mustExport(t, chain, from(0), to(1)) // it ends where another begins
	only := func(table string, n int) func(*export.Config) {
		return func(c *export.Config) { c.Tables, c.To = []string{table}, seen[n].Number }
	}
	apart := new(memstore.Mem) // exports of two tables, each on its own
	e.mustExport(t, apart, "", only("bond_priced_banks", 1))
	e.mustExport(t, apart, "", only("loan_priced_sponsors", 3))
	e.mustExport(t, apart, from(3), only("loan_priced_sponsors", 4))
	if _, err := e.export(t, apart, from(2), only("bond_priced_banks", 3)); !errors.Is(err, export.ErrUsage) || !strings.Contains(err.Error(), "has exports of bond_priced_banks up to commit") {
		t.Errorf("an export that meets those of another table: got %v, want a refusal", err)
	}
	e.mustExport(t, apart, from(1), only("bond_priced_banks", 3))
	e.wantOvertaken(t, chain, from(2), to(3), to(4))
	partly := new(memstore.Mem)
	e.mustExport(t, partly, "", few, func(c *export.Config) { c.To = seen[2].Number })
	for name, again := range map[string]func(*export.Config){
		"has exports of bond_priced_banks up to commit":    func(c *export.Config) { few(c); c.To = seen[3].Number },
		"are in the format parquet, not in csv":            func(c *export.Config) { few(c); c.To, c.Format = seen[2].Number, "csv" },
		"has exports of loan_priced_sponsors up to commit": func(c *export.Config) { c.Tables, c.To = []string{"loan_priced_sponsors"}, seen[3].Number },
	} {
		if _, err := e.export(t, partly, "", again); !errors.Is(err, export.ErrUsage) || !strings.Contains(err.Error(), name) {
			t.Errorf("a second full export: got %v, want %q", err, name)
		}
	}
	e.mustExport(t, partly, "", few, func(c *export.Config) { c.To = seen[2].Number }) // the same again
	e.mustExport(t, partly, fmt.Sprint(seen[2].Number), func(c *export.Config) { c.Tables, c.To = []string{"loan_priced_sponsors"}, seen[3].Number })
	if _, err := e.export(t, partly, "last"); !errors.Is(err, export.ErrUsage) || !strings.Contains(err.Error(), "name --since and --tables for each") {
		t.Errorf("tables that were exported up to different commits: got %v", err)
	}
	if after := world.Keys(t, done); !slices.Equal(before, after) {
		t.Errorf("a refused export has put objects: %d before, %d after", len(before), len(after))
	}
}

// wantRestated damages a row of history, as an older program may have read it otherwise. That is another lake than the one
// that was exported. In it a replay corrects the row, which an export says, until it may export the table completely.
func (e *exporter) wantRestated(t *testing.T, done store.Store) {
	t.Helper()
	newest := e.Lake(t).Log().Number
	d := &world.Damager{TB: t, Store: e.Store}
	d.Do("delete " + lake.CatalogKey) // it names the commits as they were
	d.Do(fmt.Sprintf("rows history.bond_priced_banks/IG@%d set 1 name another", newest))
	target, l := world.Folder(t, t.TempDir()), newLoader(t)
	e.open(t, func() {
		for _, since := range []string{"last", "", "2"} {
			if _, err := e.export(t, done, since); !errors.Is(err, export.ErrFork) {
				t.Errorf("since %q of a lake with other commits: got %v, want ErrFork", since, err)
			}
		}
		l.apply(t, e.mustExport(t, target, "").Export, target)
	})
	if r := e.MustReplay(t); r.Equal {
		t.Fatal("the replay has found nothing")
	}
	e.open(t, func() {
		var restated *export.RestatedError
		if _, err := e.export(t, target, "last"); !errors.As(err, &restated) || !slices.Equal(restated.Tables, []string{"bond_priced_banks"}) || restated.Commits[0] != newest+1 {
			t.Errorf("after a replay: got %v, want that it has restated bond_priced_banks", err)
		}
		e.mustExport(t, target, "last", func(c *export.Config) { c.Tables = []string{"bond_priced_deals"} }) // not concerned
		target = world.Folder(t, t.TempDir())
		m := e.mustExport(t, target, fmt.Sprint(newest), func(c *export.Config) { c.IncludeRestated = true }).Export
		l.apply(t, m, target)
		l.wantEqual(t, "a restated table", e.asOf(t, m.To))
	})
}

// TestCompleteSnapshotTakenBack exports a lake whose last night was taken back: the night before is the last complete
// snapshot, and the deal that came with the bad night is provisional.
func TestCompleteSnapshotTakenBack(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	b.Write(world.Priced, 4, "")
	w.Night(t, 1, world.Feeds(world.Priced), world.Quiet)
	dropped := maintain.ExpireConfig{Config: w.Upkeep(t), DropDay: "2026-01-06", Apply: true}
	if _, err := maintain.Expire(t.Context(), dropped); err != nil {
		t.Fatal(err)
	}
	e := &exporter{World: w}
	e.open(t, func() {
		for _, f := range e.mustExport(t, world.Folder(t, t.TempDir()), "", few).Export.Feeds {
			if f.Feed == world.Priced && (f.Complete == nil || f.Complete.Number != 1 || f.Provisional != 1) {
				t.Errorf("got %+v, want commit 1 and one provisional deal", f)
			}
		}
	})
}
