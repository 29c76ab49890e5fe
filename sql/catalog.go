package sql

import (
	"context"
	stdsql "database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"dealflow/schemas/lake"
)

//go:embed views/*.sql macros/*.sql
var statements embed.FS

// Catalog says what a catalog shall show. All fields but Index must be set.
type Catalog struct {
	Root   string        // of the lake: an absolute path or s3://bucket/prefix
	Index  string        // local Parquet file with what the catalog keeps of deal_versions; needed where Root is no folder of this machine
	Commit int64         // the commit it shows
	Known  lake.Instant  // that commit's known_at
	Files  []lake.File   // live files
	Runs   []lake.Commit // all runs, oldest first
}

// Build writes the catalog to a new file at path.
func (c *Catalog) Build(ctx context.Context, path string) (err error) {
	db, err := connect(path, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if c.Index == "" {
		return c.build(ctx, conn)
	}
	return c.buildAfar(ctx, conn)
}

func (c *Catalog) build(ctx context.Context, conn *stdsql.Conn) error {
	steps := []struct {
		name string
		text func() (string, error)
	}{
		{"views/index.sql", func() (string, error) { return c.render("views/index.sql", c.indexData()) }},
		{"tables", c.renderTables},
		{"views/deals.sql", func() (string, error) { return c.render("views/deals.sql", nil) }},
		{"macros/deals_as_of.sql", func() (string, error) { return c.render("macros/deals_as_of.sql", nil) }},
	}
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	for _, step := range steps {
		text, err := step.text()
		if err == nil {
			_, err = conn.ExecContext(ctx, text)
		}
		if err != nil {
			return fmt.Errorf("catalog: %s: %w", step.name, err)
		}
	}
	if err := c.fillRuns(ctx, conn); err != nil {
		return fmt.Errorf("catalog: runs: %w", err)
	}
	for _, statement := range []string{"COMMIT", "CHECKPOINT"} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("catalog: %w", err)
		}
	}
	return nil
}

// renderTables renders, for each flattened table, its views and its as-of macro.
func (c *Catalog) renderTables() (string, error) {
	var all strings.Builder
	for _, table := range lake.Tables() {
		data := tableData{Table: table, Columns: table.HistoryColumns(), SnapshotColumns: table.SnapshotColumns()}
		data.History = c.source(lake.HistoryTable(table.Name), data.Columns)
		data.Snapshots = c.source(lake.SnapshotTable(table.Name), data.SnapshotColumns)
		for _, name := range []string{"views/table.sql", "macros/table_as_of.sql"} {
			text, err := c.render(name, data)
			if err != nil {
				return "", err
			}
			all.WriteString(text)
		}
	}
	return all.String(), nil
}

// tableData is what views/table.sql and macros/table_as_of.sql see.
type tableData struct {
	*lake.Table
	Columns         []lake.Column // of history
	SnapshotColumns []lake.Column
	History         string // a FROM clause's source
	Snapshots       string
}

type indexData struct {
	Versions string
	Index    string // a FROM clause's source with the version index's columns
	Catalog  *Catalog
	Columns  []lake.Column // of deal_versions
	Runs     []lake.Column
	FeedRuns []lake.Column
}

func (c *Catalog) indexData() indexData {
	columns := lake.DealVersionColumns()
	data := indexData{
		Versions: c.source(lake.HistoryTable(lake.DealVersions), columns), Catalog: c, Columns: columns,
		Runs: lake.RunColumns(), FeedRuns: lake.FeedRunColumns(), Index: "_dealflow.history_deal_versions",
	}
	if c.Index != "" {
		data.Index = "read_parquet(" + literal(c.Index) + ")"
	}
	return data
}

// render fills a statement's template.
func (c *Catalog) render(name string, data any) (string, error) {
	text, err := fs.ReadFile(statements, name)
	if err != nil {
		return "", err
	}
	t, err := template.New(name).Funcs(template.FuncMap{"lit": literal, "ident": identifier}).Parse(string(text))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	if err := t.Execute(&out, data); err != nil {
		return "", err
	}
	return out.String(), nil
}

// source is a subquery over the live files of a table with exactly the given columns. Files of an
// older schema version lack later columns: they are read apart, with typed NULLs. A table without
// files is empty, and typed.
func (c *Catalog) source(name string, columns []lake.Column) string {
	byVersion := map[int][]string{}
	for _, file := range c.Files {
		if file.Table == name {
			byVersion[file.SchemaVersion] = append(byVersion[file.SchemaVersion], file.Path)
		}
	}
	var parts []string
	for version := 1; version <= lake.SchemaVersion; version++ {
		if paths := byVersion[version]; len(paths) > 0 {
			parts = append(parts, c.readFiles(paths, columns, version))
		}
	}
	if len(parts) == 0 {
		return "(SELECT " + selectList(columns, 0) + " WHERE false)"
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ")"
}

// readFiles reads files of one schema version. The root is looked up when the view is read.
func (c *Catalog) readFiles(paths []string, columns []lake.Column, version int) string {
	quoted := make([]string, len(paths))
	for i, path := range paths {
		quoted[i] = literal(path)
	}
	return fmt.Sprintf("SELECT %s FROM read_parquet(list_transform([%s], lambda p: coalesce(getvariable('lake'), %s) || '/' || p), hive_partitioning = true)",
		selectList(columns, version), strings.Join(quoted, ", "), literal(c.Root))
}

// selectList names columns, in order; those that come after version, or all for version 0, are typed
// NULLs.
func selectList(columns []lake.Column, version int) string {
	parts := make([]string, len(columns))
	for i := range columns {
		col := &columns[i]
		parts[i] = identifier(col.Name)
		if max(col.Since, 1) > version {
			parts[i] = "NULL::" + col.Type.SQL() + " AS " + parts[i]
		}
	}
	return strings.Join(parts, ", ")
}

// literal quotes a text for SQL.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// identifier quotes a name for SQL.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// CommitOf reads which commit a catalog file shows. A file that is no catalog is an error.
func CommitOf(ctx context.Context, path string) (number int64, err error) {
	if _, err := os.Stat(path); err != nil {
		return 0, err
	}
	db, err := connect(path, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, `SELECT "commit" FROM _dealflow.catalog`).Scan(&number)
	if err != nil {
		return 0, fmt.Errorf("%s is no dealflow catalog: %w", filepath.Base(path), err)
	}
	return number, nil
}
