package sql

import (
	"context"
	stdsql "database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"dealflow/schemas/lake"
)

//go:embed views/*.sql macros/*.sql analyses/*.sql refresh/*.sql
var statements embed.FS

// Catalog says what a catalog shall show. Root, Commit, Known, Files and Runs must be set.
type Catalog struct {
	Root   string        // of the lake: an absolute path or s3://bucket/prefix
	Commit int64         // the commit it shows
	Known  lake.Instant  // that commit's known_at
	Files  []lake.File   // live files
	Runs   []lake.Commit // all runs, oldest first

	// Previous is a local file with an earlier catalog of the lake: what it derived from history is taken
	// over, and only what came since is derived. "", or a file that cannot serve: everything is derived anew.
	Previous string
	// Index and Local are needed where Root is no folder of this machine: a local Parquet file with what the
	// catalog keeps of deal_versions; and a local folder with the history files of the flattened tables,
	// each under its path, beside which files that stand in for others are put.
	Index, Local string
	// Aliases are the user's names of banks and borrowers.
	Aliases Aliases
	// Diff says what changed between versions; it is needed where a deal has two that are new.
	Diff DiffFunc
	// Log is told why an earlier catalog could not serve; nil: nobody is.
	Log *slog.Logger
}

// Build writes the catalog to a new file at path. It begins with a copy of the layout; what an earlier
// catalog derived is taken over where that can serve, and derived anew where it cannot.
func (c *Catalog) Build(ctx context.Context, path string) error {
	layout, err := theLayout(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("catalog: layout: %w", err)
	}
	if c.Previous != "" {
		err := c.buildOn(ctx, path, layout, c.Previous)
		if err == nil || ctx.Err() != nil {
			return err
		}
		c.log().Info("the catalog is derived anew", "why", firstLine(err))
	}
	return c.buildOn(ctx, path, layout, "")
}

// buildOn makes the catalog from an earlier one, or, where previous is "", anew.
func (c *Catalog) buildOn(ctx context.Context, path string, layout *layout, previous string) error {
	if err := errors.Join(os.RemoveAll(path+".wal"), os.WriteFile(path, layout.file, 0o600)); err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	return c.edit(ctx, path, func(conn *stdsql.Conn) error {
		if previous != "" {
			if _, err := conn.ExecContext(ctx, "ATTACH "+literal(previous)+" AS previous (READ_ONLY)"); err != nil {
				return fmt.Errorf("the earlier catalog: %w", err)
			}
		}
		return c.refresh(ctx, conn, layout, previous != "")
	})
}

func (c *Catalog) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

// firstLine leaves out the traces that DuckDB adds to its errors.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// edit opens a catalog file for writing.
func (c *Catalog) edit(ctx context.Context, path string, work func(*stdsql.Conn) error) (err error) {
	db, err := connect(path, false, "SET parquet_metadata_cache = true")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return work(conn)
}

// step is a part of a catalog's making.
type step struct {
	name string
	do   func(context.Context, *stdsql.Conn) error
}

func doSteps(ctx context.Context, conn *stdsql.Conn, steps ...step) error {
	for _, step := range steps {
		if err := step.do(ctx, conn); err != nil {
			return fmt.Errorf("catalog: %s: %w", step.name, err)
		}
	}
	return nil
}

// statement is a step that executes a text.
func statement(name string, text func() (string, error)) step {
	return step{name, func(ctx context.Context, conn *stdsql.Conn) error {
		all, err := text()
		if err == nil {
			_, err = conn.ExecContext(ctx, all)
		}
		return err
	}}
}

// file is a step that executes a template.
func file(name string, data any) step {
	return statement(name, func() (string, error) { return render(name, data) })
}

func literally(text string) step {
	return statement(text, func() (string, error) { return text, nil })
}

// refresh makes a catalog that has the layout show the commit. goOn says that an earlier one is attached.
func (c *Catalog) refresh(ctx context.Context, conn *stdsql.Conn, layout *layout, goOn bool) error {
	from := since{instant: "-infinity", empty: true}
	data := c.refreshData(layout)
	var steps []step
	if c.Index != "" {
		steps = append(steps, step{"stand-in files", c.standIn}, literally("SET VARIABLE lake = "+literal(c.Local)))
	}
	return doSteps(ctx, conn, append(steps,
		literally("BEGIN"),
		step{"runs", c.fillRuns}, file("refresh/files.sql", data), file("refresh/index.sql", data),
		step{"what was derived", func(ctx context.Context, conn *stdsql.Conn) (err error) {
			if goOn {
				from, err = c.takeOver(ctx, conn, layout)
			}
			return err
		}},
		step{"aliases", func(ctx context.Context, conn *stdsql.Conn) error { return c.fillAliases(ctx, conn, goOn) }},
		step{"derived tables", func(ctx context.Context, conn *stdsql.Conn) error { return c.derive(ctx, conn, from) }},
		literally("COMMIT"), literally("CHECKPOINT"))...)
}

// refreshData is what the files of refresh/ see.
type refreshData struct {
	Catalog  *Catalog
	Layout   string
	Versions string // FROM clauses' sources
	Index    string // with the version index's columns
	Tables   []tableData
}

func (c *Catalog) refreshData(layout *layout) refreshData {
	data := refreshData{
		Catalog: c, Layout: layout.hash, Index: "_dealflow.history_deal_versions",
		Versions: c.source(lake.HistoryTable(lake.DealVersions), lake.DealVersionColumns()),
	}
	if c.Index != "" {
		data.Index = "read_parquet(" + literal(c.Index) + ")"
	}
	for _, table := range lake.Tables() {
		data.Tables = append(data.Tables, c.tableData(table))
	}
	return data
}

// tableData is what the statements of a flattened table see.
type tableData struct {
	*lake.Table
	Columns         []lake.Column // of history
	SnapshotColumns []lake.Column
	History         string // a FROM clause's source
	Snapshots       string
}

func (c *Catalog) tableData(table *lake.Table) tableData {
	data := tableData{Table: table, Columns: table.HistoryColumns(), SnapshotColumns: table.SnapshotColumns()}
	data.History = c.source(lake.HistoryTable(table.Name), data.Columns)
	data.Snapshots = c.source(lake.SnapshotTable(table.Name), data.SnapshotColumns)
	return data
}

// render fills a statement's template.
func render(name string, data any) (string, error) {
	return renderFrom(statements, name, data)
}

func renderFrom(files fs.FS, name string, data any) (string, error) {
	text, err := fs.ReadFile(files, name)
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

// readFiles reads files of one schema version. The root is looked up when the view is read. (Spelt out for
// each file: DuckDB cannot bind a lambda below a macro with a parameter that is called like a column.)
func (c *Catalog) readFiles(paths []string, columns []lake.Column, version int) string {
	root := "coalesce(getvariable('lake'), " + literal(c.Root) + ") || "
	quoted := make([]string, len(paths))
	for i, path := range paths {
		quoted[i] = root + literal("/"+path)
	}
	return fmt.Sprintf("SELECT %s FROM read_parquet([%s], hive_partitioning = true)", selectList(columns, version), strings.Join(quoted, ", "))
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

// Shown says what a catalog file shows.
type Shown struct {
	Commit       int64
	RunID        string // of the commit
	AliasVersion string
	Current      bool // it has the layout of this program
}

// ShownBy reads what a catalog file shows. A file that is no catalog of this program or an older one is an
// error.
func ShownBy(ctx context.Context, path string) (shown Shown, err error) {
	if _, err := os.Stat(path); err != nil {
		return shown, err
	}
	layout, err := theLayout(filepath.Dir(path))
	if err != nil {
		return shown, err
	}
	db, err := connect(path, true)
	if err != nil {
		return shown, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, `SELECT "commit", run_id FROM _dealflow.catalog JOIN main.runs USING ("commit")`).Scan(&shown.Commit, &shown.RunID)
	if err != nil {
		return shown, fmt.Errorf("%s is no dealflow catalog: %w", filepath.Base(path), err)
	}
	var hash string
	if db.QueryRowContext(ctx, "SELECT layout, alias_version FROM _dealflow.catalog").Scan(&hash, &shown.AliasVersion) == nil {
		shown.Current = hash == layout.hash
	}
	return shown, nil
}
