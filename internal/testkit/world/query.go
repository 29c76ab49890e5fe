package world

import (
	stdsql "database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql/answer"
	"dealflow/sql/quote"
)

// AsOf returns how a query names a table as of an instant.
func AsOf(at lake.Instant) func(table string) string {
	return func(table string) string { return fmt.Sprintf("%s_as_of(TIMESTAMPTZ '%s')", table, at) }
}

// Versions is a query for the versions of a feed's deals from first to last: id, version, change, reason.
func Versions(feed api.Feed, first, last int64) string {
	return fmt.Sprintf(`SELECT deal_id, version, change, reason FROM history.deal_versions
		WHERE service = '%s' AND market = '%s' AND kind = '%s' AND deal_id BETWEEN %d AND %d ORDER BY deal_id, version`,
		feed.Service, feed.Market, feed.Kind, first, last)
}

// Lines returns the rows of a query in order, each as its columns joined by blanks; NULL is "-".
func Lines(t testing.TB, db *stdsql.DB, query string) []string {
	t.Helper()
	statement, args := once(query)
	rows, err := db.QueryContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]any, len(columns))
	pointers := make([]any, len(columns))
	for i := range values {
		pointers[i] = &values[i]
	}
	var all []string
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
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

// WantLines checks the Lines of a query, in order.
func WantLines(t testing.TB, db *stdsql.DB, query string, want ...string) {
	t.Helper()
	if got := Lines(t, db, query); !slices.Equal(got, want) {
		t.Errorf("%s\n got %q\nwant %q", query, got, want)
	}
}

// SortedRows returns the rows of a query sorted, each as its columns in the program's own spelling, joined by
// tabs; NULL is empty.
func SortedRows(t testing.TB, db *stdsql.DB, query string) []string {
	t.Helper()
	statement, args := once(query)
	rows, err := answer.Query(t.Context(), db, statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		all = append(all, strings.Join(rows.Texts(), "\t"))
	}
	if rows.Err() != nil {
		t.Fatalf("%s: %v", query, rows.Err())
	}
	slices.Sort(all)
	return all
}

// once is quote.Once for a SELECT statement, which is then answered sooner, and any other statement itself.
func once(query string) (statement string, args []any) {
	switch strings.ToUpper(strings.Fields(query)[0]) {
	case "SELECT", "FROM", "WITH":
		statement, argument := quote.Once(query)
		return statement, []any{argument}
	}
	return query, nil
}
