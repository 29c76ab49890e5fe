package load

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

// errNotCommitted says that a file has other bytes than those that were committed.
var errNotCommitted = errors.New("this is not what was committed")

// fetchers is the number of files that are fetched at once.
const fetchers = 8

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
	err := os.Link(held, target)
	if errors.Is(err, fs.ErrNotExist) {
		if err := c.download(ctx, s, file, held); err != nil {
			return err
		}
		err = os.Link(held, target)
	}
	if err != nil {
		return err
	}
	now := time.Now()
	return os.Chtimes(target, now, now) // the same file: it was used now
}

// download brings an object under its hash, unless what comes is not what the commit names.
func (c *Cache) download(ctx context.Context, s store.Store, file lake.File, held string) (err error) {
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
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	if got := sumOf(sum); got != file.SHA256 || size != file.Bytes {
		return fmt.Errorf("%w: the object has %d bytes with SHA-256 %.12s…, the commit names %d with %.12s…; run `dealflow verify --read-data`", errNotCommitted, size, got, file.Bytes, file.SHA256)
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
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), store.TempPrefix) {
			continue // gone meanwhile, or not a copy
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
