package mirror

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/internal/workfolder"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// ErrNotCommitted means that a file's content differs from what was committed.
var ErrNotCommitted = errors.New("the data differs from what was committed")

// folderPrefix begins the names of the folders that Folder creates.
const folderPrefix = "lake-"

// Cache keeps copies of data files in a local folder, named by their SHA-256. Data files never change, so a copy is
// valid for ever, for any lake. It is safe for concurrent use, also by several processes with the same folder.
type Cache struct {
	dir     string
	limit   int64    // bytes of all copies
	checked sync.Map // os.FileInfo of copies whose bytes this process has checked, by SHA-256

	mu   sync.Mutex
	busy map[string]chan struct{} // closed when a path has been fetched, or could not be
}

// NewCache returns the cache in dir, and creates dir if it does not exist. It removes the folders of processes that
// died. After each Fetch the cache removes copies until they have at most limit bytes.
func NewCache(dir string, limit int64) (*Cache, error) {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = workfolder.RemoveDead(dir, folderPrefix, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return &Cache{dir: dir, limit: limit, busy: map[string]chan struct{}{}}, nil
}

// Folder creates a new folder in the cache for Fetch. The caller closes it.
func (c *Cache) Folder() (*workfolder.Folder, error) {
	folder, err := workfolder.Create(c.dir, folderPrefix)
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return folder, nil
}

// Fetch puts files of a lake into a folder that Folder created, each under its path in the lake. It does not download a
// file of which the cache has a copy; copies that were used longest ago make room. A file stays in the folder until the
// caller removes it.
func (c *Cache) Fetch(ctx context.Context, s store.Store, files []lake.File, folder string) error {
	group, fetching := errgroup.WithContext(ctx)
	group.SetLimit(store.SideBySide)
	for _, file := range files {
		group.Go(func() error {
			if err := c.fetch(fetching, s, file, folder); err != nil {
				return fmt.Errorf("fetch %s: %w", file.Path, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return c.makeRoom()
}

// aheadBytes is 256 MiB: the size of all files up to which FetchAhead fetches them.
const aheadBytes = 256 << 20

// FetchAhead fetches files together, before they are needed, so that a store far away takes as long for all as for
// one. They are in the folder until the caller closes it. It fetches nothing and returns nil if there is no cache, or
// the files are large. After an error the folder may have some of the files.
func (c *Cache) FetchAhead(ctx context.Context, s store.Store, files []lake.File) (*workfolder.Folder, error) {
	var total int64
	for i := range files {
		total += files[i].Bytes
	}
	if c == nil || total > aheadBytes {
		return nil, nil //nolint:nilnil // nothing is fetched ahead
	}
	folder, err := c.Folder()
	if err != nil {
		return nil, err
	}
	return folder, c.Fetch(ctx, s, files, folder.Path())
}

// only waits until no other caller fetches a path. The next one may when done is called.
func (c *Cache) only(ctx context.Context, path string) (done func(), err error) {
	for {
		c.mu.Lock()
		other := c.busy[path]
		if other == nil {
			c.busy[path] = make(chan struct{})
			c.mu.Unlock()
			return func() { c.free(path) }, nil
		}
		c.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (c *Cache) free(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.busy[path])
	delete(c.busy, path)
}

func (c *Cache) fetch(ctx context.Context, s store.Store, file lake.File, folder string) error {
	target := filepath.Join(folder, filepath.FromSlash(file.Path))
	done, err := c.only(ctx, target) // two feeds may need the same file
	if err != nil {
		return err
	}
	defer done()
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	cached := filepath.Join(c.dir, file.SHA256)
	if found, err := c.link(cached, target, file); err != nil || found {
		return err
	}
	for range store.ReadTries {
		if err = c.download(ctx, s, file, folder, cached); err == nil || ctx.Err() != nil || errors.Is(err, ErrNotCommitted) || errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return err
}

// Keep adds a complete local file to the cache, so that a Fetch on this machine need not download it. It is a hard link: if
// that cannot be made, the file is downloaded when it is wanted.
func (c *Cache) Keep(file lake.File, local string) {
	cached := filepath.Join(c.dir, file.SHA256)
	if os.Link(local, cached) != nil {
		return
	}
	if info, err := os.Stat(cached); err == nil {
		c.checked.Store(file.SHA256, info) // this process has just written its bytes
	}
}

// Keeper returns Keep; nil for no cache.
func (c *Cache) Keeper() func(file lake.File, local string) {
	if c == nil {
		return nil
	}
	return c.Keep
}

// has says whether there is a copy of a file.
func (c *Cache) has(file *lake.File) bool {
	_, err := os.Stat(filepath.Join(c.dir, file.SHA256))
	return err == nil
}

// link links target to the copy of a file. found is false if there is no copy, or its bytes are not those that the
// commit names: a disk can lose them, and a power loss can cut them off.
func (c *Cache) link(cached, target string, file lake.File) (found bool, err error) {
	if err := os.Link(cached, target); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	// From here on, other processes may replace or remove the copy: target is the one that is checked.
	if found, err = c.isRight(target, file); err != nil || !found {
		return false, errors.Join(err, os.Remove(target))
	}
	now := time.Now()
	return true, os.Chtimes(target, now, now) // the same file as the copy: it was used now
}

// isRight says whether a copy has the bytes that a commit names. This process reads each copy once.
func (c *Cache) isRight(path string, file lake.File) (right bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	if before, ok := c.checked.Load(file.SHA256); ok && os.SameFile(before.(os.FileInfo), info) && info.Size() == file.Bytes {
		return true, nil
	}
	if right, err = hasBytes(path, &file); right {
		c.checked.Store(file.SHA256, info)
	}
	return right, err
}

// hasBytes says whether a local file has the bytes that a commit names.
func hasBytes(path string, file *lake.File) (right bool, err error) {
	from, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	info, err := from.Stat()
	if err != nil || info.Size() != file.Bytes {
		return false, err
	}
	sum := sha256.New()
	// A disk that cannot read the file has lost it.
	if _, err := io.Copy(sum, from); err != nil {
		return false, nil //nolint:nilerr // the bytes are gone
	}
	return sumOf(sum) == file.SHA256, nil
}

// download downloads an object to its path in a folder that Folder created, and to the cache. It fails if the bytes are
// not those that the commit names. The file in the folder stays when another process removes the copy from the cache: it
// is a hard link. An unfinished download is in the folder, so that it goes with it if this process dies.
func (c *Cache) download(ctx context.Context, s store.Store, file lake.File, folder, cached string) (err error) {
	from, err := s.Get(ctx, file.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := os.CreateTemp(folder, store.TempPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(to.Name()))
		}
	}()
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(to, sum), from)
	if err == nil {
		err = to.Sync()
	}
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	if got := sumOf(sum); got != file.SHA256 || size != file.Bytes {
		return fmt.Errorf("%w: got %d bytes with SHA-256 %.12s…, want %d with %.12s…; run `dealflow verify --read-data`", ErrNotCommitted, size, got, file.Bytes, file.SHA256)
	}
	if err := os.Link(to.Name(), filepath.Join(folder, filepath.FromSlash(file.Path))); err != nil {
		return err
	}
	return os.Rename(to.Name(), cached)
}

func sumOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// makeRoom removes the copies that were used longest ago until the others fit the limit.
func (c *Cache) makeRoom() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	var copies []fs.FileInfo
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || e.IsDir() {
			continue // removed by another process, or not a copy
		}
		copies = append(copies, info)
		total += info.Size()
	}
	slices.SortFunc(copies, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range copies {
		if total <= c.limit {
			break
		}
		if err := os.Remove(filepath.Join(c.dir, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cache: %w", err)
		}
		total -= info.Size()
	}
	return nil
}
