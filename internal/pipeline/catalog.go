package pipeline

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
	"dealflow/sql"
)

// build writes the catalog of a lake's present state into folder and gives its path.
func build(ctx context.Context, l *load.Lake, folder string) (path string, err error) {
	log := l.Log()
	c := &sql.Catalog{Root: l.Store().URL(), Commit: log.Number, Known: log.KnownAt, Files: log.AllFiles(), Runs: log.Runs}
	if !isLocal(l) {
		c.Index = filepath.Join(folder, "index.parquet")
		if err := l.WriteIndex(ctx, memory.DefaultAllocator, c.Index); err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, os.Remove(c.Index)) }()
	}
	path = filepath.Join(folder, lake.CatalogKey)
	return path, c.Build(ctx, path)
}

// isLocal says whether the lake is a folder of this machine, whose files DuckDB reads where they lie.
func isLocal(l *load.Lake) bool { return filepath.IsAbs(l.Store().URL()) }

// maxPublications bounds the tries to publish a catalog while others publish theirs.
const maxPublications = 5

// Publish builds the catalog and puts it into the lake, unless a newer commit has come in between:
// then its writer publishes. It never takes the place of a newer one. workDir is a local folder; ""
// means the system's.
func Publish(ctx context.Context, l *load.Lake, workDir string) (err error) {
	folder, err := os.MkdirTemp(workDir, "dealflow-catalog-*")
	if err != nil {
		return fmt.Errorf("work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path, err := build(ctx, l, folder)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for range maxPublications {
		if err = publishOnce(ctx, l, file); !errors.Is(err, store.ErrChanged) && !errors.Is(err, store.ErrExists) {
			return err
		}
	}
	return fmt.Errorf("the catalog changes faster than it can be replaced: %w", err)
}

// publishOnce replaces the catalog that stood before the look for a newer commit: whoever commits later
// publishes later, and is then not overwritten.
func publishOnce(ctx context.Context, l *load.Lake, file io.ReadSeeker) error {
	replacer, careful := l.Store().(store.Replacer)
	tag, tagErr := "", store.ErrNotFound
	if careful {
		tag, tagErr = replacer.Tag(ctx, lake.CatalogKey)
	}
	newer, err := l.HasCommit(ctx, l.Log().Number+1)
	if err != nil || newer {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	switch {
	case !careful:
		return l.Store().Put(ctx, lake.CatalogKey, file, store.Replace)
	case errors.Is(tagErr, store.ErrNotFound):
		return l.Store().Put(ctx, lake.CatalogKey, file, store.CreateOnly)
	case tagErr != nil:
		return tagErr
	}
	return replacer.ReplaceIf(ctx, lake.CatalogKey, file, tag)
}

// Catalog is a catalog file for reading. Close removes what is private.
type Catalog struct {
	Path    string
	Root    string // where its files lie: the lake's, or a folder with copies of those that were fetched
	Private bool   // built for the caller because the published one is absent or behind the log

	lake    *load.Lake
	cache   *load.Cache
	folders []string
}

// OpenCatalog gives the catalog of the lake's present state: the published one, or a private one where
// that is behind. cache serves lakes that are no folder of this machine; nil will do for others.
func OpenCatalog(ctx context.Context, l *load.Lake, workDir string, cache *load.Cache) (*Catalog, error) {
	c := &Catalog{Root: l.Store().URL(), lake: l, cache: cache}
	if err := c.open(ctx, workDir); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Catalog) open(ctx context.Context, workDir string) error {
	if isLocal(c.lake) {
		c.Path = filepath.Join(c.Root, lake.CatalogKey)
		if c.isCurrent(ctx) {
			return nil
		}
	}
	folder, err := os.MkdirTemp(workDir, "dealflow-catalog-*")
	if err != nil {
		return fmt.Errorf("work folder: %w", err)
	}
	c.folders = append(c.folders, folder)
	if !isLocal(c.lake) {
		if c.Root, err = c.cache.Folder(); err != nil {
			return err
		}
		c.folders = append(c.folders, c.Root)
		if err := c.download(ctx, folder); err != nil || c.isCurrent(ctx) {
			return err
		}
		if err := os.Remove(c.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	c.Private = true
	c.Path, err = build(ctx, c.lake, folder)
	return err
}

// PublishedCommit reads which commit the published catalog shows; 0 where there is none that can be read.
func PublishedCommit(ctx context.Context, l *load.Lake, workDir string) (number int64, err error) {
	c := &Catalog{lake: l, Path: filepath.Join(l.Store().URL(), lake.CatalogKey)}
	if !isLocal(l) {
		folder, err := os.MkdirTemp(workDir, "dealflow-catalog-*")
		if err != nil {
			return 0, fmt.Errorf("work folder: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		if err := c.download(ctx, folder); err != nil {
			return 0, err
		}
	}
	if number, err = sql.CommitOf(ctx, c.Path); err != nil {
		return 0, ctx.Err()
	}
	return number, nil
}

// isCurrent says whether the catalog at Path shows the lake's present state.
func (c *Catalog) isCurrent(ctx context.Context) bool {
	n, err := sql.CommitOf(ctx, c.Path)
	return err == nil && n == c.lake.Log().Number
}

// download fetches the published catalog, if there is one.
func (c *Catalog) download(ctx context.Context, folder string) (err error) {
	c.Path = filepath.Join(folder, lake.CatalogKey)
	from, err := c.lake.Store().Get(ctx, lake.CatalogKey)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := os.Create(c.Path)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// Fetch brings the files that statements may read to where DuckDB finds them. db is the catalog, opened
// with this Root. For a lake in a folder there is nothing to do.
func (c *Catalog) Fetch(ctx context.Context, db *stdsql.DB, statements ...string) error {
	if isLocal(c.lake) {
		return nil
	}
	paths, err := sql.Paths(ctx, db, statements...)
	if err != nil {
		return err
	}
	files := slices.DeleteFunc(c.lake.Log().AllFiles(), func(f lake.File) bool {
		_, wanted := slices.BinarySearch(paths, f.Path)
		return !wanted
	})
	return c.cache.Fetch(ctx, c.lake.Store(), files, c.Root)
}

// Close removes what is private.
func (c *Catalog) Close() error {
	var errs []error
	for _, folder := range c.folders {
		errs = append(errs, os.RemoveAll(folder))
	}
	return errors.Join(errs...)
}
