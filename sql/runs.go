package sql

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"strings"

	"dealflow/schemas/lake"
)

// fillRuns adds the commits after the baseline to the tables runs, feed_runs and checks. The rows are passed as JSON,
// which DuckDB reads by name: one statement per table for any number of runs.
func (c *Catalog) fillRuns(ctx context.Context, conn *stdsql.Conn, from baseline) error {
	var runs, feedRuns, checks []map[string]any
	for i := range c.Runs {
		if c.Runs[i].Number <= from.commit {
			continue
		}
		runs = append(runs, lake.RunRow(&c.Runs[i]))
		for j := range c.Runs[i].Feeds {
			feedRuns = append(feedRuns, lake.FeedRunRow(&c.Runs[i], &c.Runs[i].Feeds[j]))
		}
		for j := range c.Runs[i].Checks {
			checks = append(checks, lake.CheckRow(&c.Runs[i], &c.Runs[i].Checks[j]))
		}
	}
	if err := insertRows(ctx, conn, "runs", lake.RunColumns(), runs); err != nil {
		return err
	}
	if err := insertRows(ctx, conn, "feed_runs", lake.FeedRunColumns(), feedRuns); err != nil {
		return err
	}
	return insertRows(ctx, conn, "checks", lake.CheckColumns(), checks)
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
