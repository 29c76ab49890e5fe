package catalog

import (
	"context"
	stdsql "database/sql"
	"errors"
	"log/slog"
	"slices"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/schemas/lake"
	"dealflow/sql"
)

// Catalog is an open catalog file. Fetch is safe for concurrent use. Close removes what is private.
type Catalog struct {
	Path    string
	Private bool // built for the caller because the published one is absent or older than the log

	lake  *load.Lake
	local *mirror.Mirror
	made  *Made // the private one; nil for none
}

// Open returns the catalog of the lake's present state: the published one, or a private one if the published one is
// older. cache keeps the files of a lake that is no local folder; with nil they are kept for this catalog alone. workDir
// is a local folder for unfinished files; "" means the system's.
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
	published, err := c.local.PublishedCatalog(ctx)
	if err != nil {
		return err
	}
	if published != "" && c.isCurrent(ctx, published) {
		c.Path = published
		return nil
	}
	maker := &Maker{Lake: c.lake, Cache: cache, WorkDir: workDir, Log: slog.New(slog.DiscardHandler)}
	if c.made, err = maker.make(ctx, stateOf(c.lake.Log()), published, (*sql.Catalog).Build); err != nil {
		return err
	}
	c.Private, c.Path = true, c.made.path
	return nil
}

// isCurrent says whether the catalog at path shows the lake's present state, aliases included, and has everything that
// this program's catalogs have.
func (c *Catalog) isCurrent(ctx context.Context, path string) bool {
	shown, err := sql.ShownBy(ctx, path)
	log := c.lake.Log()
	if err != nil || !shown.Current || shown.Commit != log.Number || len(log.Runs) == 0 || shown.RunID != log.Runs[len(log.Runs)-1].RunID {
		return false
	}
	aliases, err := readAliases(ctx, c.lake)
	return err != nil || aliases.Version == shown.AliasVersion // unreadable aliases change nothing
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
	if err := c.Fetch(ctx, db, statements...); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Fetch adds the files that statements may read to Root. db is the catalog, opened with this Root.
func (c *Catalog) Fetch(ctx context.Context, db *stdsql.DB, statements ...string) error {
	if c.local.IsLake() {
		return nil // finding the statements' files would cost time
	}
	paths, err := sql.Paths(ctx, db, statements...)
	if err != nil {
		return err
	}
	files := slices.DeleteFunc(c.lake.Log().AllFiles(), func(f lake.File) bool {
		_, wanted := slices.BinarySearch(paths, f.Path)
		return !wanted
	})
	return c.local.Fetch(ctx, files)
}

// Close removes what is private.
func (c *Catalog) Close() error { return errors.Join(c.made.Close(), c.local.Close()) }

// PublishedCommit returns the number of the commit that the published catalog shows; 0 if there is no readable one.
// workDir is a local folder for unfinished files; "" means the system's.
func PublishedCommit(ctx context.Context, l *load.Lake, workDir string) (commit int64, err error) {
	local, err := mirror.OpenBriefly(l.Store(), nil, workDir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	path, err := local.PublishedCatalog(ctx)
	if err != nil || path == "" {
		return 0, err
	}
	shown, err := sql.ShownBy(ctx, path)
	if err != nil {
		return 0, ctx.Err()
	}
	return shown.Commit, nil
}
