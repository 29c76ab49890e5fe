package main

import (
	"context"
	stdsql "database/sql"
	"errors"

	"dealflow/internal/pipeline"
	"dealflow/load"
	"dealflow/sql"
)

// openLake opens the lake of the settings.
func (a *app) openLake(ctx context.Context) (*load.Lake, error) {
	s, err := a.settings.store()
	if err != nil {
		return nil, err
	}
	return load.Open(ctx, s)
}

// withCatalog opens the catalog of a lake for the length of a call.
func (a *app) withCatalog(ctx context.Context, l *load.Lake, use func(*stdsql.DB) error) (err error) {
	catalog, err := pipeline.OpenCatalog(ctx, l, a.settings.workDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, catalog.Close()) }()
	if catalog.Private {
		a.logger().Warn("the published catalog is absent or behind the log; using a private one", "next", "dealflow catalog")
	}
	db, err := sql.Open(ctx, catalog.Path, catalog.Root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return use(db)
}
