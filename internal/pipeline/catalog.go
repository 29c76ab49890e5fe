package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
	"dealflow/sql"
)

// catalogOf describes the catalog of a lake's present state.
func catalogOf(l *load.Lake) *sql.Catalog {
	log := l.Log()
	return &sql.Catalog{Root: l.Store().URL(), Commit: log.Number, Known: log.KnownAt, Files: log.AllFiles(), Runs: log.Runs}
}

// Publish builds the catalog and puts it into the lake, unless a newer commit has come in between:
// then its writer publishes. workDir is a local folder; "" means the system's.
func Publish(ctx context.Context, l *load.Lake, workDir string) (err error) {
	folder, err := os.MkdirTemp(workDir, "dealflow-catalog-*")
	if err != nil {
		return fmt.Errorf("work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, lake.CatalogKey)
	if err := catalogOf(l).Build(ctx, path); err != nil {
		return err
	}
	newer, err := l.HasCommit(ctx, l.Log().Number+1)
	if err != nil || newer {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(l.Store().Put(ctx, lake.CatalogKey, file, store.Replace), file.Close())
}

// Catalog is a catalog file for reading. Close removes it where it is private.
type Catalog struct {
	Path    string
	Root    string // of the lake
	Private bool   // built for the caller because the published one is absent or behind the log
	folder  string
}

// OpenCatalog gives the catalog of the lake's present state: the published one, or a private one where
// that is behind.
func OpenCatalog(ctx context.Context, l *load.Lake, workDir string) (*Catalog, error) {
	c := &Catalog{Root: l.Store().URL()}
	published := filepath.Join(c.Root, lake.CatalogKey)
	if n, err := sql.CommitOf(ctx, published); err == nil && n == l.Log().Number {
		c.Path = published
		return c, nil
	}
	var err error
	if c.folder, err = os.MkdirTemp(workDir, "dealflow-catalog-*"); err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	c.Path, c.Private = filepath.Join(c.folder, lake.CatalogKey), true
	if err := catalogOf(l).Build(ctx, c.Path); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close removes a private catalog.
func (c *Catalog) Close() error {
	if c.folder == "" {
		return nil
	}
	return os.RemoveAll(c.folder)
}
