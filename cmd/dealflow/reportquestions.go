package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"reflect"

	"dealflow/internal/report"
	"dealflow/sql"
)

// errNothingKnown says that the lake had pulled nothing until the instant of a report.
var errNothingKnown = errors.New("the lake has pulled nothing yet; `dealflow run` pulls")

// question is a query of sql/report with what takes its rows.
type question struct {
	name      string // of its file
	take      func(*stdsql.Rows) error
	statement string
}

// reportQuestions are the questions whose answers are a report's data, in its order.
func reportQuestions(d *report.Data) ([]question, error) {
	questions := []question{
		{name: "state", take: func(rows *stdsql.Rows) error { return takeState(rows, &d.State) }},
		{name: "feeds", take: rowsInto(&d.Feeds)}, {name: "checks", take: rowsInto(&d.Checks)},
		{name: "pipeline", take: rowsInto(&d.Pipeline)}, {name: "biggest", take: rowsInto(&d.Biggest)},
		{name: "volume", take: rowsInto(&d.Volume)},
		{name: "league_bond", take: rowsInto(&d.BondLeague)}, {name: "league_loan", take: rowsInto(&d.LoanLeague)},
		{name: "execution", take: rowsInto(&d.Execution)}, {name: "execution_summary", take: rowsInto(&d.Executions)},
		{name: "restatements", take: rowsInto(&d.Restatements)}, {name: "restated_fields", take: rowsInto(&d.Restated)},
		{name: "maturities", take: rowsInto(&d.Maturities)},
		{name: "quality", take: rowsInto(&d.Quality)}, {name: "coverage", take: rowsInto(&d.Coverage)},
	}
	for i := range questions {
		var err error
		if questions[i].statement, err = sql.ReportQuery(questions[i].name); err != nil {
			return nil, err
		}
	}
	return questions, nil
}

func statementsOf(questions []question) (all []string) {
	for _, q := range questions {
		all = append(all, q.statement)
	}
	return all
}

// askAll asks questions as of an instant, one after the other, on one connection, which holds the instant.
func askAll(ctx context.Context, db *stdsql.DB, asOf string, questions []question) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "SET VARIABLE as_of = '"+asOf+"'::TIMESTAMPTZ"); err != nil {
		return err
	}
	for _, q := range questions {
		if err := q.ask(ctx, conn); err != nil {
			return fmt.Errorf("report: %s: %w", q.name, err)
		}
	}
	return nil
}

func (q *question) ask(ctx context.Context, conn *stdsql.Conn) error {
	rows, err := conn.QueryContext(ctx, q.statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	return q.take(rows)
}

// rowsInto appends rows to a slice of structs whose fields are, in order, the columns.
func rowsInto[T any](to *[]T) func(*stdsql.Rows) error {
	return func(rows *stdsql.Rows) error {
		for rows.Next() {
			var row T
			fields := reflect.ValueOf(&row).Elem()
			places := make([]any, fields.NumField())
			for i := range places {
				places[i] = fields.Field(i).Addr().Interface()
			}
			if err := rows.Scan(places...); err != nil {
				return err
			}
			*to = append(*to, row)
		}
		return rows.Err()
	}
}

// takeState takes the one row that says what was known.
func takeState(rows *stdsql.Rows, to *report.State) error {
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
