package mirror

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/workfolder"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Mirror is a local folder with files of one lake. Fetch and Near are safe for concurrent use; the other methods are not. Close
// removes the fetched files, except the copies in the cache.
type Mirror struct {
	store   store.Store
	root    *workfolder.Alias
	cache   *Cache             // nil for a lake that is a local folder
	fetched *workfolder.Folder // the folder of root, for a lake that is no local folder
	work    string             // for files of this mirror alone; "" for a lake that is a local folder
}

// Open opens a mirror. cache may be nil: then the mirror has its own copies. workDir is a local folder for unfinished
// files; "" means the system's.
func Open(s store.Store, cache *Cache, workDir string) (*Mirror, error) {
	if folder := store.LocalPath(s); folder != "" {
		root, err := workfolder.NewAlias(folder)
		if err != nil {
			return nil, err
		}
		return &Mirror{store: s, root: root}, nil
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
	if err == nil {
		m.root, err = workfolder.NewAlias(m.fetched.Path())
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Root is the folder that contains the fetched files, each under its path in the lake. It may be a symbolic link to it.
func (m *Mirror) Root() string { return m.root.Path() }

// IsLake says whether Root is the lake itself: then it contains every file without Fetch.
func (m *Mirror) IsLake() bool { return m.work == "" }

// Fetch adds files to the folder. They stay until Close.
func (m *Mirror) Fetch(ctx context.Context, files []lake.File) error {
	if m.IsLake() {
		return nil
	}
	return m.cache.Fetch(ctx, m.store, files, m.Root())
}

// nearBytes is 8 MiB: a file up to that size is fetched completely, of which only some columns or row groups are needed. It
// takes less time than the requests for its parts.
const nearBytes = 8 << 20

// Near returns a store through which the lake's files can be read in parts. Those of files that are small, or of which the
// cache has a copy, are read from the folder: they are fetched side by side.
func (m *Mirror) Near(ctx context.Context, files []lake.File) (store.Store, error) {
	if m.IsLake() {
		return m.store, nil
	}
	small := slices.DeleteFunc(slices.Clone(files), func(f lake.File) bool { return f.Bytes > nearBytes && !m.cache.has(&f) })
	if err := m.Fetch(ctx, small); err != nil {
		return nil, err
	}
	return &near{m.store, m.Root()}, nil
}

// AtHand returns a store from which files can be read without a request to the lake's, except for a copy in the cache that turns out
// to be damaged, with the bytes that were committed: they are checked. It returns nil if the lake is no local folder, and the cache lacks a copy of one of them. A file of a local lake
// with other bytes is ErrNotCommitted.
func (m *Mirror) AtHand(ctx context.Context, files []lake.File) (store.Store, error) {
	if !m.IsLake() {
		if slices.ContainsFunc(files, func(f lake.File) bool { return !m.cache.has(&f) }) {
			return nil, nil //nolint:nilnil // some are not here
		}
		return &near{m.store, m.Root()}, m.Fetch(ctx, files)
	}
	for i := range files {
		right, err := hasBytes(filepath.Join(m.Root(), filepath.FromSlash(files[i].Path)), &files[i])
		if err == nil && !right {
			err = ErrNotCommitted
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("%s: %w", files[i].Path, err)
		}
	}
	return m.store, nil
}

// near is a store of which some objects are in a local folder, too.
type near struct {
	store.Store
	folder string
}

// OpenAt implements store.RandomReader.
func (n *near) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	if file, err := os.Open(filepath.Join(n.folder, filepath.FromSlash(key))); err == nil {
		return file, nil
	}
	return store.OpenAt(ctx, n.Store, key)
}

// Placeholders returns a folder that contains each of the files under its path: the file itself if the lake is a local
// folder, else an empty file with the same columns. That is enough for programs that need only presence and columns.
func (m *Mirror) Placeholders(ctx context.Context, files []lake.File) (root string, err error) {
	if m.IsLake() {
		return m.Root(), nil
	}
	root = filepath.Join(m.Root(), "placeholders")
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
	from, err := m.Near(ctx, files)
	if err == nil {
		err = parquet.Project(ctx, from, memory.DefaultAllocator, files, indexColumns, path)
	}
	if err != nil {
		return "", fmt.Errorf("version index: %w", err)
	}
	return path, nil
}

// Close removes the folder, unless it is the lake.
func (m *Mirror) Close() error {
	if m == nil {
		return nil
	}
	err := m.root.Close()
	if m.IsLake() {
		return err
	}
	return errors.Join(err, m.fetched.Close(), os.RemoveAll(m.work))
}
