package longlake_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dealflow/internal/testkit/longlake"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// TestOpen opens a lake from several goroutines at once. All get the same lake, and later calls build nothing, even if
// the configuration is spelled differently. Another seed is another lake.
func TestOpen(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache) // where other systems look
	config := longlake.Config{Seed: 3, Scale: 0.001, Years: 1, SnapshotMonths: -1}
	roots := make([]string, 3)
	var all sync.WaitGroup
	for i := range roots {
		all.Go(func() { roots[i] = longlake.Open(t, config) })
	}
	all.Wait()
	folder, err := os.Stat(filepath.Dir(roots[0]))
	if err != nil {
		t.Fatal(err)
	}
	wantSound(t, roots[0])
	again := config
	again.SnapshotMonths = -7
	for _, root := range append(roots, longlake.Open(t, again)) {
		if root != roots[0] {
			t.Errorf("got %s and %s, want one lake", root, roots[0])
		}
	}
	if now, err := os.Stat(filepath.Dir(roots[0])); err != nil || !now.ModTime().Equal(folder.ModTime()) {
		t.Errorf("something was built again (%v)", err)
	}
	for _, file := range open(t, roots[0]).Log().AllFiles() {
		if file.Partition["snapshot_date"] != "" {
			t.Errorf("%s: no snapshot was asked for", file.Path)
		}
	}
	config.Seed++
	if slices.Equal(digests(t, longlake.Open(t, config)), digests(t, roots[0])) {
		t.Error("two seeds give one lake")
	}
}

// digests gives those of the data files, which hold no run's id.
func digests(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	for _, file := range open(t, root).Log().AllFiles() {
		if file.Table != lake.HistoryTable(lake.DealVersions) {
			all = append(all, file.SHA256)
		}
	}
	slices.Sort(all)
	return all
}

// TestClone changes a clone by putting, replacing and deleting objects: the original lake does not change.
func TestClone(t *testing.T) {
	t.Parallel()
	root, _ := shared(t)
	before := objects(t, root)
	clone := longlake.Clone(t, root)
	if diff := cmp.Diff(before, objects(t, clone)); diff != "" {
		t.Fatalf("the clone differs (-lake +clone):\n%s", diff)
	}
	objectStore := open(t, clone).Store()
	for key := range before {
		if err := objectStore.Put(t.Context(), key, strings.NewReader("replaced"), store.Replace); err != nil {
			t.Fatal(err)
		}
		if err := objectStore.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, objects(t, root)); diff != "" {
		t.Errorf("the lake changed with its clone (-before +after):\n%s", diff)
	}
}
