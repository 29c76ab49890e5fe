package mirror_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"dealflow/load/mirror"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
)

// catalogFile returns the bytes of a catalog of a commit, and its end.
func catalogFile(commit int64) ([]byte, lake.CatalogEnd) {
	named := lake.NamedCommit{Number: commit, SHA256: lake.SHA256([]byte{byte(commit)}), KnownAt: lake.At(time.Date(2026, 1, 5, 22, 0, 0, int(commit)*1000, time.UTC))}
	data := append(bytes.Repeat([]byte{1, 2, 3, byte(commit)}, 200_000), named.Line()...)
	sum := sha256.Sum256(data)
	checksum := hex.EncodeToString(sum[:])
	return append(data, lake.ChecksumPrefix+checksum...), lake.CatalogEnd{NamedCommit: named, Checksum: checksum}
}

// pack returns the packed form of a catalog.
func pack(t *testing.T, plain []byte) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog")
	if err := os.WriteFile(path, plain, 0o600); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := mirror.PackCatalog(path, &packed); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// readingStore records which objects are read.
type readingStore struct {
	store.Store
	mu   sync.Mutex
	read []string
}

func (s *readingStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	s.mu.Lock()
	s.read = append(s.read, key)
	s.mu.Unlock()
	return s.Store.Get(ctx, key)
}

// TestPackedCatalog reads the published catalog of a lake that is no local folder. The plain one is what counts: the packed
// one, and a copy in the cache, are used only if they have its bytes, as after a crash between the two puts they have not.
func TestPackedCatalog(t *testing.T) {
	t.Parallel()
	plain, end := catalogFile(2)
	earlier, _ := catalogFile(1)
	damaged := pack(t, plain)
	damaged[len(damaged)-10] ^= 1
	cut := pack(t, plain)
	cut = cut[:len(cut)/2]
	both := []string{lake.PackedCatalogKey, lake.CatalogKey}
	for _, c := range []struct {
		name   string
		packed []byte // nil: absent
		end    lake.CatalogEnd
		read   []string
	}{
		{"the same", pack(t, plain), end, both[:1]},
		{"of an earlier commit", pack(t, earlier), end, both},
		{"absent", nil, end, both},
		{"damaged", damaged, end, both},
		{"cut off", cut, end, both},
		{"no packed catalog", []byte("something else"), end, both},
		{"an end that is not known", pack(t, earlier), lake.CatalogEnd{}, both[1:]},
	} {
		s := &readingStore{Store: new(memstore.Mem)}
		storetest.Overwrite(t, s, lake.CatalogKey, plain)
		if c.packed != nil {
			storetest.Overwrite(t, s, lake.PackedCatalogKey, c.packed)
		}
		dir := t.TempDir()
		cache, err := mirror.NewCache(dir, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		read := func(want []string) {
			t.Helper()
			s.read = nil
			m, err := mirror.Open(s, cache, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			path, err := m.PublishedCatalog(t.Context(), c.end)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, plain) {
				t.Errorf("%s: got %d bytes, %v; want the plain catalog", c.name, len(got), err)
			}
			if !slices.Equal(s.read, want) {
				t.Errorf("%s: read %q, want %q", c.name, s.read, want)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
		read(c.read)
		if len(c.read) > 1 || c.end.Number == 0 {
			continue
		}
		read(nil)                                                                                   // from the cache
		if err := os.WriteFile(filepath.Join(dir, end.Checksum), plain[:1000], 0o600); err != nil { // the disk has lost it
			t.Fatal(err)
		}
		read(c.read)
	}
}

// TestPackedForm reads a packed catalog with nothing but zstd: it is the catalog.
func TestPackedForm(t *testing.T) {
	t.Parallel()
	plain, _ := catalogFile(3)
	reader, err := zstd.NewReader(bytes.NewReader(pack(t, plain)))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got, err := io.ReadAll(reader); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("got %d bytes, %v; want the %d of the catalog", len(got), err, len(plain))
	}
}
