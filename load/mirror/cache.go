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
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// ErrNotCommitted means that a file's content differs from what was committed.
var ErrNotCommitted = errors.New("this is not what was committed")

// fetchers is the number of files that are fetched at once.
const fetchers = 8

// abandoned is the age at which an unfinished download is removed: its process has died.
const abandoned = 24 * time.Hour

// Cache keeps copies of data files in a local folder, named by their SHA-256. Data files never change, so a copy is
// valid for ever, for any lake. It is safe for concurrent use, also by several processes with the same folder.
type Cache struct {
	dir   string
	limit int64 // bytes of all copies
}

// NewCache returns the cache in dir, and creates dir if it does not exist. After each Fetch the cache removes copies
// until they have at most limit bytes.
func NewCache(dir string, limit int64) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return &Cache{dir: dir, limit: limit}, nil
}

// Folder creates a new folder in the cache for Fetch. The caller removes it.
func (c *Cache) Folder() (string, error) {
	folder, err := os.MkdirTemp(c.dir, "lake-*")
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return folder, nil
}

// scratchPrefix begins the names of the folders that Scratch creates.
const scratchPrefix = "scratch-"

// Scratch is Folder for work of minutes: a folder that a dead process left is removed after a day.
func (c *Cache) Scratch() (string, error) {
	folder, err := os.MkdirTemp(c.dir, scratchPrefix+"*")
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return folder, nil
}

// Fetch puts files of a lake into a folder that Folder created, each under its path in the lake. It does not download a
// file of which the cache has a copy; copies that were used longest ago make room. A file stays in the folder until the
// caller removes it.
func (c *Cache) Fetch(ctx context.Context, s store.Store, files []lake.File, folder string) error {
	group, fetching := errgroup.WithContext(ctx)
	group.SetLimit(fetchers)
	for _, file := range files {
		group.Go(func() error {
			if err := c.fetch(fetching, s, file, filepath.Join(folder, filepath.FromSlash(file.Path))); err != nil {
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

func (c *Cache) fetch(ctx context.Context, s store.Store, file lake.File, target string) error {
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	cached := filepath.Join(c.dir, file.SHA256)
	// A power loss can cut off a copy: then its size differs.
	if info, err := os.Stat(cached); err == nil && info.Size() == file.Bytes {
		if err := os.Link(cached, target); err == nil {
			now := time.Now()
			return os.Chtimes(target, now, now) // the same file: it was used now
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		} // else another process has just made room
	}
	var err error
	for range store.ReadTries {
		if err = c.download(ctx, s, file, target, cached); err == nil || ctx.Err() != nil || errors.Is(err, ErrNotCommitted) || errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return err
}

// download downloads an object to target and to the cache. It fails if the bytes are not those that the commit names.
// target stays when another process removes the copy from the cache: it is a hard link.
func (c *Cache) download(ctx context.Context, s store.Store, file lake.File, target, cached string) (err error) {
	from, err := s.Get(ctx, file.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := os.CreateTemp(c.dir, store.TempPrefix+"*")
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
		return fmt.Errorf("%w: the object has %d bytes with SHA-256 %.12s…, the commit names %d with %.12s…; run `dealflow verify --read-data`", ErrNotCommitted, size, got, file.Bytes, file.SHA256)
	}
	if err := os.Link(to.Name(), target); err != nil {
		return err
	}
	return os.Rename(to.Name(), cached)
}

func sumOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// makeRoom removes the copies that were used longest ago until the others fit the limit. It also removes abandoned
// folders and downloads.
func (c *Cache) makeRoom() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	var copies []fs.FileInfo
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || e.IsDir() && !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue // removed by another process, or not a copy
		}
		if e.IsDir() {
			if time.Since(info.ModTime()) > abandoned {
				if err := os.RemoveAll(filepath.Join(c.dir, e.Name())); err != nil {
					return fmt.Errorf("cache: %w", err)
				}
			}
			continue
		}
		if strings.HasPrefix(e.Name(), store.TempPrefix) && time.Since(info.ModTime()) < abandoned {
			continue // a download that is still running; an older one counts as a copy and is removed first
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
