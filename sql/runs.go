package sql

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"iter"
	"strings"

	"dealflow/schemas/lake"
)

// runsAtOnce is the number of runs whose rows are inserted together: they are in memory as text.
const runsAtOnce = 1000

// fillRuns adds the commits after the baseline to the tables runs, feed_runs and checks. The rows are passed as JSON,
// which DuckDB reads by name: one statement per table for many runs.
func (c *Catalog) fillRuns(ctx context.Context, conn *stdsql.Conn, from baseline) error {
	rows := runRows{conn: conn}
	for run, err := range c.runsAfter(ctx, from.commit) {
		if err != nil {
			return err
		}
		if rows.add(run); len(rows.runs) == runsAtOnce {
			if err := rows.insert(ctx); err != nil {
				return err
			}
		}
	}
	return rows.insert(ctx)
}

// runsAfter yields the runs after a commit, oldest first. An error is the last that it yields.
func (c *Catalog) runsAfter(ctx context.Context, commit int64) iter.Seq2[*lake.Commit, error] {
	if c.RunsAfter != nil {
		return c.RunsAfter(ctx, commit)
	}
	return func(yield func(*lake.Commit, error) bool) {
		for i := range c.Runs {
			if c.Runs[i].Number > commit && !yield(&c.Runs[i], nil) {
				return
			}
		}
	}
}

// runRows are rows of the tables runs, feed_runs and checks that are not inserted yet.
type runRows struct {
	conn                   *stdsql.Conn
	runs, feedRuns, checks []map[string]any
}

func (r *runRows) add(run *lake.Commit) {
	r.runs = append(r.runs, lake.RunRow(run))
	for i := range run.Feeds {
		r.feedRuns = append(r.feedRuns, lake.FeedRunRow(run, &run.Feeds[i]))
	}
	for i := range run.Checks {
		r.checks = append(r.checks, lake.CheckRow(run, &run.Checks[i]))
	}
}

func (r *runRows) insert(ctx context.Context) error {
	if err := insertRows(ctx, r.conn, "runs", lake.RunColumns(), r.runs); err != nil {
		return err
	}
	if err := insertRows(ctx, r.conn, "feed_runs", lake.FeedRunColumns(), r.feedRuns); err != nil {
		return err
	}
	err := insertRows(ctx, r.conn, "checks", lake.CheckColumns(), r.checks)
	r.runs, r.feedRuns, r.checks = nil, nil, nil
	return err
}

func insertRows(ctx context.Context, conn *stdsql.Conn, table string, columns []lake.Column, rows []map[string]any) error {
	if len(rows) == 0 {
		return nil
	}
	data, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "INSERT INTO main."+identifier(table)+
		" SELECT unnest(from_json(?::JSON, '[{"+jsonStructure(columns)+"}]'), max_depth := 2)", string(data))
	return err
}

// jsonStructure writes columns as the structure argument of from_json.
func jsonStructure(columns []lake.Column) string {
	parts := make([]string, len(columns))
	for i := range columns {
		parts[i] = `"` + columns[i].Name + `": "` + columns[i].Type.SQL() + `"`
	}
	return strings.Join(parts, ", ")
}
