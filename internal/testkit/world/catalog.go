package world

import (
	stdsql "database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql"
	"dealflow/sql/engine"
)

// Ask opens the lake's catalog as a query does, for the length of a call. All files of the lake are at hand.
func (w *World) Ask(t testing.TB, ask func(*stdsql.DB)) {
	t.Helper()
	db, closeCatalog := w.openCatalog(t)
	defer func() {
		if err := closeCatalog(); err != nil {
			t.Error(err)
		}
	}()
	// Tests ask many small queries: DuckDB's threads cost more than they save.
	if _, err := db.ExecContext(t.Context(), engine.Threads(1)); err != nil {
		t.Fatal(err)
	}
	ask(db)
}

// Published opens the catalog file that is in the lake's folder, for the length of a call. Unlike Ask it never
// makes a catalog.
func (w *World) Published(t testing.TB, ask func(*stdsql.DB)) {
	t.Helper()
	db, done, err := sql.OpenApart(t.Context(), filepath.Join(w.Root, lake.CatalogKey), w.Root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ask(db)
	if err := done(); err != nil {
		t.Fatal(err)
	}
}

// allTables is a text that names all tables, so that a catalog fetches all files of a remote lake for it.
func allTables() string {
	text := "history.deal_versions history snapshots"
	for _, table := range lake.Tables() {
		text += " " + table.Name
	}
	return text
}

// Answers reads all tables through the catalog: now, their history, their snapshots; and the deals as of each
// commit that pulled a feed, with some tables as of some of these commits. The keys are table expressions.
func (w *World) Answers(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	log := w.Log(t)
	w.Ask(t, func(db *stdsql.DB) {
		read := func(from string) { all[from] = strings.Join(Lines(t, db, "SELECT * FROM "+from+" ORDER BY ALL"), "\n") }
		for _, table := range lake.Tables() {
			read(table.Name)
			read("history." + table.Name)
			read("snapshots." + table.Name)
		}
		read("history.deal_versions")
		read("deals")
		for i := range log.Commits {
			if len(log.Commits[i].Feeds) == 0 {
				continue
			}
			read(AsOf(log.Commits[i].KnownAt)("deals"))
			for _, table := range lake.Tables() {
				if table.Depth() < 2 && i%5 == 0 {
					read(AsOf(log.Commits[i].KnownAt)(table.Name))
				}
			}
		}
	})
	return all
}

// WantAnswers compares Answers with earlier ones.
func WantAnswers(t testing.TB, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d questions were answered, %d before", len(got), len(want))
	}
	for _, question := range slices.Sorted(maps.Keys(want)) {
		if got[question] != want[question] {
			t.Errorf("%s: the answer has changed:\n got %.500s\nwant %.500s", question, got[question], want[question])
		}
	}
}

// WantAgreement checks on every table of some feeds that each day's snapshot is the history as of the
// commit that took it, row for row, both ways.
func WantAgreement(t testing.TB, db *stdsql.DB, feeds ...api.Feed) {
	t.Helper()
	for _, table := range lake.Tables() {
		if !slices.ContainsFunc(feeds, func(f api.Feed) bool { return f.Service == table.Service && f.Kind == table.Kind }) {
			continue
		}
		var columns []string
		for _, c := range table.HistoryColumns() {
			columns = append(columns, `h."`+c.Name+`"`)
		}
		both := fmt.Sprintf(`
WITH taken AS (
  SELECT f.market, r.snapshot_date, max(r.known_at) AS known_at
  FROM feed_runs f JOIN runs r USING (run_id)
  WHERE f.service = '%s' AND f.kind = '%s' AND f.outcome = 'done' AND r.snapshot_date IS NOT NULL
  GROUP BY ALL),
remembered AS (
  SELECT %s, taken.snapshot_date
  FROM history.%s h JOIN taken ON h.market = taken.market
   AND h.valid_from <= taken.known_at AND (h.valid_to IS NULL OR h.valid_to > taken.known_at)),
taken_down AS (FROM snapshots.%s)
SELECT (SELECT count(*) FROM (FROM remembered EXCEPT ALL FROM taken_down)),
       (SELECT count(*) FROM (FROM taken_down EXCEPT ALL FROM remembered))`,
			table.Service, table.Kind, strings.Join(columns, ", "), table.Name, table.Name)
		if got := Lines(t, db, both); !slices.Equal(got, []string{"0 0"}) {
			t.Errorf("%s: rows that only history has, and only the snapshots: got %q, want 0 0", table.Name, got)
		}
	}
}

// WantInstants checks that known_at rises from commit to commit, that it is after all observations of its
// commit, and that of each deal exactly one version is valid without end.
func WantInstants(t testing.TB, db *stdsql.DB) {
	t.Helper()
	WantLines(t, db, `SELECT count(*) FROM (SELECT known_at, lag(known_at) OVER (ORDER BY "commit") AS before FROM runs) WHERE known_at <= before`, "0")
	WantLines(t, db, `SELECT count(*) FROM history.deal_versions WHERE observed_at >= known_at`, "0")
	WantLines(t, db, `SELECT count(*) FROM history.deal_versions WHERE valid_to <= valid_from`, "0")
	WantLines(t, db, `SELECT count(*) FROM (SELECT 1 FROM history.deal_versions WHERE valid_to IS NULL GROUP BY service, market, kind, deal_id HAVING count(*) <> 1)`, "0")
}
