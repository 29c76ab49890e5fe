package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/workfolder"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Mirror is a local folder with files of one lake. Fetch is safe for concurrent use; the other methods are not. Close
// removes the fetched files, except the copies in the cache.
type Mirror struct {
	store   store.Store
	root    string
	cache   *Cache             // nil for a lake that is a local folder
	fetched *workfolder.Folder // root, for a lake that is no local folder
	work    string             // for files of this mirror alone; "" for a lake that is a local folder
}

// Open opens a mirror. cache may be nil: then the mirror has its own copies. workDir is a local folder for unfinished
// files; "" means the system's.
func Open(s store.Store, cache *Cache, workDir string) (*Mirror, error) {
	if folder := store.LocalPath(s); folder != "" {
		return &Mirror{store: s, root: folder}, nil
	}
	work, err := os.MkdirTemp(workDir, "dealflow-mirror-*")
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	m := &Mirror{store: s, cache: cache, work: work}
	if m.cache == nil {
		m.cache, err = NewCache(filepath.Join(work, "cache"), 0)
	}
	if err == nil {
		m.fetched, err = m.cache.Folder()
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.root = m.fetched.Path()
	return m, nil
}

// Root is the folder that contains the fetched files, each under its path in the lake.
func (m *Mirror) Root() string { return m.root }

// IsLake says whether Root is the lake itself: then it contains every file without Fetch.
func (m *Mirror) IsLake() bool { return m.work == "" }

// Fetch adds files to the folder. They stay until Close.
func (m *Mirror) Fetch(ctx context.Context, files []lake.File) error {
	if m.IsLake() {
		return nil
	}
	return m.cache.Fetch(ctx, m.store, files, m.root)
}

// Placeholders returns a folder that contains each of the files under its path: the file itself if the lake is a local
// folder, else an empty file with the same columns. That is enough for programs that need only presence and columns.
func (m *Mirror) Placeholders(ctx context.Context, files []lake.File) (root string, err error) {
	if m.IsLake() {
		return m.root, nil
	}
	root = filepath.Join(m.root, "placeholders")
	for i := range files {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err := placeholder(root, &files[i]); err != nil {
			return "", fmt.Errorf("placeholder for %s: %w", files[i].Path, err)
		}
	}
	return root, nil
}

// placeholder links a file's path to the one empty file of its table and schema version.
func placeholder(root string, file *lake.File) error {
	path := filepath.Join(root, filepath.FromSlash(file.Path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	empty := filepath.Join(root, fmt.Sprintf("%s-%d.parquet", file.Table, file.SchemaVersion))
	if _, err := os.Stat(empty); errors.Is(err, os.ErrNotExist) {
		columns := lake.ColumnsAt(lake.TableColumns(file.Table), file.SchemaVersion)
		if err := parquet.WriteEmpty(empty, columns); err != nil {
			return err
		}
	}
	if err := os.Link(empty, path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// indexColumns are the columns of deal_versions that a catalog keeps itself.
var indexColumns = []string{"service", "market", "kind", "deal_id", "version", "change", "reason", "known_at", "run_id"}

// Index returns a local Parquet file with the columns of every version in files that a catalog keeps; files are of
// deal_versions. If the lake is a local folder it returns "": the files themselves can be read as cheaply. It reads
// only these columns from the store, not the payloads. Each call replaces the file of the call before.
func (m *Mirror) Index(ctx context.Context, files []lake.File) (path string, err error) {
	if m.IsLake() {
		return "", nil
	}
	path = filepath.Join(m.work, "index.parquet")
	if err := parquet.Project(ctx, m.store, memory.DefaultAllocator, files, indexColumns, path); err != nil {
		return "", fmt.Errorf("version index: %w", err)
	}
	return path, nil
}

// PublishedCatalog returns a local file with the lake's published catalog; "" if none is published. The file is valid
// until the next call or Close.
func (m *Mirror) PublishedCatalog(ctx context.Context) (path string, err error) {
	path = filepath.Join(m.root, lake.CatalogKey)
	if !m.IsLake() {
		path = filepath.Join(m.work, lake.CatalogKey)
		if err := m.download(ctx, lake.CatalogKey, path); errors.Is(err, store.ErrNotFound) {
			return "", nil
		} else if err != nil {
			return "", err
		}
	}
	_, err = os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return path, err
}

// download copies an object to a local file.
func (m *Mirror) download(ctx context.Context, key, path string) (err error) {
	from, err := m.store.Get(ctx, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// Close removes the folder, unless it is the lake.
func (m *Mirror) Close() error {
	if m == nil || m.IsLake() {
		return nil
	}
	return errors.Join(m.fetched.Close(), os.RemoveAll(m.work))
}
