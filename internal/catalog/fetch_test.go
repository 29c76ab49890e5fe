package catalog_test

import (
	"bytes"
	"context"
	stdsql "database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"dealflow/internal/catalog"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
	"dealflow/sql"
)

// TestFetchOnDemand checks that exactly the files of the tables that a query names are fetched, each once.
func TestFetchOnDemand(t *testing.T) {
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 7, Deals: 10})
	w.Store = new(memstore.Mem) // no local folder either
	w.Night(t, 0)
	w.Night(t, 1)
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cache, err := mirror.NewCache(filepath.Join(dir, "cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		query string
		want  []string // folders
	}{
		{"SELECT count(*) FROM deals", nil},
		{"FROM runs", nil},
		{"SELECT count(*) FROM bond_priced_banks", []string{"history/bond_priced_banks"}},
		{"SELECT count(*) FROM Loan_Expected_Deals_AS_OF(now())", []string{"history/loan_expected_deals"}},
		{"SELECT count(*) FROM snapshots.loan_priced_tranches", []string{"history/loan_priced_tranches", "snapshots/loan_priced_tranches"}},
		{"SELECT count(*) FROM history.deal_versions", []string{"history/deal_versions"}},
	} {
		catalog, err := catalog.Open(t.Context(), l, dir, cache)
		if err != nil {
			t.Fatal(err)
		}
		if catalog.Private {
			t.Error("the published catalog was not used")
		}
		db, err := sql.Open(t.Context(), catalog.Path, catalog.Root())
		if err != nil {
			t.Fatal(err)
		}
		if err := catalog.Fetch(t.Context(), db, test.query); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(test.query); err != nil {
			t.Errorf("%s: %v", test.query, err)
		}
		found, err := filepath.Glob(catalog.Root() + "/*/*")
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			found[i] = strings.TrimPrefix(found[i], catalog.Root()+"/")
		}
		if !slices.Equal(found, test.want) {
			t.Errorf("%s: fetched %q, want %q", test.query, found, test.want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if err := catalog.Close(); err != nil {
			t.Error(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "cache", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if len(filepath.Base(name)) != 64 {
			t.Errorf("left in the cache: %s", name)
		}
	}
}

// TestPackedAfterCrash reads a lake in which a command was killed between the puts of the catalog and of its packed copy: the
// newer commit answers, and the next publication puts both.
func TestPackedAfterCrash(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 7, Deals: 5})
	w.Store = new(memstore.Mem)
	w.Night(t, 0)
	before := storetest.Bytes(t, w.Store, lake.PackedCatalogKey)
	w.Night(t, 1)
	cache, err := mirror.NewCache(t.TempDir(), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, commit int64) {
		t.Helper()
		l, err := load.Open(t.Context(), w.Store)
		if err != nil {
			t.Fatal(err)
		}
		c, err := catalog.Open(t.Context(), l, t.TempDir(), cache)
		if err != nil {
			t.Fatal(err)
		}
		db, err := c.DB(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		shown, err := sql.ShownBy(t.Context(), db)
		err = errors.Join(err, db.Close())
		if err != nil || c.Private || shown.Commit.Number != commit {
			t.Errorf("%s: got commit %d, private %t, %v; want the published catalog of commit %d", what, shown.Commit.Number, c.Private, err, commit)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if state, err := catalog.ReadPublished(t.Context(), l, t.TempDir()); err != nil || state.Flaw != nil || state.Shows != l.Log().Newest() {
			t.Errorf("%s: got %v, %v; want the newest commit", what, state, err)
		}
	}
	storetest.Overwrite(t, w.Store, lake.PackedCatalogKey, before)
	check("after the crash", 2)
	w.Night(t, 2)
	if bytes.Equal(storetest.Bytes(t, w.Store, lake.PackedCatalogKey), before) {
		t.Error("the packed catalog was not put again")
	}
	check("after the next run", 3)
	damaged := storetest.Bytes(t, w.Store, lake.PackedCatalogKey)
	damaged[len(damaged)-10] ^= 1
	storetest.Overwrite(t, w.Store, lake.PackedCatalogKey, damaged)
	inspected, err := catalog.Inspect(t.Context(), w.Store, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, flaw := inspected.State(); flaw == nil || !strings.Contains(flaw.Error(), lake.PackedCatalogKey) {
		t.Errorf("a damaged packed catalog: got %v, want its name", flaw)
	}
	if err := inspected.Close(); err != nil {
		t.Error(err)
	}
}

// TestFetchOnlyNews extends the catalog of a lake that is no local folder. Of history's files it reads only those that
// the run has written and those with the contents that it compares.
func TestFetchOnlyNews(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 7, Deals: 10})
	reads := &readStore{Mem: new(memstore.Mem)}
	w.Store = reads
	for night := range 9 { // by then every field that changes has changed before
		w.Night(t, night)
	}
	reads.take()
	w.Evening(9)
	result := w.MustRun(t)
	own := 0
	for _, key := range reads.take() {
		switch {
		case !strings.HasPrefix(key, "history/") || strings.HasPrefix(key, "history/deal_versions/"):
		case strings.Contains(key, result.RunID):
			own++
		default:
			t.Errorf("it read %s", key)
		}
	}
	if own == 0 {
		t.Error("it read nothing that it had written")
	}
}

// TestNewMonthAfar extends the catalog of a lake that is no local folder into another month. The views of the month
// before are not rebuilt, and their files are not here.
func TestNewMonthAfar(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	w.Store = new(memstore.Mem)
	b.WriteAll(world.Priced, 1, 3, `"spread":"T+95"`)
	var said strings.Builder
	listen := world.Hears(&said)
	for _, day := range []int{25, 26, 27} { // 30 January to 1 February
		said.Reset()
		w.Night(t, day, world.Feeds(world.Priced), listen)
	}
	if strings.Contains(said.String(), "built from scratch") {
		t.Errorf("it did not go on from the catalog before: %s", said.String())
	}
	w.Ask(t, func(db *stdsql.DB) {
		if got := world.SortedRows(t, db, "SELECT count(*) FROM snapshots.bond_priced_deals"); got[0] != "9" {
			t.Errorf("%s rows in snapshots", got[0])
		}
	})
}

// readStore records which objects were read.
type readStore struct {
	*memstore.Mem
	mu   sync.Mutex
	keys []string
}

func (s *readStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	s.mu.Lock()
	s.keys = append(s.keys, key)
	s.mu.Unlock()
	return s.Mem.Get(ctx, key)
}

// take returns the keys since the last call.
func (s *readStore) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := s.keys
	s.keys = nil
	return keys
}

// TestCacheRefusesOtherBytes checks that an object with other bytes than the commit names is refused, and that the
// cache keeps to its limit.
func TestCacheRefusesOtherBytes(t *testing.T) {
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 7, Deals: 10})
	w.Store = new(memstore.Mem)
	w.Night(t, 0, world.Quiet)
	files := w.Log(t).AllFiles()
	cache, err := mirror.NewCache(t.TempDir(), files[0].Bytes)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := cache.Folder()
	if err != nil {
		t.Fatal(err)
	}
	if err := cache.Fetch(t.Context(), w.Store, files, folder.Path()); err != nil {
		t.Fatal(err)
	}
	held, err := filepath.Glob(filepath.Join(filepath.Dir(folder.Path()), strings.Repeat("?", 64)))
	if err != nil {
		t.Fatal(err)
	}
	var kept int64 // of the copies that were used last: how many these are depends on the order in which the files came
	for _, path := range held {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		kept += info.Size()
	}
	if kept > files[0].Bytes || len(held) == len(files) {
		t.Errorf("%d of %d files held, of %d bytes, where %d have room", len(held), len(files), kept, files[0].Bytes)
	}
	wrong := files[0]
	wrong.SHA256 = strings.Repeat("0", 64)
	wrong.Path = files[1].Path
	other, err := cache.Folder()
	if err != nil {
		t.Fatal(err)
	}
	err = cache.Fetch(t.Context(), w.Store, []lake.File{wrong}, other.Path())
	if err == nil || !strings.Contains(err.Error(), "dealflow verify") || !strings.Contains(err.Error(), wrong.Path) {
		t.Errorf("got %v", err)
	}
}
