package mirror_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"dealflow/load/loadtest"
	"dealflow/load/mirror"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
)

// TestCacheMendsItself checks that a copy that a power loss has cut off is replaced.
func TestCacheMendsItself(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	loadtest.Night(t, l, 0, loadtest.Added(1, 1, 'a'))
	file := l.Log().AllFiles()[0]
	dir := t.TempDir()
	cache, err := mirror.NewCache(dir, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, file.SHA256), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := cache.Folder()
	if err != nil {
		t.Fatal(err)
	}
	if err := cache.Fetch(t.Context(), s, []lake.File{file}, folder); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(folder, file.Path))
	if err != nil || int64(len(data)) != file.Bytes {
		t.Errorf("got %d bytes of %d, %v", len(data), file.Bytes, err)
	}
}

// TestCacheForgetsScratch checks that folders of dead processes are removed, but not those that are in use or that
// readers keep for days.
func TestCacheForgetsScratch(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	loadtest.Night(t, l, 0, loadtest.Added(1, 1, 'a'))
	cache, err := mirror.NewCache(t.TempDir(), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	stands := map[string]bool{}
	for _, f := range []struct {
		made   func() (string, error)
		old    bool
		stands bool
	}{{cache.Scratch, true, false}, {cache.Scratch, false, true}, {cache.Folder, true, true}} {
		folder, err := f.made()
		if err != nil {
			t.Fatal(err)
		}
		if long := time.Now().Add(-48 * time.Hour); f.old {
			if err := os.Chtimes(folder, long, long); err != nil {
				t.Fatal(err)
			}
		}
		stands[folder] = f.stands
	}
	folder, err := cache.Folder()
	if err != nil {
		t.Fatal(err)
	}
	if err := cache.Fetch(t.Context(), s, l.Log().AllFiles(), folder); err != nil {
		t.Fatal(err)
	}
	for folder, want := range stands {
		if _, err := os.Stat(folder); (err == nil) != want {
			t.Errorf("%s stands: %t, want %t", filepath.Base(folder), err == nil, want)
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
					err = cache.Fetch(t.Context(), s, files, folder)
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
