package pipeline_test

import (
	stdsql "database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/pipeline"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// lines gives the rows of a query, each as its columns joined by blanks; NULL is "-".
func lines(t testing.TB, db *stdsql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]any, len(columns))
	places := make([]any, len(columns))
	for i := range values {
		places[i] = &values[i]
	}
	var all []string
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		cells := make([]string, len(values))
		for i, value := range values {
			cells[i] = "-"
			if value != nil {
				cells[i] = fmt.Sprint(value)
			}
		}
		all = append(all, strings.Join(cells, " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	return all
}

// wantLines checks what a query gives, in order.
func wantLines(t testing.TB, db *stdsql.DB, query string, want ...string) {
	t.Helper()
	if got := lines(t, db, query); !slices.Equal(got, want) {
		t.Errorf("%s\n got %q\nwant %q", query, got, want)
	}
}

// versions asks for the versions of a feed's deals from first to last: id, version, change, reason.
func versions(feed api.Feed, first, last int64) string {
	return fmt.Sprintf(`SELECT deal_id, version, change, reason FROM history.deal_versions
		WHERE service = '%s' AND market = '%s' AND kind = '%s' AND deal_id BETWEEN %d AND %d ORDER BY deal_id, version`,
		feed.Service, feed.Market, feed.Kind, first, last)
}

// wantAgreement checks on every table of some feeds that each day's snapshot is the history as of the
// commit that took it, row for row, both ways.
func wantAgreement(t testing.TB, db *stdsql.DB, feeds ...api.Feed) {
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
		if got := lines(t, db, both); !slices.Equal(got, []string{"0 0"}) {
			t.Errorf("%s: rows that only history has, and only the snapshots: got %q, want 0 0", table.Name, got)
		}
	}
}

// wantInstants checks that known_at rises from commit to commit, and lies after all that was observed
// for it.
func wantInstants(t testing.TB, db *stdsql.DB) {
	t.Helper()
	wantLines(t, db, `SELECT count(*) FROM (SELECT known_at, lag(known_at) OVER (ORDER BY "commit") AS before FROM runs) WHERE known_at <= before`, "0")
	wantLines(t, db, `SELECT count(*) FROM history.deal_versions WHERE observed_at >= known_at`, "0")
	wantLines(t, db, `SELECT count(*) FROM history.deal_versions WHERE valid_to <= valid_from`, "0")
	wantLines(t, db, `SELECT count(*) FROM (SELECT 1 FROM history.deal_versions WHERE valid_to IS NULL GROUP BY service, market, kind, deal_id HAVING count(*) <> 1)`, "0")
}

// feedRun finds what became of a feed.
func feedRun(t testing.TB, result *pipeline.Result, feed api.Feed) lake.FeedRun {
	t.Helper()
	i := slices.IndexFunc(result.Feeds, func(f lake.FeedRun) bool { return f.Feed == feed })
	if i < 0 {
		t.Fatalf("%s was not pulled, only %d other feeds", feed, len(result.Feeds))
	}
	return result.Feeds[i]
}

// wantOutcomes checks which feeds a run pulled, in order, and what became of each.
func wantOutcomes(t testing.TB, result *pipeline.Result, want ...string) {
	t.Helper()
	if result == nil {
		t.Fatalf("got no result, want %q", want)
	}
	var got []string
	for _, f := range result.Feeds {
		got = append(got, f.Feed.String()+" "+f.Outcome)
	}
	if !slices.Equal(got, want) {
		t.Errorf("outcomes: got %q, want %q", got, want)
	}
}

// counts gives a feed's figures in the order added, changed, removed, reappeared, unchanged, quarantined.
func counts(f lake.FeedRun) [6]int64 {
	return [6]int64{f.Added, f.Changed, f.Removed, f.Reappeared, f.Unchanged, f.Quarantined}
}

func wantCounts(t testing.TB, result *pipeline.Result, feed api.Feed, want [6]int64) {
	t.Helper()
	if got := counts(feedRun(t, result, feed)); got != want {
		t.Errorf("%s: added, changed, removed, reappeared, unchanged, quarantined: got %v, want %v", feed, got, want)
	}
}
