package main

import (
	"cmp"
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"strings"

	"dealflow/internal/advice"
	"dealflow/internal/catalog"
	"dealflow/load"
	"dealflow/load/store"
)

// openLake opens the lake of the settings for a reader. If the lake has lost commits, it warns: the rest can be read.
func (a *app) openLake(ctx context.Context) (*load.Lake, error) {
	s, err := a.settings.store(ctx)
	if err != nil {
		return nil, err
	}
	return a.openToRead(ctx, s)
}

// openWhole opens the lake of the settings for a command whose work others rely on. A lake that has lost a commit is an error.
func (a *app) openWhole(ctx context.Context) (*load.Lake, error) {
	s, err := a.settings.store(ctx)
	if err != nil {
		return nil, err
	}
	return load.Open(ctx, s)
}

// openToRead is openLake for a store.
func (a *app) openToRead(ctx context.Context, s store.Store) (*load.Lake, error) {
	l, err := load.Open(ctx, s)
	if errors.Is(err, load.ErrLostCommit) && l.Log().Number > 0 {
		a.logger().Warn("answers lack what a lost commit said", "error", err.Error(), "next", "dealflow verify")
		return l, nil
	}
	return l, err
}

// openCatalog opens the file of a lake's catalog.
func (a *app) openCatalog(ctx context.Context, l *load.Lake) (*catalog.Catalog, error) {
	cache, err := a.settings.cache(l.Store())
	if err != nil {
		return nil, err
	}
	opened, err := catalog.Open(ctx, l, a.workDir(), cache)
	return opened, withNext(err)
}

// lostFile is DuckDB's error for a data file that is not there, with the next step.
type lostFile struct{ error }

// Error is one line: the statement, which DuckDB quotes below its message, is not the user's.
func (e *lostFile) Error() string {
	message, _, _ := strings.Cut(e.error.Error(), "\n")
	return message + "; `dealflow verify` says what is lost"
}

// Unwrap returns DuckDB's error.
func (e *lostFile) Unwrap() error { return e.error }

// withNext adds the next step to an error that says that a data file of the lake is not there, or that there are fewer threads than
// sql/engine has set.
func withNext(err error) error {
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "No files found that match the pattern"):
		return &lostFile{err}
	case strings.Contains(err.Error(), "can't be smaller than number of external threads"):
		return fmt.Errorf("%w Write SET external_threads = 1 before it", err)
	}
	return err
}

// warnIfPrivate says why the published catalog does not answer, and what mends it.
func (a *app) warnIfPrivate(l *load.Lake, c *catalog.Catalog) {
	if !c.Private {
		return
	}
	a.logger().Warn("the published catalog is not used; a private one answers", "why", c.Why.Error(), "next", cmp.Or(advice.BeforeWriting(l), "dealflow catalog"))
}

// withCatalog opens the catalog of a lake, calls use, and closes it. On a remote lake, use may run only these
// statements: the files that they read are fetched first.
func (a *app) withCatalog(ctx context.Context, l *load.Lake, use func(*stdsql.DB) error, statements ...string) (err error) {
	catalog, err := a.openCatalog(ctx, l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, catalog.Close()) }()
	a.warnIfPrivate(l, catalog)
	db, err := catalog.DB(ctx, statements...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return withNext(use(db))
}
