package sql

import (
	"context"
	stdsql "database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"dealflow/schemas/lake"
	"dealflow/sql/quote"
	"dealflow/sql/runrows"
)

//go:embed checks/*.sql
var checkFiles embed.FS

// QualityCheck is a declared check of a commit that is not made yet. Its statements return a row (where, count, detail)
// for each thing that is wrong. They may read the catalog, and brought_<table>: the history rows that the commit adds.
type QualityCheck struct {
	Name     string // of its file in checks/, without .sql
	Doc      string // one sentence: what is wrong if the check finds something
	Severity string // lake.SeverityWarn or lake.SeverityHold
	// Statements are executed one after the other. What one has taken of memory is free again for the next.
	Statements []string
}

// QualityChecks lists the declared checks by name. The caller owns the slice.
func QualityChecks() []QualityCheck {
	entries, err := fs.Glob(checkFiles, "checks/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	checks := make([]QualityCheck, 0, len(entries))
	for _, entry := range entries {
		text, err := checkFiles.ReadFile(entry)
		if err != nil {
			panic(err) // the file is embedded
		}
		checks = append(checks, parseCheck(strings.TrimSuffix(path.Base(entry), ".sql"), string(text)))
	}
	return checks
}

// parseCheck parses the two comment lines of a check. Any other form is a programming error and panics.
func parseCheck(name, text string) QualityCheck {
	doc, rest, _ := strings.Cut(text, "\n")
	severity, statements, _ := strings.Cut(rest, "\n")
	c := QualityCheck{Name: name, Statements: strings.SplitAfter(strings.TrimSpace(statements), ";\n")}
	var named, graded bool
	c.Doc, named = strings.CutPrefix(doc, "-- "+name+": ")
	c.Severity, graded = strings.CutPrefix(severity, "-- severity: ")
	if !named || !graded || c.Severity != lake.SeverityWarn && c.Severity != lake.SeverityHold {
		panic(fmt.Sprintf("checks/%s.sql: want the lines -- %s: … and -- severity: warn or hold", name, name))
	}
	return c
}

// maxFindings is the largest number of findings that a check's result lists.
const maxFindings = 5

// AcceptAll is accepted as the name of every check.
const AcceptAll = "all"

// check runs the declared checks on the catalog that is being built and records their results in it. If the query of one
// fails, the others cannot be asked either: DuckDB ends its transaction. So those that may hold are asked first.
func (c *Catalog) check(ctx context.Context, conn *stdsql.Conn, added []lake.File, accepted []string) (results []lake.Check, err error) {
	if err := c.viewAddedRows(ctx, conn, added); err != nil {
		return nil, err
	}
	declared := QualityChecks()
	slices.SortStableFunc(declared, func(a, b QualityCheck) int { return strings.Compare(a.Severity, b.Severity) })
	for i := range declared {
		result, err := c.runCheck(ctx, conn, &declared[i])
		if err != nil {
			return results, &checkError{declared[i].Name, err}
		}
		if result.Outcome == lake.CheckHeld && isAccepted(accepted, result.Name) {
			result.Outcome = lake.CheckAccepted
		}
		results = append(results, result)
	}
	slices.SortFunc(results, func(a, b lake.Check) int { return strings.Compare(a.Name, b.Name) })
	return results, recordChecks(ctx, conn, results)
}

func isAccepted(accepted []string, name string) bool {
	return slices.Contains(accepted, name) || slices.Contains(accepted, AcceptAll)
}

// WithUnasked returns the results of all declared checks, by name: those that were asked, and failed ones for the
// others. why says why those were not asked. held lists the names of checks that were not asked, may hold, and are not
// accepted.
func WithUnasked(asked []lake.Check, why string, accepted []string) (all []lake.Check, held []string) {
	for _, c := range QualityChecks() {
		if i := slices.IndexFunc(asked, func(a lake.Check) bool { return a.Name == c.Name }); i >= 0 {
			all = append(all, asked[i])
			continue
		}
		all = append(all, lake.Check{Name: c.Name, Severity: c.Severity, Outcome: lake.CheckFailed, Detail: why})
		if c.Severity == lake.SeverityHold && !isAccepted(accepted, c.Name) {
			held = append(held, c.Name)
		}
	}
	return all, held
}

// viewAddedRows creates a view brought_<table> of the rows that the commit adds to each flattened table's history. A
// check of new rows reads nothing else.
func (c *Catalog) viewAddedRows(ctx context.Context, conn *stdsql.Conn, added []lake.File) error {
	files := filesOf(added)
	for _, table := range lake.Tables() {
		rows := c.source(files[lake.HistoryTable(table.Name)], table.HistoryColumns())
		if _, err := conn.ExecContext(ctx, "CREATE TEMP VIEW "+quote.Name("brought_"+table.Name)+" AS FROM "+rows); err != nil {
			return fmt.Errorf("rows that the commit adds to %s: %w", table.Name, err)
		}
	}
	return nil
}

// runCheck runs a check's statements and sums up their rows.
func (c *Catalog) runCheck(ctx context.Context, conn *stdsql.Conn, check *QualityCheck) (result lake.Check, err error) {
	result = lake.Check{Name: check.Name, Severity: check.Severity, Outcome: lake.CheckPassed}
	var found []string
	more := 0
	for _, statement := range check.Statements {
		findings, err := askFindings(ctx, conn, statement)
		if err := errors.Join(err, c.release(ctx, conn)); err != nil {
			return result, err
		}
		for _, f := range findings {
			result.Count += f.count
			if len(found) < maxFindings {
				found = append(found, fmt.Sprintf("%s: %d (%s)", f.where, f.count, f.detail))
			} else {
				more++
			}
		}
	}
	if more > 0 {
		found = append(found, fmt.Sprintf("and %d more", more))
	}
	if len(found) > 0 {
		result.Detail = check.Doc + " " + strings.Join(found, "; ")
		result.Outcome = lake.CheckWarned
		if check.Severity == lake.SeverityHold {
			result.Outcome = lake.CheckHeld
		}
	}
	return result, nil
}

// finding is a row that a check's statement returns.
type finding struct {
	where  string
	count  int64
	detail string
}

func askFindings(ctx context.Context, conn *stdsql.Conn, statement string) (found []finding, err error) {
	once, value := quote.Once(statement)
	rows, err := conn.QueryContext(ctx, once, value)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var f finding
		if err := rows.Scan(&f.where, &f.count, &f.detail); err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return found, rows.Err()
}

// recordChecks adds the results to the table checks, for the latest run.
func recordChecks(ctx context.Context, conn *stdsql.Conn, results []lake.Check) error {
	var commit lake.Commit
	row := conn.QueryRowContext(ctx, `SELECT run_id, "commit", known_at FROM main.runs ORDER BY "commit" DESC LIMIT 1`)
	if err := row.Scan(&commit.RunID, &commit.Number, &commit.KnownAt.Time); err != nil {
		return err
	}
	var rows []map[string]any
	for i := range results {
		rows = append(rows, lake.CheckRow(&commit, &results[i]))
	}
	return runrows.InsertChecks(ctx, conn, rows)
}
