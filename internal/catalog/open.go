package catalog

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/schemas/lake"
	"dealflow/sql"
	"dealflow/sql/names"
	"dealflow/sql/paths"
)

// Catalog is an open catalog file. Fetch is safe for concurrent use. Close removes what is private.
type Catalog struct {
	Path    string
	Private bool  // built for the caller because the published one cannot be used
	Why     error // the reason for that; nil if it is not Private

	lake  *load.Lake
	local *mirror.Mirror
	made  *Made     // the private one; nil for none
	read  published // is open until the catalog is opened for statements: while it is, DuckDB need not load the file again
}

// Open returns the catalog of the lake's present state: the published one, or a private one if the published one is
// older, was changed after it was made, or has a write-ahead log next to it. cache keeps the files of a lake that is no
// local folder; with nil they are kept for this catalog alone. workDir is a local folder for unfinished files; "" means
// the system's.
func Open(ctx context.Context, l *load.Lake, workDir string, cache *mirror.Cache) (*Catalog, error) {
	local, err := mirror.Open(l.Store(), cache, workDir)
	if err != nil {
		return nil, err
	}
	c := &Catalog{lake: l, local: local}
	if err := c.open(ctx, workDir, cache); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Catalog) open(ctx context.Context, workDir string, cache *mirror.Cache) error {
	var found published
	var aliases names.Declared
	var aliasErr error // unreadable aliases change nothing
	reading, readingCtx := errgroup.WithContext(ctx)
	reading.Go(func() (err error) {
		found, err = readPublished(readingCtx, c.local, c.lake.PublishedCatalog())
		return err
	})
	reading.Go(func() error {
		aliases, aliasErr = readAliases(readingCtx, c.lake)
		return nil
	})
	if err := reading.Wait(); err != nil {
		return err
	}
	if c.Why = c.unusable(&found); c.Why == nil && aliasErr == nil && aliases.Version != found.shown.AliasVersion {
		c.Why = errors.New("the aliases have changed since")
	}
	if c.Why == nil {
		c.Path, c.read = found.path, found
		return nil
	}
	if err := found.close(); err != nil {
		return err
	}
	maker := &Maker{Lake: c.lake, Cache: cache, WorkDir: workDir, Log: slog.New(slog.DiscardHandler)}
	if aliasErr == nil {
		maker.declared = &aliases
	}
	var err error
	if c.made, err = maker.make(ctx, stateOf(c.lake.Log()), found.path, (*sql.Catalog).Build); err != nil {
		return err
	}
	c.Private, c.Path = true, c.made.path
	return nil
}

// unusable says why the published catalog cannot answer for the lake's present state, aliases aside; nil if it can.
func (c *Catalog) unusable(found *published) error {
	log, shown := c.lake.Log(), &found.shown
	switch {
	case found.path == "":
		return errors.New("it is absent")
	case found.flaw != nil:
		return found.flaw
	case shown.Commit.Number != log.Number:
		return fmt.Errorf("it shows commit %d, the log ends with commit %d", shown.Commit.Number, log.Number)
	case !shown.Current:
		return errors.New("another version of the program made it")
	case shown.Commit.SHA256 != log.SHA256:
		return fmt.Errorf("it shows another %s, the log has %.12s", shown.Commit, log.SHA256)
	}
	return nil
}

// Root is the local folder under which DuckDB finds the lake's files after Fetch.
func (c *Catalog) Root() string { return c.local.Root() }

// DB opens the catalog for statements: the files that they may read are fetched first. The caller closes it before the
// Catalog.
func (c *Catalog) DB(ctx context.Context, statements ...string) (*stdsql.DB, error) {
	db, err := sql.Open(ctx, c.Path, c.Root())
	if err != nil {
		return nil, err
	}
	if err := c.read.close(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := c.Fetch(ctx, db, statements...); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Apart is DB for a caller that keeps the catalog open while a newer one may be published: see sql.OpenApart. done closes it.
// The caller fetches the files that it reads.
func (c *Catalog) Apart(ctx context.Context, workDir string) (db *stdsql.DB, done func() error, err error) {
	if err := c.read.close(); err != nil {
		return nil, nil, err
	}
	return sql.OpenApart(ctx, c.Path, c.Root(), workDir)
}

// FetchFor is Fetch for a caller that has not opened the catalog.
func (c *Catalog) FetchFor(ctx context.Context, statements ...string) error {
	if c.local.IsLake() {
		return nil
	}
	db, err := c.DB(ctx, statements...)
	if err != nil {
		return err
	}
	return db.Close()
}

// Fetch adds the files that statements may read to Root. db is the catalog, opened with this Root.
func (c *Catalog) Fetch(ctx context.Context, db *stdsql.DB, statements ...string) error {
	if c.local.IsLake() {
		return nil // finding the statements' files would cost time
	}
	named, err := paths.Of(ctx, db, statements...)
	if err != nil {
		return err
	}
	files := slices.DeleteFunc(c.lake.Log().AllFiles(), func(f lake.File) bool {
		_, wanted := slices.BinarySearch(named, f.Path)
		return !wanted
	})
	return c.local.Fetch(ctx, files)
}

// Cut writes a catalog of the lake as it was known at an instant, to a new file at path: see sql.Cut. from is a file with this
// catalog. shown is the newest commit up to the instant, with the number 0 for none.
func (c *Catalog) Cut(ctx context.Context, from, path string, known lake.Instant, shown lake.NamedCommit) error {
	return sql.Cut(ctx, from, path, known, shown, c.lake.Log().AllFiles(), c.local)
}

// Close removes what is private.
func (c *Catalog) Close() error {
	return errors.Join(c.read.close(), c.made.Close(), c.local.Close())
}
