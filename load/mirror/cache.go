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

// ErrNotCommitted says that a file holds something else than what was committed.
var ErrNotCommitted = errors.New("this is not what was committed")

// fetchers is the number of files that are fetched at once.
const fetchers = 8

// abandoned is how old an unfinished download is whose process has died.
const abandoned = 24 * time.Hour

// Cache keeps copies of a lake's data files in a local folder, named by their SHA-256: those never
// change, so a copy is good for ever, whichever lake it came from. Several processes may share a folder.
type Cache struct {
	dir  string
	most int64 // bytes of all copies
}

// NewCache uses dir, which is made if it is not there, for at most that many bytes, or for as much as one call
// of Fetch needs where that is more.
func NewCache(dir string, most int64) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return &Cache{dir: dir, most: most}, nil
}

// Folder makes a new folder in the cache, for Fetch to put files into. The caller removes it.
func (c *Cache) Folder() (string, error) {
	folder, err := os.MkdirTemp(c.dir, "lake-*")
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return folder, nil
}

// scratchPrefix begins the names of folders that Scratch makes.
const scratchPrefix = "scratch-"

// Scratch is Folder for work of minutes: what a process that died left behind goes after a day.
func (c *Cache) Scratch() (string, error) {
	folder, err := os.MkdirTemp(c.dir, scratchPrefix+"*")
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return folder, nil
}

// Fetch brings files of a lake into a folder that Folder made, each under its path in the lake. Files
// that the cache holds are not fetched again; those used longest ago make room. What is in the folder
// stays until the caller removes it.
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
	held := filepath.Join(c.dir, file.SHA256)
	// A copy of another size was cut off by a power loss.
	if info, err := os.Stat(held); err == nil && info.Size() == file.Bytes {
		if err := os.Link(held, target); err == nil {
			now := time.Now()
			return os.Chtimes(target, now, now) // the same file: it was used now
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		} // else another process has just made room
	}
	var err error
	for range store.ReadTries {
		if err = c.download(ctx, s, file, target, held); err == nil || ctx.Err() != nil || errors.Is(err, ErrNotCommitted) || errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return err
}

// download brings an object to target and under its hash, unless what comes is not what the commit names.
// What stands at target stays whatever another process removes from the cache.
func (c *Cache) download(ctx context.Context, s store.Store, file lake.File, target, held string) (err error) {
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
	return os.Rename(to.Name(), held)
}

func sumOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// makeRoom removes the copies that were used longest ago until the rest fits.
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
			continue // gone meanwhile, or not a copy
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
			continue // on its way; an older one was left behind, and goes as the oldest do
		}
		copies = append(copies, info)
		total += info.Size()
	}
	slices.SortFunc(copies, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range copies {
		if total <= c.most {
			break
		}
		if err := os.Remove(filepath.Join(c.dir, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cache: %w", err)
		}
		total -= info.Size()
	}
	return nil
}
