package mirror_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"dealflow/load/loadtest"
	"dealflow/load/mirror"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
)

// TestCacheMendsItself checks that a copy that a power loss has cut off, and one in which a disk has lost a byte, are
// fetched again.
func TestCacheMendsItself(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	loadtest.Night(t, l, 0, loadtest.Added(1, 1, 'a'))
	file := l.Log().AllFiles()[0]
	right, err := store.Read(t.Context(), s, file.Path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(right)
	flipped[len(flipped)/2] ^= 1
	for what, damaged := range map[string][]byte{"cut off": nil, "a flipped bit": flipped} {
		dir := t.TempDir()
		copied := filepath.Join(dir, file.SHA256)
		if err := os.WriteFile(copied, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		cache, err := mirror.NewCache(dir, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		fetched := filepath.Join(fetch(t, cache, s, []lake.File{file}), file.Path)
		for _, path := range []string{fetched, copied} {
			if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, right) {
				t.Errorf("%s: %s has %d bytes, want the %d that the commit names; %v", what, path, len(data), len(right), err)
			}
		}
	}
}

// fetch fetches files into a new folder, which it returns. The folder is removed when the test ends.
func fetch(t *testing.T, cache *mirror.Cache, s store.Store, files []lake.File) string {
	t.Helper()
	folder, err := cache.Folder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := cache.Fetch(t.Context(), s, files, folder.Path()); err != nil {
		t.Fatal(err)
	}
	return folder.Path()
}

// TestCacheIsPrivate checks that only the user may read what the cache has fetched, and that an unfinished download is
// in the folder that goes with its process.
func TestCacheIsPrivate(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	loadtest.Night(t, l, 0, loadtest.Added(1, 1, 'a'))
	dir := t.TempDir()
	cache, err := mirror.NewCache(dir, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	file := l.Log().AllFiles()[0]
	watched := &watchedStore{Store: s, dir: dir}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	fetch(t, cache, watched, []lake.File{file})
	if want := []string{folderName}; !slices.Equal(watched.during, want) {
		t.Errorf("in the cache during a download: %q, want %q alone", watched.during, want)
	}
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s, want none for others", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// folderName is the name of a cache's folders in watchedStore.during.
const folderName = "lake-…"

// watchedStore lists a folder at the end of each object that is read.
type watchedStore struct {
	store.Store
	dir    string
	during []string
}

func (s *watchedStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	from, err := s.Store.Get(ctx, key)
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(from, s), from}, err
}

// Read implements io.Reader: no bytes.
func (s *watchedStore) Read([]byte) (int, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, "lake-") {
			name = folderName
		}
		s.during = append(s.during, name)
	}
	return 0, io.EOF
}

// TestCacheOfDeadProcess checks that the next cache in a folder removes what dead processes left in it, and leaves what
// is in use.
func TestCacheOfDeadProcess(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	loadtest.Night(t, l, 0, loadtest.Added(1, 1, 'a'))
	dir := t.TempDir()
	cache, err := mirror.NewCache(dir, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	files := l.Log().AllFiles()
	used := fetch(t, cache, s, files)
	dead := filepath.Join(dir, "lake-dead") // with a lock file that no process has locked
	if err := errors.Join(os.MkdirAll(filepath.Join(dead, "history"), 0o700), os.WriteFile(filepath.Join(dead, ".lock"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := mirror.NewCache(dir, 1<<30); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a dead process is left: %v", err)
	}
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(used, file.Path)); err != nil {
			t.Errorf("in a folder that is in use: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, file.SHA256)); err != nil {
			t.Errorf("a copy: %v", err)
		}
	}
}

// TestCacheWithoutRoom fetches concurrently with a limit of zero bytes.
func TestCacheWithoutRoom(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	for n := range 4 {
		loadtest.Night(t, l, n, loadtest.Added(int64(n+1), 1, 'a'))
	}
	files := l.Log().AllFiles()
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		cache, err := mirror.NewCache(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for range 10 {
				folder, err := cache.Folder()
				if err == nil {
					err = errors.Join(cache.Fetch(t.Context(), s, files, folder.Path()), folder.Close())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestCacheFetchesOnce lets callers fetch one file into one folder at the same time: the others wait for the first, and find
// the file; one that is cancelled waits no longer.
func TestCacheFetchesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{reading: make(chan struct{})}
		l := loadtest.Open(t, s)
		loadtest.Night(t, l, 0, loadtest.Added(1, 1, 'a'))
		files := l.Log().AllFiles()[:1]
		cache, err := mirror.NewCache(t.TempDir(), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		folder, err := cache.Folder()
		if err != nil {
			t.Fatal(err)
		}
		s.path = files[0].Path
		begin := func(ctx context.Context) chan error {
			ended := make(chan error, 1)
			go func() { ended <- cache.Fetch(ctx, s, files, folder.Path()) }()
			synctest.Wait() // it reads the object, or waits for the one that does
			return ended
		}
		cancelled, cancel := context.WithCancel(t.Context())
		first, second, third := begin(t.Context()), begin(t.Context()), begin(cancelled)
		cancel()
		if err := <-third; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		close(s.reading)
		if err := errors.Join(<-first, <-second, folder.Close()); err != nil || s.reads.Load() != 1 {
			t.Errorf("the object was read %d times, want once: %v", s.reads.Load(), err)
		}
	})
}

// slow is a store of which an object can be read when reading is closed.
type slow struct {
	memstore.Mem
	path    string
	reading chan struct{}
	reads   atomic.Int64
}

func (s *slow) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if key == s.path {
		s.reads.Add(1)
		select {
		case <-s.reading:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.Mem.Get(ctx, key)
}
