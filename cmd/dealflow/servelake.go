package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"time"

	"dealflow/load"
	"dealflow/serve"
	"dealflow/serve/lakesource"
)

// servingMemory limits the memory of DuckDB for the queries of a server.
const servingMemory = "1GB"

// lakeMarket opens the lake of the settings as a market to serve. With asOf "" the market follows every commit;
// otherwise it is the lake as of that instant (RFC 3339). The caller calls closeAll when serving has ended.
func (a *app) lakeMarket(ctx context.Context, asOf string) (source serve.Source, closeAll func() error, err error) {
	instant, err := time.Parse(time.RFC3339, asOf)
	if asOf != "" && err != nil {
		return nil, nil, usagef("--as-of %q: want an instant such as 2026-11-01T06:00:00Z", asOf)
	}
	l, err := a.openLake(ctx)
	if err != nil {
		return nil, nil, err
	}
	opener := catalogs{app: a, lake: l}
	market, err := lakesource.New(ctx, lakesource.Config{Newer: opener.newer})
	if err != nil {
		return nil, nil, err
	}
	if asOf == "" {
		return market, market.Close, nil
	}
	past, err := market.AsOf(ctx, instant)
	if errors.Is(err, serve.ErrNotFound) {
		err = usagef("--as-of %s: the lake has no commit up to then", asOf)
	}
	if err != nil {
		return nil, nil, errors.Join(err, market.Close())
	}
	return past, market.Close, nil
}

// catalogs opens the catalogs of a lake that gets new commits.
type catalogs struct {
	app  *app
	lake *load.Lake
}

// newer implements lakesource.Config.Newer.
func (c *catalogs) newer(ctx context.Context, than int64) (*lakesource.Catalog, error) {
	return openNewer(ctx, c, than, c.open)
}

// openNewer opens the lake's newest catalog if it shows a commit after the given one, and returns nil otherwise. If there is
// no newer commit, it costs one request to the store. open returns nil if a writer has replaced the catalog.
func openNewer[T any](ctx context.Context, c *catalogs, than int64, open func(context.Context, *load.Lake) (*T, error)) (*T, error) {
	if than > 0 {
		found, err := c.lake.HasCommit(ctx, than+1)
		if err != nil || !found {
			return nil, err
		}
	}
	// A writer may replace the published catalog while this reads it. Then open returns nil, and the next try opens the
	// new one.
	for range 3 {
		l, err := c.app.openToRead(ctx, c.lake.Store())
		if err != nil {
			return nil, err
		}
		catalog, err := open(ctx, l)
		if err != nil || catalog != nil {
			return catalog, err
		}
	}
	return nil, errors.New("the lake's catalog changed during every attempt to open it; check whether another program writes to the lake continuously")
}

// open opens the catalog for the lake's latest commit in l. It returns nil if a writer has replaced the catalog.
func (c *catalogs) open(ctx context.Context, l *load.Lake) (catalog *lakesource.Catalog, err error) {
	file, err := c.app.openCatalog(ctx, l)
	if err != nil {
		return nil, err
	}
	db, done, err := file.Apart(ctx, c.app.workDir())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	closeAll := func() error { return errors.Join(done(), file.Close()) }
	commit, err := prepare(ctx, db, servingMemory)
	if err == nil {
		err = file.Fetch(ctx, db, lakesource.Reads())
	}
	if err != nil || commit != l.Log().Number {
		return nil, errors.Join(err, closeAll())
	}
	return &lakesource.Catalog{DB: db, Close: closeAll}, nil
}

// prepare limits a catalog's memory and returns the commit that it shows.
func prepare(ctx context.Context, db *stdsql.DB, memory string) (commit int64, err error) {
	if _, err := db.ExecContext(ctx, "SET memory_limit = '"+memory+"'"); err != nil {
		return 0, fmt.Errorf("catalog: %w", err)
	}
	err = db.QueryRowContext(ctx, `SELECT "commit" FROM catalog_info`).Scan(&commit)
	return commit, err
}
