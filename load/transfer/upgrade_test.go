package transfer_test

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/s3test"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/load/transfer"
	"dealflow/schemas/lake"
)

func TestMain(m *testing.M) { world.Main(m) }

// oldLake returns a copy in memory of a lake of format version 1 that an earlier program wrote.
func oldLake(t *testing.T, name string) store.Store {
	t.Helper()
	return world.CopyStore(t, world.Folder(t, filepath.Join(testkit.Root(t), "testdata/lake", name)), memory("old"))
}

// memory is an empty store in memory with a URL of its own.
func memory(url string) store.Store { return inMemory{new(memstore.Mem), url} }

type inMemory struct {
	*memstore.Mem
	url string
}

func (m inMemory) URL() string { return m.url }

func upgraded(t *testing.T, from, to store.Store) *transfer.Result {
	t.Helper()
	result, err := transfer.Upgrade(t.Context(), transfer.Config{From: from, To: to, Memory: testkit.Allocator(t)})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// contents returns the bytes of all objects, by key.
func contents(t *testing.T, s store.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, key := range world.Keys(t, s) {
		if strings.HasPrefix(key, store.ProbePrefix) {
			continue // left by a probe that could not delete it
		}
		all[key] = string(storetest.Bytes(t, s, key))
	}
	return all
}

// wantSame checks that two stores have the same objects.
func wantSame(t *testing.T, got, want map[string]string) {
	t.Helper()
	for key := range want {
		if got[key] != want[key] {
			t.Errorf("%s: got %d bytes, want %d, or they differ", key, len(got[key]), len(want[key]))
		}
	}
	for key := range got {
		if _, wanted := want[key]; !wanted {
			t.Errorf("%s should not be there", key)
		}
	}
}

// TestUpgrade upgrades lakes of format version 1: the old one stays as it is and readable; the new one is sound, has the
// same commits and file bytes, gives the same answer as of each instant, and can be written.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"v1", "v2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, _ := world.NewBook(t)
			made, b := world.NewBook(t)
			old.Store = oldLake(t, name)
			storetest.Overwrite(t, old.Store, lake.BankAliasesKey, []byte("alias,canonical\nBank A,Bank Alpha\n"))
			before, answers := contents(t, old.Store), old.Answers(t)
			made.Store = memory("new")
			result := upgraded(t, old.Store, made.Store)
			wantSame(t, contents(t, old.Store), before)
			if log := old.Log(t); result.Commits != log.Number || result.Added != log.Number || result.Files != int64(len(log.AllFiles())) || result.Copied != result.Files {
				t.Errorf("result: %+v, want %d commits and %d files", result, log.Number, len(log.AllFiles()))
			}

			world.WantSound(t, made.Store)
			was, is := old.Log(t), made.Log(t)
			for i := range was.Commits {
				if was.Commits[i].Number != is.Commits[i].Number || !was.Commits[i].KnownAt.Equal(is.Commits[i].KnownAt.Time) || is.Commits[i].FormatVersion != 2 {
					t.Fatalf("commit %d at %s became %d at %s, of format %d", was.Commits[i].Number, was.Commits[i].KnownAt, is.Commits[i].Number, is.Commits[i].KnownAt, is.Commits[i].FormatVersion)
				}
			}
			for _, file := range is.AllFiles() {
				if strings.Contains(file.Path, "market=") || strings.Contains(file.Path, "snapshot_date=") {
					t.Errorf("%s has the name of a column in its path", file.Path)
				}
			}
			for query, answer := range made.Answers(t) {
				if answer != answers[query] {
					t.Errorf("%s: got\n%s\nwant\n%s", query, answer, answers[query])
				}
			}

			made.Clock.Set(is.KnownAt.Add(time.Hour))
			b.WriteAll(world.Priced, 1, 3, `"message":"years later"`)
			night, err := made.Run(t, world.Feeds(world.Priced), world.AcceptRemovals)
			if err != nil || night.Commit != is.Number+1 {
				t.Fatalf("a further night: %v", err)
			}
			world.WantSound(t, made.Store)
			_, err = transfer.Upgrade(t.Context(), transfer.Config{From: old.Store, To: made.Store, Memory: testkit.Allocator(t)})
			if !errors.Is(err, transfer.ErrOwnCommits) {
				t.Errorf("upgrade to a lake with its own commit: got %v, want ErrOwnCommits", err)
			}
		})
	}
}

// TestUpgradeLinks upgrades a lake in a folder: the files of both lakes are the same files on disk.
func TestUpgradeLinks(t *testing.T) {
	t.Parallel()
	from := world.CopyStore(t, oldLake(t, "v2"), world.Folder(t, t.TempDir()))
	to := world.Folder(t, filepath.Join(t.TempDir(), "new"))
	upgraded(t, from, to)
	l, err := load.Open(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range l.Log().AllFiles() {
		a, errA := os.Stat(filepath.Join(store.LocalPath(from), file.Path))
		b, errB := os.Stat(filepath.Join(store.LocalPath(to), strings.NewReplacer("market=", "mkt=", "snapshot_date=", "day=").Replace(file.Path)))
		if err := errors.Join(errA, errB); err != nil || !os.SameFile(a, b) {
			t.Errorf("%s is another file in the new lake, %v", file.Path, err)
		}
	}
	wantSame(t, contents(t, to), contents(t, upgradedInMemory(t, from)))
}

// upgradedInMemory upgrades a copy of a lake in another kind of store. Its marker names from.
func upgradedInMemory(t *testing.T, from store.Store) store.Store {
	t.Helper()
	to := memory("new")
	upgraded(t, named{oldLake(t, "v2"), from.URL()}, to)
	return to
}

// named is a store with another URL.
type named struct {
	store.Store
	url string
}

func (n named) URL() string { return n.url }

// TestUpgradeOnS3 upgrades from one prefix of a bucket to another: the server copies the data files itself.
func TestUpgradeOnS3(t *testing.T) {
	t.Parallel()
	var copied, read, sent atomic.Int64
	server := s3test.Start(t, s3test.Options{}).Front(t, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			data := strings.HasSuffix(r.URL.Path, ".parquet")
			switch {
			case data && r.Method == http.MethodPut && r.Header.Get("x-amz-copy-source") != "":
				copied.Add(1)
			case data && r.Method == http.MethodPut:
				sent.Add(1)
			case data && r.Method == http.MethodGet:
				read.Add(1)
			}
			server.ServeHTTP(w, r)
		})
	})
	from := world.CopyStore(t, oldLake(t, "v2"), server.Store(t, "an old & long name"))
	to := server.Store(t, "new")
	sent.Store(0)
	result := upgraded(t, from, to)
	if copied.Load() == 0 || sent.Load() != 0 {
		t.Errorf("%d data files were copied by the server and %d sent, want all %d copied", copied.Load(), sent.Load(), result.Files)
	}
	got, want := contents(t, to), contents(t, upgradedInMemory(t, from))
	wantSame(t, got, want)
}

// TestUpgradeIsResumed fails an upgrade at one call of the new lake's store after another, and runs it again. Until the
// last commit is in, there is no lake for a reader, and none for a writer to begin; in the end the new lake is that of an
// upgrade without a fault.
func TestUpgradeIsResumed(t *testing.T) {
	t.Parallel()
	from := oldLake(t, "v2")
	calls := &faultstore.Store{Store: new(memstore.Mem)}
	upgraded(t, from, calls)
	want := contents(t, calls.Store)
	step := int64(17)
	if testkit.Full() {
		step = 1
	}
	for n := int64(1); n <= calls.Calls(); n += step {
		for _, applied := range []bool{false, true} {
			to := new(memstore.Mem)
			faulty := &faultstore.Store{Store: to, FailAt: n, Applied: applied}
			if _, err := transfer.Upgrade(t.Context(), transfer.Config{From: from, To: faulty, Memory: testkit.Allocator(t)}); err == nil {
				continue // the fault met what is not needed: an alias file, or reading the hint
			}
			_, first := contents(t, to)[lake.CommitKey(1)]
			_, begun := contents(t, to)[lake.BegunKey]
			switch l, err := load.Open(t.Context(), to); {
			case first && err != nil:
				t.Errorf("call %d: the first commit is there, but %v", n, err)
			case !first && err == nil:
				t.Errorf("call %d: a reader sees commit %d of an upgrade that has not finished", n, l.Log().Number)
			case !first && begun && !strings.Contains(err.Error(), "dealflow upgrade --lake"):
				t.Errorf("call %d: %v, want the command that goes on", n, err)
			}
			upgraded(t, from, to)
			wantSame(t, contents(t, to), want)
		}
	}
}

// TestUpgradeTakesLaterCommits upgrades a lake, then again after the older lake has another commit.
func TestUpgradeTakesLaterCommits(t *testing.T) {
	t.Parallel()
	full, earlier, to := oldLake(t, "v2"), oldLake(t, "v2"), memory("new")
	l, err := load.Open(t.Context(), full)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Remove(t, earlier, lake.CommitKey(l.Log().Number))
	storetest.Remove(t, earlier, lake.LatestKey)
	if first := upgraded(t, earlier, to); first.Added != l.Log().Number-1 {
		t.Fatalf("the first upgrade added %d commits, want %d", first.Added, l.Log().Number-1)
	}
	if second := upgraded(t, full, to); second.Added != 1 {
		t.Errorf("the second upgrade added %d commits, want 1", second.Added)
	}
	world.WantSound(t, to)
	want := memory("new")
	upgraded(t, full, want)
	wantSame(t, withoutDerived(contents(t, to)), withoutDerived(contents(t, want)))
}

// withoutDerived drops the hint and the checkpoints, which depend on when they were written.
func withoutDerived(objects map[string]string) map[string]string {
	maps.DeleteFunc(objects, func(key, _ string) bool {
		return key == lake.LatestKey || strings.HasPrefix(key, lake.CheckpointsPrefix)
	})
	return objects
}

// TestUpgradeRefuses holds what is no upgrade.
func TestUpgradeRefuses(t *testing.T) {
	t.Parallel()
	old, present, foreign, begun := oldLake(t, "v1"), memory("present"), memory("foreign"), memory("begun")
	upgraded(t, old, present)
	storetest.Overwrite(t, foreign, "notes.txt", []byte("mine"))
	storetest.Overwrite(t, begun, lake.BegunKey, []byte(`{"command":"upgrade","from":"s3://other/lake"}`))
	for name, test := range map[string]struct {
		from, to store.Store
		want     string
	}{
		"no lake":            {memory("nothing"), memory("new"), "no lake found"},
		"the present format": {present, memory("new"), "format version 2 already"},
		"in place":           {old, old, "inside the other, or in its place"},
		"a folder in use":    {old, foreign, "is not empty: it contains notes.txt"},
		"of another lake":    {old, begun, "was begun by `dealflow upgrade` from s3://other/lake"},
	} {
		if _, err := transfer.Upgrade(t.Context(), transfer.Config{From: test.from, To: test.to, Memory: testkit.Allocator(t)}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
