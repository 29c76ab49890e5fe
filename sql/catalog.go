package sql

import (
	"cmp"
	"context"
	stdsql "database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"strings"
	"text/template"

	"dealflow/schemas/lake"
	"dealflow/sql/byyear"
	"dealflow/sql/engine"
	"dealflow/sql/names"
	"dealflow/sql/quote"
	"dealflow/sql/runrows"
	"dealflow/sql/sealed"
)

//go:embed views/*.sql macros/*.sql analyses/*.sql refresh/*.sql
var statements embed.FS

// Catalog declares the contents of a catalog. Root, Commit, Known, Files, Runs and Local must be set.
type Catalog struct {
	Root   string        // of the lake: an absolute path or s3://bucket/prefix
	Commit int64         // the commit it shows
	SHA256 string        // of that commit's bytes; "" for a commit that is not made yet: Unfinished.Finish gets it
	Known  lake.Instant  // that commit's known_at
	Files  []lake.File   // live files
	Runs   []lake.Commit // oldest first: all runs, or of a long log those that load.Log.Commits has

	// RunsAfter yields the runs after a commit, oldest first; an error is the last that it yields. nil: Runs has all.
	RunsAfter func(ctx context.Context, commit int64) iter.Seq2[*lake.Commit, error]

	// Previous is a local file with an earlier catalog of the lake. The new catalog begins as a copy of it and adds
	// only what is newer. If Previous is "" or cannot be extended, the catalog is built from scratch.
	Previous string
	// Local provides the lake's files on this machine. It must be set.
	Local LocalFiles
	// Aliases are the user's names of banks and borrowers.
	Aliases names.Declared
	// Diff compares versions. It is needed if a deal has a new version after another one.
	Diff DiffFunc
	// Log records why Previous could not be extended, and when more memory is needed; nil: nothing is logged.
	Log *slog.Logger
	// Memory limits DuckDB's working memory while the catalog is built, in MiB; 0 means 96, which a first night of 50,000
	// deals a feed fits in. For a larger lake the limit is raised, step by step.
	Memory int
}

// LocalFiles is a local folder with a lake's files for DuckDB, wherever the lake is stored. load/mirror implements it.
type LocalFiles interface {
	// Root is the folder. A file is under its path in the lake after Fetch.
	Root() string
	// Fetch adds files to the folder.
	Fetch(ctx context.Context, files []lake.File) error
	// Placeholders returns a folder that contains each of the files under its path, with the right columns. Rows may be
	// missing: DuckDB reads only the columns when it creates a view.
	Placeholders(ctx context.Context, files []lake.File) (root string, err error)
	// Index returns a local Parquet file with those columns of the given deal_versions files that a catalog keeps. It
	// returns "" if the files themselves must be read. files is not empty.
	Index(ctx context.Context, files []lake.File) (path string, err error)
}

// Build writes the catalog to a new file at path. It extends Previous if that is possible, or fills an empty catalog
// from all of history. The result is the same.
func (c *Catalog) Build(ctx context.Context, path string) error {
	made, err := c.build(ctx, path, nil)
	if err != nil {
		return err
	}
	return made.Finish(ctx, lake.NamedCommit{Number: c.Commit, SHA256: c.SHA256, KnownAt: c.Known})
}

// BuildAndCheck is Build for a commit that is not made yet: the caller finishes or closes what it has made. It runs the
// quality checks on the catalog and records their results in it. added are the commit's new files. accepted names checks
// that do not hold this run. If an error occurs after the checks, the results are returned together with the error.
func (c *Catalog) BuildAndCheck(ctx context.Context, path string, added []lake.File, accepted []string) (made *Unfinished, results []lake.Check, err error) {
	made, err = c.build(ctx, path, func(c *Catalog) step {
		return step{"checks", func(ctx context.Context, conn *stdsql.Conn) (err error) {
			results, err = c.check(ctx, conn, added, accepted)
			return err
		}}
	})
	return made, results, err
}

// checkError is the failure of a check's query. Building the catalog from scratch would not cure it.
type checkError struct {
	name string
	err  error
}

func (e *checkError) Error() string { return e.name + ": " + e.err.Error() }
func (e *checkError) Unwrap() error { return e.err }

// lastStep returns the step before the transaction of a catalog commits; nil for none. The Catalog is the one that is built: it
// has its Memory.
type lastStep func(*Catalog) step

// build writes the catalog, with the last step before its transaction commits. If DuckDB's memory does not suffice, it
// begins again with four times as much: a lake that is larger than any that was tried must not hold a night.
func (c *Catalog) build(ctx context.Context, path string, last lastStep) (*Unfinished, error) {
	try := *c
	for try.Memory = cmp.Or(c.Memory, workMemory); ; try.Memory *= moreMemory {
		made, err := try.buildOnce(ctx, path, last)
		if !engine.IsOutOfMemory(err) || try.Memory*moreMemory > mostMemory {
			return made, err
		}
		c.log().Info("the catalog is built again with more memory", "why", firstLine(err), "mib", try.Memory*moreMemory)
	}
}

// buildOnce builds the catalog with the memory that it has.
func (c *Catalog) buildOnce(ctx context.Context, path string, last lastStep) (*Unfinished, error) {
	if c.Previous != "" {
		made, err := c.extendPrevious(ctx, path, last)
		var failed *checkError
		if err == nil || ctx.Err() != nil || errors.As(err, &failed) || engine.IsOutOfMemory(err) {
			return made, err
		}
		c.log().Info("the catalog is built from scratch", "why", firstLine(err))
	}
	return c.buildFromScratch(ctx, path, last)
}

// extendPrevious writes the catalog as an extended copy of Previous.
func (c *Catalog) extendPrevious(ctx context.Context, path string, last lastStep) (*Unfinished, error) {
	if err := errors.Join(os.RemoveAll(path+".wal"), sealed.Copy(c.Previous, path)); err != nil {
		return nil, fmt.Errorf("the previous catalog cannot be extended: %w", err)
	}
	return begin(ctx, path, c.Memory, func(conn *stdsql.Conn) error {
		from, err := c.readBaseline(ctx, conn)
		if err != nil {
			return err
		}
		return c.refresh(ctx, conn, from, last)
	})
}

// buildFromScratch fills an empty catalog from all of history.
func (c *Catalog) buildFromScratch(ctx context.Context, path string, last lastStep) (*Unfinished, error) {
	if err := os.RemoveAll(path + ".wal"); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	if err := c.writeLayout(path); err != nil {
		return nil, fmt.Errorf("catalog: layout: %w", err)
	}
	return begin(ctx, path, c.Memory, func(conn *stdsql.Conn) error {
		return c.refresh(ctx, conn, baseline{instant: "-infinity"}, last)
	})
}

func (c *Catalog) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

// firstLine drops the stack traces that DuckDB adds to its errors.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// workMemory is DuckDB's memory limit while a catalog is built, in MiB, apart from its buffers for single files. DuckDB
// spills the rest to a folder next to the catalog and removes that folder. Each thread needs some memory that cannot be
// spilled, so there are few threads on any machine. What a statement joins and sorts in memory does not fit in that
// of a very large lake: then the limit is multiplied by moreMemory, up to mostMemory.
//
// Up to fewRows new rows one thread builds the catalog: most statements are small then, and the threads would mostly
// wait for each other (a night of a small lake: a quarter less processor time, and less time in all). The footers of files are
// kept then. Those of a first night of many deals take 10 MiB and more, and few of them are read twice.
const (
	workMemory = 96
	moreMemory = 4
	mostMemory = workMemory * moreMemory * moreMemory
	fewRows    = 200_000
)

// sizedFor returns DuckDB's settings for a build with new files.
func sizedFor(added newFiles) string {
	if added.rows() <= fewRows {
		return engine.Threads(1) + "; SET parquet_metadata_cache = true"
	}
	return engine.Threads(2) + "; SET parquet_metadata_cache = false"
}

// workSettings are the DuckDB settings for building the catalog file at path. Each commit but a very small one
// writes into the file at once, and not to a write-ahead log before.
func workSettings(path string, memory int) []string {
	return []string{
		engine.Threads(1), engine.Memory(memory), "SET temp_directory = " + quote.Text(path+".spilled"),
		"SET checkpoint_threshold = '1KB'",
	}
}

// release makes DuckDB return to the system what the statements before have freed: it does so whenever the limit is set, even to
// the same value. Else the process keeps that while the next statement takes its own.
func (c *Catalog) release(ctx context.Context, conn *stdsql.Conn) error {
	_, err := conn.ExecContext(ctx, engine.Memory(c.Memory))
	return err
}

// step is a named part of building a catalog. Errors carry its name.
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

// statement is a step that executes the SQL that text returns.
func statement(name string, text func() (string, error)) step {
	return step{name, func(ctx context.Context, conn *stdsql.Conn) error {
		all, err := text()
		if err == nil {
			_, err = conn.ExecContext(ctx, all)
		}
		return err
	}}
}

// sqlStep is a step that executes a fixed SQL text, which is also its name.
func sqlStep(text string) step {
	return statement(text, func() (string, error) { return text, nil })
}

// refresh brings a catalog from an earlier commit to this one, in a transaction that Finish commits.
func (c *Catalog) refresh(ctx context.Context, conn *stdsql.Conn, from baseline, last lastStep) error {
	added := c.newFilesSince(from)
	views, err := c.changedViews(ctx, conn)
	if err != nil {
		return fmt.Errorf("catalog: files: %w", err)
	}
	if err := c.Local.Fetch(ctx, newRows(added)); err != nil {
		return fmt.Errorf("catalog: files: %w", err)
	}
	release := step{"memory", c.release}
	steps := []step{
		sqlStep(sizedFor(added)),
		sqlStep("BEGIN"),
		{"commit", c.recordCommit},
		{"runs", func(ctx context.Context, conn *stdsql.Conn) error {
			runs := runrows.After(c.Runs, from.commit)
			if c.RunsAfter != nil {
				runs = c.RunsAfter(ctx, from.commit)
			}
			return runrows.Insert(ctx, conn, runs)
		}},
		{"files", func(ctx context.Context, conn *stdsql.Conn) error { return c.replaceViews(ctx, conn, views) }},
		{"new versions", func(ctx context.Context, conn *stdsql.Conn) error { return c.indexVersions(ctx, conn, added) }},
		{"years", func(ctx context.Context, conn *stdsql.Conn) error {
			if from.commit > 0 && len(added.files[lake.HistoryTable(lake.DealVersions)]) == 0 {
				return nil // there is no new version
			}
			return writeYears(ctx, conn)
		}},
		release,
		{"aliases", func(ctx context.Context, conn *stdsql.Conn) (err error) {
			added.renamed, err = c.fillAliases(ctx, conn)
			return err
		}},
		{"derived tables", func(ctx context.Context, conn *stdsql.Conn) error { return c.derive(ctx, conn, added) }},
		release,
	}
	if last != nil {
		steps = append(steps, last(c))
	}
	return doSteps(ctx, conn, steps...)
}

// writeYears writes which files of expected deals can have rows as of an instant.
func writeYears(ctx context.Context, conn *stdsql.Conn) error {
	query, err := render("refresh/years.sql", nil)
	if err != nil {
		return err
	}
	var lakeID string
	if err := conn.QueryRowContext(ctx, "SELECT lake_id FROM _dealflow.catalog").Scan(&lakeID); err != nil {
		return err
	}
	return byyear.Write(ctx, conn, ownSchemaOf(lakeID), query)
}

// render executes the template of a statement.
func render(name string, data any) (string, error) {
	return renderFrom(statements, name, data)
}

func renderFrom(files fs.FS, name string, data any) (string, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return "", err
	}
	t, err := template.New(name).Funcs(template.FuncMap{"lit": quote.Text, "ident": quote.Name}).Parse(string(text))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	if err := t.Execute(&out, data); err != nil {
		return "", err
	}
	return out.String(), nil
}

// recordCommit stores in the catalog which commit of which lake it shows.
func (c *Catalog) recordCommit(ctx context.Context, conn *stdsql.Conn) error {
	layout, err := layoutHash(ctx, conn)
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, `
INSERT INTO _dealflow.catalog (alias_version) SELECT '' WHERE NOT EXISTS (FROM _dealflow.catalog);
UPDATE _dealflow.catalog SET "commit" = ?, known_at = ?::TIMESTAMPTZ, root = ?, layout = ?, sha256 = NULL, lake_id = ?`,
		c.Commit, c.Known.String(), c.Root, layout, c.lakeID())
	return err
}

// Shown is the state of a catalog file.
type Shown struct {
	Commit       lake.NamedCommit // without a hash if an older program made the catalog
	RunID        string           // of the commit
	AliasVersion string
	Current      bool // this program can extend it: layout and DuckDB version are the same
}

// ShownBy reads the state of an open catalog. It accepts catalogs of older programs. A database that is no catalog is an
// error.
func ShownBy(ctx context.Context, db *stdsql.DB) (shown Shown, err error) {
	layout, err := layoutHash(ctx, db)
	if err != nil {
		return shown, err
	}
	err = db.QueryRowContext(ctx, `SELECT "commit", c.known_at, run_id FROM _dealflow.catalog c JOIN main.runs USING ("commit")`).
		Scan(&shown.Commit.Number, &shown.Commit.KnownAt.Time, &shown.RunID)
	if err != nil {
		return shown, fmt.Errorf("it is not a dealflow catalog: %w", err)
	}
	shown.Commit.KnownAt = lake.At(shown.Commit.KnownAt.Time)
	var hash string
	if db.QueryRowContext(ctx, "SELECT layout, alias_version, coalesce(sha256, '') FROM _dealflow.catalog").Scan(&hash, &shown.AliasVersion, &shown.Commit.SHA256) == nil {
		shown.Current = hash == layout
	}
	return shown, nil
}
