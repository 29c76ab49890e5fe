package catalog_test

import (
	stdsql "database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/catalog"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
	"dealflow/sql"
)

// TestCut checks that a catalog that is cut at a commit answers as the complete one does as of that instant: each table, its
// history, its snapshots, the runs, and the analyses. The lake has removals, a day that was pulled three times and once more for
// one feed, and was then compacted and replayed. Its files are in no folder, as those of a bucket.
func TestCut(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a short run, under the race detector: a cut has one goroutine")
	}
	w := world.EventfulNights(t)
	w.Later(time.Hour)
	w.MustRun(t, world.Feeds(world.Priced), world.Quiet)
	w.MustReplay(t, "force", "snapshots")
	w.MustCompact(t)
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
	for _, table := range lake.Tables() {
		if !slices.Contains(fedTables, table.Name) {
			continue
		}
		compare(table.Name, table.Name+"_as_of("+at+")")
		compare("history."+table.Name, ended("history."+table.Name))
		compare("snapshots."+table.Name, "snapshots."+table.Name+" WHERE "+knownDays(table, log, c.KnownAt))
	}
	compare("deals", "deals_as_of("+at+")")
	compare("history.deal_versions", ended("history.deal_versions"))
	for _, table := range []string{"runs", "checks", "field_change"} {
		compare(table, table+" WHERE known_at <= "+at)
	}
	compare("feed_runs", "feed_runs WHERE run_id IN (SELECT run_id FROM runs WHERE known_at <= "+at+")")
	compare(`(SELECT "commit", known_at FROM catalog_info)`, fmt.Sprintf("(SELECT %d::BIGINT, %s)", c.Number, at))
	analyses, err := sql.Analyses()
	if err != nil {
		t.Fatal(err)
	}
	for i := range analyses {
		if question := analyses[i].AsOf[0]; i%len(log.Commits) == int(c.Number)%len(log.Commits) && !strings.Contains(question, "{feed}") {
			compare(strings.ReplaceAll(question, "{as_of}", "'infinity'"), strings.ReplaceAll(question, "{as_of}", at))
		}
	}
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
