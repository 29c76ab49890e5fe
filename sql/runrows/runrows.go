// Package runrows fills the tables of a catalog that have a row for each run, feed of a run, and quality check.
// Takes: commits, and a connection to the catalog. Gives: Insert, InsertChecks, Known, and Beginnings.
// Keeps: the views of the tables have the rows of schemas/lake (RunRow, FeedRunRow, CheckRow); memory is bounded, for any number of
// runs.
// Fails: the database's errors, and those of the runs.
// May change here: how rows get into DuckDB.
package runrows

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// atOnce is the number of runs whose rows are inserted together: they are in memory as text.
const atOnce = 1000

// Insert adds runs to the tables runs, feed_runs and checks. The rows are passed as JSON, which DuckDB reads by name: one
// statement per table for many runs. An error in the sequence is returned.
func Insert(ctx context.Context, conn *stdsql.Conn, runs iter.Seq2[*lake.Commit, error]) error {
	var rows rows
	for run, err := range runs {
		if err != nil {
			return err
		}
		if rows.add(run); len(rows.runs) == atOnce {
			if err := rows.insert(ctx, conn); err != nil {
				return err
			}
		}
	}
	return rows.insert(ctx, conn)
}

// FeedRunColumns returns the columns of the table of feeds: those of lake.FeedRunColumns, but with the number of the run's commit
// in place of what is the same for all its feeds, and instants as microseconds from that of the commit, mostly before it. The caller
// owns the slice.
func FeedRunColumns() []lake.Column {
	return append([]lake.Column{{Name: "commit", Type: lake.Int64}, {Name: "started_us", Type: lake.Int64}, {Name: "finished_us", Type: lake.Int64}},
		without(lake.FeedRunColumns(), "run_id", "feed", "started_at", "finished_at")...)
}

// CheckColumns returns the columns of the table of checks: those of lake.CheckColumns that are not the same for all checks of a
// run, and the number of the commit. The caller owns the slice.
func CheckColumns() []lake.Column { return without(lake.CheckColumns(), "run_id", "known_at") }

func without(columns []lake.Column, names ...string) []lake.Column {
	return slices.DeleteFunc(columns, func(c lake.Column) bool { return slices.Contains(names, c.Name) })
}

// InsertChecks adds rows of lake.CheckRow to the table checks.
func InsertChecks(ctx context.Context, conn *stdsql.Conn, checks []map[string]any) error {
	return insertRows(ctx, conn, "checks", CheckColumns(), checks)
}

// Known returns those of the ids that the table runs has.
func Known(ctx context.Context, conn *stdsql.Conn, ids []string) (map[string]bool, error) {
	known := map[string]bool{}
	if len(ids) == 0 {
		return known, nil
	}
	asked, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, "SELECT run_id FROM main.runs SEMI JOIN (SELECT unnest(from_json(?::JSON, '[\"VARCHAR\"]')) AS run_id) USING (run_id)", string(asked))
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		known[id] = true
	}
	return known, errors.Join(rows.Err(), rows.Close())
}

// Others returns the ids of the runs that the table runs has and that wrote files, of those that are not among some
// commits: of a long log these are the newest.
func Others(ctx context.Context, conn *stdsql.Conn, commits []lake.Commit, files []lake.File) (map[string]bool, error) {
	known := map[string]bool{}
	for i := range commits {
		known[commits[i].RunID] = true
	}
	var unknown []string
	for i := range files {
		if id := files[i].RunID(); !known[id] {
			known[id] = true
			unknown = append(unknown, id)
		}
	}
	return Known(ctx, conn, unknown)
}

// After yields those of some runs, oldest first, that come after a commit.
func After(runs []lake.Commit, commit int64) iter.Seq2[*lake.Commit, error] {
	return func(yield func(*lake.Commit, error) bool) {
		for i := range runs {
			if runs[i].Number > commit && !yield(&runs[i], nil) {
				return
			}
		}
	}
}

// rows are not inserted yet.
type rows struct {
	runs, feedRuns, checks []map[string]any
}

func (r *rows) add(run *lake.Commit) {
	r.runs = append(r.runs, lake.RunRow(run))
	for i := range run.Feeds {
		row := lake.FeedRunRow(run, &run.Feeds[i])
		row["commit"] = run.Number
		row["started_us"] = run.Feeds[i].StartedAt.UnixMicro() - run.KnownAt.UnixMicro()
		row["finished_us"] = run.Feeds[i].FinishedAt.UnixMicro() - run.KnownAt.UnixMicro()
		r.feedRuns = append(r.feedRuns, row)
	}
	for i := range run.Checks {
		r.checks = append(r.checks, lake.CheckRow(run, &run.Checks[i]))
	}
}

func (r *rows) insert(ctx context.Context, conn *stdsql.Conn) error {
	if err := insertRows(ctx, conn, "runs", lake.RunColumns(), r.runs); err != nil {
		return err
	}
	if err := insertRows(ctx, conn, "feed_runs", FeedRunColumns(), r.feedRuns); err != nil {
		return err
	}
	err := InsertChecks(ctx, conn, r.checks)
	*r = rows{}
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
	_, err = conn.ExecContext(ctx, "INSERT INTO _dealflow."+table+
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

// Beginning is a feed's first commit after a complete reading.
type Beginning struct {
	Feed    api.Feed
	KnownAt lake.Instant
}

// Beginnings returns those of all feeds that have one. runs are those that a log holds, oldest first: each that took a snapshot is
// among them. (The table feed_runs has a row for each feed of each sync, too, of which there may be millions.)
func Beginnings(runs []lake.Commit) (all []Beginning) {
	for i := range runs {
		for j := range runs[i].Feeds {
			f := &runs[i].Feeds[j]
			if f.Outcome == lake.OutcomeDone && !slices.ContainsFunc(all, func(b Beginning) bool { return b.Feed == f.Feed }) {
				all = append(all, Beginning{f.Feed, runs[i].KnownAt})
			}
		}
	}
	return all
}
