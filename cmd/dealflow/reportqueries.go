package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"reflect"

	"dealflow/internal/report"
	"dealflow/sql"
	"dealflow/sql/quote"
)

// errNothingKnown is the error if the lake had no pull before the instant of a report.
var errNothingKnown = errors.New("the lake has no deals yet; run `dealflow run` first")

// reportQuery is a query of sql/report, and the function that reads its rows.
type reportQuery struct {
	name      string // name of its file
	read      func(*stdsql.Rows) error
	statement string
}

// reportQueries returns the queries that fill a report's data, in its order.
func reportQueries(d *report.Data) ([]reportQuery, error) {
	queries := []reportQuery{
		{name: "state", read: func(rows *stdsql.Rows) error { return readState(rows, &d.State) }},
		{name: "feeds", read: rowsInto(&d.Feeds)}, {name: "checks", read: rowsInto(&d.Checks)},
		{name: "pipeline", read: rowsInto(&d.Pipeline)}, {name: "biggest", read: rowsInto(&d.Biggest)},
		{name: "volume", read: rowsInto(&d.Volume)},
		{name: "league_bond", read: rowsInto(&d.BondLeague)}, {name: "league_loan", read: rowsInto(&d.LoanLeague)},
		{name: "execution", read: rowsInto(&d.Execution)}, {name: "execution_summary", read: rowsInto(&d.Executions)},
		{name: "restatements", read: rowsInto(&d.Restatements)}, {name: "restated_fields", read: rowsInto(&d.Restated)},
		{name: "maturities", read: rowsInto(&d.Maturities)},
		{name: "quality", read: rowsInto(&d.Quality)}, {name: "coverage", read: rowsInto(&d.Coverage)},
	}
	for i := range queries {
		var err error
		if queries[i].statement, err = sql.ReportQuery(queries[i].name); err != nil {
			return nil, err
		}
	}
	return queries, nil
}

func statementsOf(queries []reportQuery) (all []string) {
	for _, q := range queries {
		all = append(all, q.statement)
	}
	return all
}

// runQueries runs queries as of an instant, one after the other. They use one connection, because the instant is a
// variable of the connection.
func runQueries(ctx context.Context, db *stdsql.DB, asOf string, queries []reportQuery) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "SET VARIABLE as_of = '"+asOf+"'::TIMESTAMPTZ"); err != nil {
		return err
	}
	for _, q := range queries {
		if err := q.run(ctx, conn); err != nil {
			return fmt.Errorf("report: %s: %w", q.name, err)
		}
	}
	return nil
}

func (q *reportQuery) run(ctx context.Context, conn *stdsql.Conn) error {
	once, value := quote.Once(q.statement)
	rows, err := conn.QueryContext(ctx, once, value)
	if err != nil {
		return err
	}
	defer rows.Close()
	return q.read(rows)
}

// rowsInto returns a function that appends rows to a slice of structs, whose fields are the columns in order.
func rowsInto[T any](to *[]T) func(*stdsql.Rows) error {
	return func(rows *stdsql.Rows) error {
		for rows.Next() {
			var row T
			fields := reflect.ValueOf(&row).Elem()
			targets := make([]any, fields.NumField())
			for i := range targets {
				targets[i] = fields.Field(i).Addr().Interface()
			}
			if err := rows.Scan(targets...); err != nil {
				return err
			}
			*to = append(*to, row)
		}
		return rows.Err()
	}
}

// readState reads the single row with the state of the lake. It returns errNothingKnown if there is no row.
func readState(rows *stdsql.Rows, to *report.State) error {
	var states []report.State
	if err := rowsInto(&states)(rows); err != nil {
		return err
	}
	if len(states) == 0 {
		return errNothingKnown
	}
	*to = states[0]
	return nil
}
