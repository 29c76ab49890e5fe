package main

import (
	"context"
	stdsql "database/sql"
	"errors"

	"dealflow/internal/catalog"
	"dealflow/load"
)

// openLake opens the lake of the settings.
func (a *app) openLake(ctx context.Context) (*load.Lake, error) {
	s, err := a.settings.store(ctx)
	if err != nil {
		return nil, err
	}
	return load.Open(ctx, s)
}

// openCatalog opens the file of a lake's catalog.
func (a *app) openCatalog(ctx context.Context, l *load.Lake) (*catalog.Catalog, error) {
	cache, err := a.settings.cache(l.Store())
	if err != nil {
		return nil, err
	}
	return catalog.Open(ctx, l, a.settings.workDir, cache)
}

// withCatalog opens the catalog of a lake, calls use, and closes it. On a remote lake, use may run only these
// statements: the files that they read are fetched first.
func (a *app) withCatalog(ctx context.Context, l *load.Lake, use func(*stdsql.DB) error, statements ...string) (err error) {
	catalog, err := a.openCatalog(ctx, l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, catalog.Close()) }()
	if catalog.Private {
		a.logger().Warn("the published catalog is absent or behind the log; using a private one", "next", "dealflow catalog")
	}
	db, err := catalog.DB(ctx, statements...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return use(db)
}
