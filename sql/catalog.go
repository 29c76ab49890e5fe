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

	// Previous is a local file with an earlier catalog of the lake: the new one begins as a copy of it, and takes
	// in only what came since. "", or a file that cannot serve: everything is made anew.
	Previous string
	// Local gives DuckDB the lake's files on this machine. It must be set.
	Local LocalFiles
	// Aliases are the user's names of banks and borrowers.
	Aliases Aliases
	// Diff says what changed between versions; it is needed where a deal has two that are new.
	Diff DiffFunc
	// Log is told why an earlier catalog could not serve; nil: nobody is.
	Log *slog.Logger
}

// LocalFiles gives DuckDB a local folder of a lake's files, wherever the lake is stored. load/mirror has it.
type LocalFiles interface {
	// Root is the folder. A file is under its path in the lake after Fetch.
	Root() string
	// Fetch adds files to the folder.
	Fetch(ctx context.Context, files []lake.File) error
	// Placeholders returns a folder in which each of the files is found under its path, with the right columns; rows
	// may be missing. DuckDB looks for no more when it makes a view.
	Placeholders(ctx context.Context, files []lake.File) (root string, err error)
	// Index returns a local Parquet file with the columns that a catalog keeps of files of deal_versions; "" if the
	// files themselves are to be read. files is not empty.
	Index(ctx context.Context, files []lake.File) (path string, err error)
}

// Build writes the catalog to a new file at path: an earlier one that was brought up to date where that can
// serve, and else the layout, filled from all of history. Either says the same.
func (c *Catalog) Build(ctx context.Context, path string) error {
	return c.build(ctx, path)
}

// BuildAndCheck is Build for the commit that is about to be made: it asks the declared checks of what the catalog
// shows then, and notes their results in it. brought are the files that the commit adds; accepted names checks that
// hold nothing this time. Where it fails behind the checks, the results are there beside the error.
func (c *Catalog) BuildAndCheck(ctx context.Context, path string, brought []lake.File, accepted []string) (results []lake.Check, err error) {
	err = c.build(ctx, path, step{"checks", func(ctx context.Context, conn *stdsql.Conn) (err error) {
		results, err = c.check(ctx, conn, brought, accepted)
		return err
	}})
	return results, err
}

// checkError is the failure of a check, which a catalog made anew would not mend.
type checkError struct {
	name string
	err  error
}

func (e *checkError) Error() string { return e.name + ": " + e.err.Error() }
func (e *checkError) Unwrap() error { return e.err }

// build writes the catalog; last are the last steps of it.
func (c *Catalog) build(ctx context.Context, path string, last ...step) error {
	if c.Previous != "" {
		err := c.buildOn(ctx, path, last...)
		var unasked *checkError
		if err == nil || ctx.Err() != nil || errors.As(err, &unasked) {
			return err
		}
		c.log().Info("the catalog is made anew", "why", firstLine(err))
	}
	return c.buildAnew(ctx, path, last...)
}

// buildOn makes the catalog from an earlier one.
func (c *Catalog) buildOn(ctx context.Context, path string, last ...step) error {
	if err := errors.Join(os.RemoveAll(path+".wal"), unseal(c.Previous, path)); err != nil {
		return fmt.Errorf("the earlier catalog: %w", err)
	}
	err := c.edit(ctx, path, func(conn *stdsql.Conn) error {
		from, err := c.goesOn(ctx, conn)
		if err != nil {
			return err
		}
		return c.refresh(ctx, conn, from, last...)
	})
	if err != nil {
		return err
	}
	return seal(path)
}

// buildAnew makes the catalog from the layout.
func (c *Catalog) buildAnew(ctx context.Context, path string, last ...step) error {
	layout, err := theLayout(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("catalog: layout: %w", err)
	}
	if err := errors.Join(os.RemoveAll(path+".wal"), os.WriteFile(path, layout, 0o600)); err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	err = c.edit(ctx, path, func(conn *stdsql.Conn) error { return c.refresh(ctx, conn, since{instant: "-infinity"}, last...) })
	if err != nil {
		return err
	}
	return seal(path)
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

// workMemory is what DuckDB may hold while a catalog is made, besides what it reads of single files. What is more than
// that goes to a folder beside the catalog, which DuckDB removes. Each thread holds some that cannot go there, so
// there are few, however many processors there are.
const (
	workMemory  = "96MiB"
	workThreads = "2"
)

// workSettings are those of a catalog file that is being made.
func workSettings(path string) []string {
	return []string{
		"SET threads = " + workThreads, "SET memory_limit = " + literal(workMemory), "SET temp_directory = " + literal(path+".spilled"),
		"SET parquet_metadata_cache = true",
	}
}

// giveBack has DuckDB return to the system the memory that it has freed, which it keeps otherwise: that is what it does
// when the limit is set, also to what it was.
var giveBack = literally("SET memory_limit = " + literal(workMemory))

// edit opens a catalog file for writing.
func (c *Catalog) edit(ctx context.Context, path string, work func(*stdsql.Conn) error) (err error) {
	db, err := connect(path, false, workSettings(path)...)
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

func literally(text string) step {
	return statement(text, func() (string, error) { return text, nil })
}

// refresh makes a catalog that holds up to an earlier commit show this one, all at once.
func (c *Catalog) refresh(ctx context.Context, conn *stdsql.Conn, from since, last ...step) error {
	news := c.newsSince(from)
	views, err := c.changedViews(ctx, conn)
	if err != nil {
		return fmt.Errorf("catalog: files: %w", err)
	}
	if err := c.Local.Fetch(ctx, newRows(news)); err != nil {
		return fmt.Errorf("catalog: files: %w", err)
	}
	steps := []step{
		literally("BEGIN"),
		{"commit", c.noteCommit},
		{"runs", func(ctx context.Context, conn *stdsql.Conn) error { return c.fillRuns(ctx, conn, from) }},
		{"files", func(ctx context.Context, conn *stdsql.Conn) error { return c.renewViews(ctx, conn, views) }},
		{"new versions", func(ctx context.Context, conn *stdsql.Conn) error { return c.indexVersions(ctx, conn, news) }},
		giveBack,
		{"aliases", c.fillAliases},
		{"derived tables", func(ctx context.Context, conn *stdsql.Conn) error { return c.derive(ctx, conn, news) }},
		giveBack,
	}
	return doSteps(ctx, conn, append(append(steps, last...), literally("COMMIT"), giveBack, literally("CHECKPOINT"))...)
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

// noteCommit says which commit of which lake the catalog shows.
func (c *Catalog) noteCommit(ctx context.Context, conn *stdsql.Conn) error {
	layout, err := layoutHash()
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, `
INSERT INTO _dealflow.catalog (alias_version) SELECT '' WHERE NOT EXISTS (FROM _dealflow.catalog);
UPDATE _dealflow.catalog SET "commit" = ?, known_at = ?::TIMESTAMPTZ, root = ?, layout = ?`, c.Commit, c.Known.String(), c.Root, layout)
	return err
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
	layout, err := layoutHash()
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
		shown.Current = hash == layout
	}
	return shown, nil
}
