// Package byyear lets queries as of an instant open the files of a few years alone.
//
// A deal that is expected is listed for weeks, so of the tables of expected deals few files have rows as of an instant; a deal that has
// priced stays listed. The paths of history's files name the year in which their run began. DuckDB leaves out a file if its path says
// that a condition is false, and it knows so only of constants. So the catalog has a macro with constants, may_be_listed, which
// says so of a year by when versions of its runs were listed (sql/views/index.sql). Each commit writes it again.
//
// Takes: a catalog with its versions and runs.
// Gives: the macros, and the column of the views to compare with them.
// Keeps: a file of a year of which nothing is known is opened, and all are if the run of a version is not known.
// Fails: with DuckDB's message.
// May change here: the unit of time. The paths have no other.
package byyear

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql/ownschema"
	"dealflow/sql/quote"
)

// FileYear is a column of the views of history over the tables of Applies: the year in which the run of a file began, from its path.
var FileYear = lake.Column{Name: "file_year", Type: lake.Int64}

// Applies says whether the rows of a table as of an instant are in the files of a few years.
func Applies(table *lake.Table) bool { return table.Kind == api.Expected }

// Columns returns the columns of the view over a table's history. The caller owns the slice.
func Columns(table *lake.Table) []lake.Column {
	columns := table.HistoryColumns()
	if Applies(table) {
		columns = append(columns, FileYear)
	}
	return columns
}

// year is a year in which runs began. Versions of these runs or of later ones were listed first at an instant, and versions of these or of earlier
// ones last, so both rise from year to year. The instants are texts of SQL, in UTC.
type year struct {
	began       int64
	first, last string
}

// Write writes the macros into the catalog's own schema. query returns the years of each service, in order.
func Write(ctx context.Context, conn *stdsql.Conn, ownSchema, query string) error {
	years, sure, err := read(ctx, conn, query)
	if err != nil {
		return err
	}
	for _, service := range api.Services() {
		body := "true"
		if sure && len(years[service]) > 0 {
			body = condition(years[service])
		}
		name := quote.Name(ownSchema) + "." + quote.Name(ownschema.Name("_dealflow."+string(service)+"_may_be_listed"))
		if _, err := conn.ExecContext(ctx, "CREATE OR REPLACE MACRO "+name+"(file_year, \"from\", \"to\") AS "+body); err != nil {
			return err
		}
	}
	return nil
}

// read returns false if the run of a version is not known, or there is no version.
func read(ctx context.Context, conn *stdsql.Conn, query string) (years map[api.Service][]year, sure bool, err error) {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	years, sure = map[api.Service][]year{}, true
	for rows.Next() {
		var service api.Service
		var began stdsql.NullInt64
		var y year
		if err := rows.Scan(&service, &began, &y.first, &y.last); err != nil {
			return nil, false, err
		}
		y.began, sure = began.Int64, sure && began.Valid
		years[service] = append(years[service], y)
	}
	return years, sure && len(years) > 0, rows.Err()
}

// condition returns the body of the macro of a service: whether the year is not one of these, or between the first one whose last instant is not
// before "from" and the last one whose first instant is not after "to". The place that an instant would have in a sorted list says which these are.
// DuckDB takes long to plan an expression of many parts, so each list is one text; and longer to read an instant with a time zone than one of UTC.
func condition(years []year) string {
	list := func(parts []string, typ string) string {
		return quote.Text("["+strings.Join(parts, ", ")+"]") + "::" + typ + "[]"
	}
	var began, firsts, lasts []string
	for _, y := range years {
		began, firsts, lasts = append(began, strconv.FormatInt(y.began, 10)), append(firsts, y.first), append(lasts, y.last)
	}
	const from, to = `"from"::TIMESTAMPTZ AT TIME ZONE 'UTC'`, `"to"::TIMESTAMPTZ AT TIME ZONE 'UTC'`
	return fmt.Sprintf(`coalesce(NOT list_contains(%s, file_year) OR file_year BETWEEN
  (%s)[list_position(list_sort(list_append(%s, %s)), %s)] AND
  (%s)[%d - list_position(list_reverse_sort(list_append(%s, %s)), %s)], true)`,
		list(began, "BIGINT"),
		list(append(slices.Clone(began), "99999"), "BIGINT"), list(lasts, "TIMESTAMP"), from, from,
		list(append([]string{"0"}, began...), "BIGINT"), len(began)+2, list(firsts, "TIMESTAMP"), to, to)
}
