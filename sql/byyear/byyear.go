// Package byyear lets queries as of an instant open the files of a few years alone.
//
// A deal that is expected is listed for weeks, so of the tables of expected deals few files have rows as of an instant; a deal that has
// priced stays listed. The paths of history's files name the year in which their run began. DuckDB leaves out a file if its path says
// that a condition is false, and it knows so only of constants. So the catalog has a macro with constants, listed_years: in which years the runs
// began whose versions were listed in the year of an instant (sql/views/index.sql). Each commit writes it again.
//
// Takes: a catalog with its versions and runs, and the lake's live files.
// Gives: the macro, and the column of the views to compare with it.
// Keeps: in doubt no file is left out.
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

// stay is what some versions of expected deals of a service have in common: the year in which their run began, and the first and
// the last year in which they were listed.
type stay struct {
	service            api.Service
	began, first, last int
}

// Write writes the macro into the catalog's own schema. query returns the stays of the versions: service, began, first and last. files
// are the lake's live files. In doubt the macro names no years, and queries open all files: if the run of a version is not known, or if a
// file is of a year in which no known run with such a version began.
func Write(ctx context.Context, conn *stdsql.Conn, ownSchema, query string, files []lake.File) error {
	stays, sure, err := readStays(ctx, conn, query)
	if err != nil {
		return err
	}
	body := "NULL::BIGINT[]"
	if sure && explain(stays, files) {
		var known string
		if err := conn.QueryRowContext(ctx, "SELECT make_timestamp(epoch_us(known_at))::VARCHAR || '+00' FROM _dealflow.catalog").Scan(&known); err != nil {
			return err
		}
		body = listedYears(stays, known)
	}
	name := quote.Name(ownSchema) + "." + quote.Name(ownschema.Name("_dealflow.listed_years"))
	_, err = conn.ExecContext(ctx, "CREATE OR REPLACE MACRO "+name+"(of_service, t) AS "+body)
	return err
}

// readStays returns false if the run of a version is not known, or there is no version.
func readStays(ctx context.Context, conn *stdsql.Conn, query string) (stays []stay, sure bool, err error) {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	sure = true
	for rows.Next() {
		var s stay
		var began stdsql.NullInt64
		if err := rows.Scan(&s.service, &began, &s.first, &s.last); err != nil {
			return nil, false, err
		}
		s.began, sure = int(began.Int64), sure && began.Valid
		stays = append(stays, s)
	}
	return stays, sure && len(stays) > 0, rows.Err()
}

// explain says whether each file of expected deals is of the year of a stay, or of a year after all of them.
func explain(stays []stay, files []lake.File) bool {
	last := 0
	named := map[string]bool{} // services with years
	for _, s := range stays {
		last, named[string(s.service)+strconv.Itoa(s.began)] = max(last, s.last), true
	}
	services := map[string]api.Service{} // of the tables
	for _, table := range lake.Tables() {
		if Applies(table) {
			services[lake.HistoryTable(table.Name)] = table.Service
		}
	}
	return !slices.ContainsFunc(files, func(f lake.File) bool {
		service, found := services[f.Table]
		year, err := strconv.Atoi(f.Year())
		return found && (err != nil || year <= last && !named[string(service)+strconv.Itoa(year)])
	})
}

// listedYears returns the body of the macro: it chooses from the lists of a service that of the instant's year. known is the instant of
// the catalog's commit: those after it are as that one.
func listedYears(stays []stay, known string) string {
	first, last := stays[0].first, 0
	for _, s := range stays {
		first, last = min(first, s.first), max(last, s.last)
	}
	var cases strings.Builder
	for _, service := range api.Services() {
		lists := make([]string, 0, last-first+1)
		for year := first; year <= last; year++ {
			var began []string
			for _, s := range stays {
				if s.service == service && s.first <= year && year <= s.last {
					began = append(began, strconv.Itoa(s.began))
				}
			}
			slices.Sort(began)
			lists = append(lists, "["+strings.Join(slices.Compact(began), ", ")+"]::BIGINT[]")
		}
		fmt.Fprintf(&cases, " WHEN %s THEN [%s]", quote.Text(string(service)), strings.Join(lists, ", "))
	}
	return fmt.Sprintf("(CASE of_service%s END)[greatest(1, least(%d, year(make_timestamp(epoch_us(least(t::TIMESTAMPTZ, %s::TIMESTAMPTZ)))) - %d))]",
		cases.String(), last-first+1, quote.Text(known), first-1)
}
