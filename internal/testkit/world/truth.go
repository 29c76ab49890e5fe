package world

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/oracle"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/sql/quote"
)

// Truth is what a lake should contain of a simulated market: the market's own state, flattened by an oracle
// that shares no code with transform. It remembers from night to night which deals can be known. One
// goroutine uses it at a time.
type Truth struct {
	Oracle *oracle.Oracle
	feeds  []api.Feed
	cache  map[string]map[string][]oracle.Row // by feed and body: most deals are as they were yesterday
	live   map[api.Feed]map[int64]bool        // deals that can be known: see Visible
}

// NewTruth returns the truth about some feeds. No night has been read.
func NewTruth(t testing.TB, feeds ...api.Feed) *Truth {
	t.Helper()
	md, err := os.ReadFile(filepath.Join(testkit.Root(t), "testdata", "tables.md"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := oracle.Parse(md)
	if err != nil {
		t.Fatal(err)
	}
	return &Truth{Oracle: o, feeds: feeds, cache: map[string]map[string][]oracle.Row{}, live: map[api.Feed]map[int64]bool{}}
}

// Rows returns the rows of the feeds' tables as the market is now. It is called once after each night.
func (tr *Truth) Rows(t testing.TB, w *World) map[string][]oracle.Row {
	t.Helper()
	all := map[string][]oracle.Row{}
	for _, feed := range tr.feeds {
		for _, deal := range tr.Visible(t, w, feed) {
			key := feed.String() + string(deal.Body)
			rows, ok := tr.cache[key]
			if !ok {
				var err error
				if rows, err = tr.Oracle.Rows(feed, w.URL, deal.Body); err != nil {
					t.Fatalf("%s deal %d: %v", feed, deal.ID, err)
				}
				tr.cache[key] = rows
			}
			for table, rows := range rows {
				all[table] = append(all[table], rows...)
			}
		}
	}
	return all
}

// Visible lists the deals that an extraction can know: those in the list, and those that the list omits but
// that were visible at the last call. A deal that no list has contained yet cannot be known.
func (tr *Truth) Visible(t testing.TB, w *World, feed api.Feed) []serve.Record {
	t.Helper()
	page, err := w.Market.List(t.Context(), serve.Query{Feed: feed, Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	live := map[int64]bool{}
	for _, deal := range page.Records {
		live[deal.ID] = true
	}
	var deals []serve.Record
	for _, deal := range w.Market.Deals(feed) {
		if live[deal.ID] || tr.live[feed][deal.ID] {
			live[deal.ID] = true
			deals = append(deals, deal)
		}
	}
	tr.live[feed] = live
	return deals
}

// Compare checks all tables of the feeds: the rows that a table expression selects are the wanted ones, in
// the documented columns and in more. A difference ends the test; what says which answer was compared.
func (tr *Truth) Compare(t testing.TB, db *stdsql.DB, what string, from func(table string) string, want map[string][]oracle.Row, more ...oracle.Column) {
	t.Helper()
	for _, table := range tr.Oracle.Tables() {
		fills := func(f api.Feed) bool {
			return slices.ContainsFunc(lake.FeedTables(f), func(filled *lake.Table) bool { return filled.Name == table.Name })
		}
		if !slices.ContainsFunc(tr.feeds, fills) {
			continue
		}
		table.Columns = append(slices.Clone(table.Columns), more...)
		got, err := readRows(t.Context(), db, table, from(table.Name))
		if err != nil {
			t.Fatalf("%s: %s: %v", what, table.Name, err)
		}
		if diff := oracle.Compare(want[table.Name], got); diff != "" {
			t.Fatalf("%s: %s differs:\n%s", what, table.Name, diff)
		}
	}
}

// readRows reads a table's documented columns in the oracle's spelling.
func readRows(ctx context.Context, db *stdsql.DB, table oracle.Table, from string) ([]oracle.Row, error) {
	columns := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		columns[i] = fmt.Sprintf("CAST(%q AS VARCHAR)", c.Name)
		if strings.HasPrefix(c.Type, "TIMESTAMP") {
			columns[i] = fmt.Sprintf("strftime(%q AT TIME ZONE 'UTC', '%%Y-%%m-%%dT%%H:%%M:%%S.%%fZ')", c.Name)
		}
	}
	statement, argument := quote.Once("SELECT " + strings.Join(columns, ", ") + " FROM " + from)
	rows, err := db.QueryContext(ctx, statement, argument)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []oracle.Row
	values := make([]stdsql.NullString, len(columns))
	pointers := make([]any, len(columns))
	for i := range values {
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
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

// cell is a value as the oracle writes it.
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

// CheckNights fills a lake night by night and compares all tables with the market: right after each night, at
// the end as of each night's instant, and each night's snapshot.
func CheckNights(t testing.TB, w *World, nights int) {
	t.Helper()
	tr := NewTruth(t, api.Feeds()...)
	type night struct {
		knownAt lake.Instant
		day     string
		want    map[string][]oracle.Row
	}
	var past []night
	for n := range nights {
		result := w.Night(t, n)
		now := night{result.KnownAt, result.SnapshotDate, tr.Rows(t, w)}
		past = append(past, now)
		w.Ask(t, func(db *stdsql.DB) {
			tr.Compare(t, db, fmt.Sprintf("night %d, default schema", n), func(table string) string { return table }, now.want)
		})
	}
	snapshots := map[string][]oracle.Row{}
	w.Ask(t, func(db *stdsql.DB) {
		for n, then := range past {
			tr.Compare(t, db, fmt.Sprintf("as of night %d", n), AsOf(then.knownAt), then.want)
			for table, rows := range then.want {
				snapshots[table] = append(snapshots[table], dated(rows, then.day)...)
			}
		}
		tr.Compare(t, db, "snapshots", func(table string) string { return "snapshots." + table }, snapshots, snapshotDate)
	})
}

var snapshotDate = oracle.Column{Name: "snapshot_date", Type: "DATE"}

// dated returns rows as a day's snapshot contains them.
func dated(rows []oracle.Row, day string) []oracle.Row {
	all := make([]oracle.Row, len(rows))
	for i, row := range rows {
		all[i] = maps.Clone(row)
		all[i][snapshotDate.Name] = day
	}
	return all
}
