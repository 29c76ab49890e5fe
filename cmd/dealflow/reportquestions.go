package main

import (
	"context"
	stdsql "database/sql"
	"embed"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"dealflow/internal/report"
)

//go:embed report/*.sql
var reportStatements embed.FS

// errNothingKnown says that the lake had pulled nothing until the instant of a report.
var errNothingKnown = errors.New("the lake has pulled nothing yet; `dealflow run` pulls")

// question is a statement of report/ with what takes its rows.
type question struct {
	name, statement string
	take            func(*stdsql.Rows) error
}

// reportQuestions are the questions whose answers are a report's data, in its order.
func reportQuestions(d *report.Data) []question {
	return []question{
		ask("state", func(rows *stdsql.Rows) error { return takeState(rows, &d.State) }),
		ask("feeds", rowsInto(&d.Feeds)), ask("checks", rowsInto(&d.Checks)),
		ask("pipeline", rowsInto(&d.Pipeline)), ask("biggest", rowsInto(&d.Biggest)),
		ask("volume", rowsInto(&d.Volume)),
		ask("league_bond", rowsInto(&d.BondLeague)), ask("league_loan", rowsInto(&d.LoanLeague)),
		ask("execution", rowsInto(&d.Execution)), ask("execution_summary", rowsInto(&d.Executions)),
		ask("restatements", rowsInto(&d.Restatements)), ask("restated_fields", rowsInto(&d.Restated)),
		ask("maturities", rowsInto(&d.Maturities)),
		ask("quality", rowsInto(&d.Quality)), ask("coverage", rowsInto(&d.Coverage)),
	}
}

func ask(name string, take func(*stdsql.Rows) error) question {
	text, err := reportStatements.ReadFile("report/" + name + ".sql")
	if err != nil {
		panic(err) // the program was built without it
	}
	return question{name, strings.TrimSpace(string(text)), take}
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
