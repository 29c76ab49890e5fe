package catalog_test

import (
	stdsql "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/catalog"
	"dealflow/internal/maintain"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
	"dealflow/sql"
	"dealflow/sql/engine"
)

// TestCut checks that a catalog that is cut at a commit answers as the complete one does as of that instant: each table, its
// history, its snapshots, and the runs. The lake has removals, a day that was pulled three times and once more for one feed, one
// that was dropped for that feed and pulled again, and was then compacted and replayed. Its files are in no folder, as those of a bucket.
func TestCut(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a short run, under the race detector: a cut has one goroutine")
	}
	w := world.EventfulNights(t)
	w.Later(time.Hour)
	w.MustRun(t, world.Feeds(world.Priced), world.Quiet)
	if _, err := maintain.Expire(t.Context(), maintain.ExpireConfig{Config: w.Upkeep(t), DropDay: "2026-01-07", DropFeeds: []api.Feed{world.Priced}, Apply: true}); err != nil {
		t.Fatal(err)
	}
	w.Later(time.Hour)
	w.MustRun(t, world.Feeds(world.Priced), world.Quiet)
	w.MustReplay(t, "force", "snapshots")
	w.MustCompact(t)
	w.Later(30 * 24 * time.Hour) // its snapshots are of a later month
	w.MustRun(t, world.Feeds(world.Priced), world.Quiet)
	w.Store = world.CopyStore(t, w.Store, new(memstore.Mem))
	w.Publish(t)
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	cache, err := mirror.NewCache(filepath.Join(folder, "cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := catalog.Open(t.Context(), l, folder, cache)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	log := l.Log()
	var paths []string // before any file of the lake is fetched
	for i := range log.Commits {
		c := &log.Commits[i]
		path := filepath.Join(folder, fmt.Sprintf("cut-%d.duckdb", c.Number))
		if err := whole.Cut(t.Context(), whole.Path, path, c.KnownAt, lake.NamedCommit{Number: c.Number, KnownAt: c.KnownAt}); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	w.Ask(t, func(full *stdsql.DB) {
		for i, path := range paths {
			compareCut(t, full, path, log, &log.Commits[i])
		}
	})
}

func compareCut(t *testing.T, full *stdsql.DB, path string, log *load.Log, c *lake.Commit) {
	t.Helper()
	var root string
	if err := full.QueryRowContext(t.Context(), "SELECT getvariable('lake')").Scan(&root); err != nil {
		t.Fatal(err)
	}
	cut, err := sql.Open(t.Context(), path, root)
	if err != nil {
		t.Fatal(err)
	}
	defer cut.Close()
	at := "TIMESTAMPTZ '" + c.KnownAt.String() + "'"
	compare := func(now, then string) {
		t.Helper()
		got, want := world.SortedRows(t, cut, "FROM "+now), world.SortedRows(t, full, "FROM "+then)
		if !slices.Equal(got, want) {
			t.Errorf("commit %d: %s has %d rows, want %d as of %s: %.300v\nwant %.300v", c.Number, now, len(got), len(want), at, got, want)
		}
	}
	ended := func(table string) string {
		return "(SELECT * REPLACE (CASE WHEN valid_to <= " + at + " THEN valid_to END AS valid_to) FROM " + table + " WHERE valid_from <= " + at + ")"
	}
	for i, name := range fedTables {
		table, ok := lake.TableByName(name)
		if !ok {
			t.Fatal(name)
		}
		if (i+int(c.Number))%2 == 0 { // each at half of the commits: time
			compare(name, name+"_as_of("+at+")")
			compare("history."+name, ended("history."+name))
		}
		compare("snapshots."+name, "snapshots."+name+" WHERE "+knownDays(table, log, c.KnownAt))
	}
	later := "SELECT view_name FROM duckdb_views() WHERE regexp_matches(view_name, '_[0-9]{4}_[0-9]{2}$') AND right(view_name, 7) > '" + c.KnownAt.Format("2006_01") + "'"
	if names := world.SortedRows(t, cut, later); len(names) > 0 {
		t.Errorf("commit %d: the cut has views of later months: %v", c.Number, names)
	}
	if c.Number == 1 && len(world.SortedRows(t, full, later)) == 0 {
		t.Error("the lake has no later month")
	}
	compare("deals", "deals_as_of("+at+")")
	compare("history.deal_versions", ended("history.deal_versions"))
	for _, table := range []string{"runs", "checks", "field_change"} {
		compare(table, table+" WHERE known_at <= "+at)
	}
	compare("feed_runs", "feed_runs WHERE run_id IN (SELECT run_id FROM runs WHERE known_at <= "+at+")")
	compare(`(SELECT "commit", known_at FROM catalog_info)`, fmt.Sprintf("(SELECT %d::BIGINT, %s)", c.Number, at))
}

// fedTables are the tables that the lake of TestCut has rows of, and one that it has none of.
var fedTables = []string{"bond_priced_deals", "bond_priced_banks", "bond_expected_deals", "bond_expected_tranches", "loan_expected_deals", "loan_priced_deals"}

// knownDays is the condition for the rows of a table's snapshots that were complete and known at an instant: the last run that
// took that day's snapshot of the feed was known.
func knownDays(table *lake.Table, log *load.Log, at lake.Instant) string {
	last := map[string]lake.Instant{}
	for i := range log.Commits {
		for _, f := range log.Commits[i].Feeds {
			if f.Feed.Service == table.Service && f.Feed.Kind == table.Kind && f.Outcome == lake.OutcomeDone && log.Commits[i].SnapshotDate != "" {
				last[fmt.Sprintf("('%s', DATE '%s')", f.Feed.Market, log.Commits[i].SnapshotDate)] = log.Commits[i].KnownAt
			}
		}
	}
	days := []string{"('', DATE '2000-01-01')"}
	for day, taken := range last {
		if !taken.After(at.Time) {
			days = append(days, day)
		}
	}
	return "(market, snapshot_date) IN (" + strings.Join(days, ", ") + ")"
}

// TestCutIsThePast keeps the catalog of the second of a market's three nights, and cuts that of the third at this night. All
// tables in the file of the cut, and all that a statement can read, have the rows that they had then. (A form as of an
// instant has them, too: TestNoLookAhead.)
func TestCutIsThePast(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	if testing.Short() {
		t.Skip("a short run, under the race detector: a cut has one goroutine")
	}
	w := world.New(t, sim.Config{Seed: 7, Deals: 20})
	w.Night(t, 0, world.Quiet)
	w.Night(t, 2)
	folder := t.TempDir()
	data, err := os.ReadFile(filepath.Join(w.Root, lake.CatalogKey))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "then.duckdb"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Night(t, 4)
	l := w.Lake(t)
	last, err := catalog.Open(t.Context(), l, folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	shown, ok := l.Log().Named(2)
	if !ok {
		t.Fatal("no commit 2")
	}
	if err := last.Cut(t.Context(), last.Path, filepath.Join(folder, "cut.duckdb"), shown.KnownAt, shown); err != nil {
		t.Fatal(err)
	}
	cut, then := openFile(t, filepath.Join(folder, "cut.duckdb"), w.Root), openFile(t, filepath.Join(folder, "then.duckdb"), w.Root)
	rows := 0
	same := func(text string) {
		t.Helper()
		got, want := world.SortedRows(t, cut, text), world.SortedRows(t, then, text)
		if rows += len(want); !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d: %.300v\nwant %.300v", text, len(got), len(want), got, want)
		}
	}
	for _, name := range world.SortedRows(t, then, `
SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE database_name = current_database()
UNION ALL SELECT schema_name || '.' || view_name FROM duckdb_views()
WHERE database_name = current_database() AND NOT internal AND schema_name = 'main'`) {
		if !slices.Contains(presentNames, name) {
			same("FROM " + name)
		}
	}
	analyses, err := sql.Analyses()
	if err != nil {
		t.Fatal(err)
	}
	deal := world.SortedRows(t, then, "SELECT min(deal_id) FROM deals WHERE service = 'loan' AND market = 'LL' AND kind = 'priced'")[0]
	for i := range analyses {
		for _, question := range analyses[i].AsOf {
			same("FROM " + strings.NewReplacer("{as_of}", "'infinity'", "{feed}", "'loan', 'LL', 'priced'", "{deal_id}", deal).Replace(question))
		}
	}
	if rows < 1000 {
		t.Errorf("only %d rows", rows)
	}
}

// TestCutBeforeAnyEnd cuts a catalog at its first night, when no version had ended: all of them are the newest ones. There are more of them
// than DuckDB handles at once, and each night has its catalog: fewer would not show what an UPDATE leaves.
func TestCutBeforeAnyEnd(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 7, Deals: 400})
	w.Night(t, 0)
	then := w.Log(t)
	w.Night(t, 2)
	w.Night(t, 4)
	folder := t.TempDir()
	last, err := catalog.Open(t.Context(), w.Lake(t), folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	path := filepath.Join(folder, "cut.duckdb")
	if err := last.Cut(t.Context(), last.Path, path, then.KnownAt, lake.NamedCommit{Number: then.Number, KnownAt: then.KnownAt}); err != nil {
		t.Fatal(err)
	}
	cut := openFile(t, path, w.Root)
	all := world.SortedRows(t, cut, "SELECT count(*) FROM history.deal_versions")[0]
	for _, where := range []string{"valid_to IS NULL", "valid_from = (SELECT known_at FROM catalog_info)"} {
		if got := world.SortedRows(t, cut, "SELECT count(*) FROM history.deal_versions WHERE "+where)[0]; got != all || all == "0" {
			t.Errorf("%s of %s versions have %s", got, all, where)
		}
	}
	if got := world.SortedRows(t, cut, "SELECT count(*) FROM deals")[0]; got != all {
		t.Errorf("%s deals, want %s", got, all)
	}
}

// presentNames say nothing of what became known: in a cut they are as they are now, or empty.
var presentNames = []string{
	"_dealflow.spelling",      // today's reading of names
	"_dealflow.file_view",     // where the rows are now
	"_dealflow.field_seen",    // for the next commit
	"_dealflow.tranche_known", // for the next commit
	"main.lake_help",          // the name of the file
}

// openFile opens a catalog file until the test ends.
func openFile(t *testing.T, path, root string) *stdsql.DB {
	t.Helper()
	db, err := sql.Open(t.Context(), path, root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), engine.Threads(1)); err != nil {
		t.Fatal(err)
	}
	return db
}
