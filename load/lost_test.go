package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
)

// someNights returns a lake of a number of commits, one a night.
func someNights(t *testing.T, nights int) *memstore.Mem {
	t.Helper()
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	for n := range nights {
		loadtest.Night(t, l, n, loadtest.Added(int64(n+1), 1, 'a'))
	}
	return s
}

// newest names the newest commit of a lake.
func newest(t *testing.T, s store.Store) lake.NamedCommit {
	t.Helper()
	return loadtest.Open(t, s).Log().Newest()
}

// catalogEnd is a file that ends as a published catalog that shows a commit.
func catalogEnd(named lake.NamedCommit) []byte {
	return []byte("blocks of DuckDB" + named.Line() + lake.ChecksumPrefix + strings.Repeat("0", 64))
}

// wantLost opens a lake and checks which commit it has lost, and that only a writer who accepts that may begin.
func wantLost(t *testing.T, s store.Store, end int64, want lake.NamedCommit, by ...string) *load.Lake {
	t.Helper()
	l, err := load.Open(t.Context(), s)
	if !errors.Is(err, load.ErrLostCommit) || !strings.Contains(err.Error(), "--accept-lost-commit") || !strings.Contains(err.Error(), lake.CommitKey(want.Number)) {
		t.Fatalf("open: got %v, want a lost commit, its key and what to do", err)
	}
	if l.Log().Number != end {
		t.Errorf("the log is at %d, want %d", l.Log().Number, end)
	}
	if lost := l.Lost(); len(lost) != 1 || lost[0].NamedCommit != want || strings.Join(lost[0].NamedBy, " ") != strings.Join(by, " ") {
		t.Errorf("lost %+v, want %+v, named by %v", lost, want, by)
	}
	cfg := load.TransactionConfig{ID: "x", Command: "run", Clock: time.Now, Started: loadtest.Start, WorkDir: t.TempDir(), Memory: testkit.Allocator(t)}
	if _, err := l.Begin(cfg); !errors.Is(err, load.ErrLostCommit) {
		t.Errorf("a writer that has not accepted the loss: %v", err)
	}
	return l
}

// TestLostCommit deletes the newest commit of a lake whose hint or catalog still names it: that is a loss, also where
// another commit has taken the number. After a person has accepted it, the next commit records it, with a later known_at
// than the lost one's, and the lake is sound.
func TestLostCommit(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, s *memstore.Mem, lost lake.NamedCommit)
		by     []string
	}{
		"the hint names it": {func(*testing.T, *memstore.Mem, lake.NamedCommit) {}, []string{lake.LatestKey}},
		"the catalog names it": {func(t *testing.T, s *memstore.Mem, lost lake.NamedCommit) {
			storetest.Remove(t, s, lake.LatestKey)
			storetest.Overwrite(t, s, lake.CatalogKey, catalogEnd(lost))
		}, []string{lake.CatalogKey}},
		"both name it": {func(t *testing.T, s *memstore.Mem, lost lake.NamedCommit) {
			storetest.Overwrite(t, s, lake.CatalogKey, catalogEnd(lost))
		}, []string{lake.LatestKey, lake.CatalogKey}},
	} {
		t.Run(name, func(t *testing.T) {
			s := someNights(t, 3)
			lost := newest(t, s)
			storetest.Remove(t, s, lake.CommitKey(3))
			c.damage(t, s, lost)
			wantLost(t, s, 2, lost, c.by...)

			l, err := load.OpenAccepting(t.Context(), s, true)
			if err != nil {
				t.Fatal(err)
			}
			if floor := l.Floor(); floor != lost.KnownAt {
				t.Errorf("known_at must be later than %s, want %s", floor, lost.KnownAt)
			}
			run := loadtest.Begin(t, l, testkit.Allocator(t), loadtest.Start.AddDate(0, 0, 2))
			defer loadtest.Close(t, run)
			if _, err := run.Commit(t.Context(), lake.Commit{Command: "run", KnownAt: lost.KnownAt}); err == nil {
				t.Error("a commit was made with the known_at of the lost one")
			}
			made, err := run.Commit(t.Context(), lake.Commit{Command: "run", KnownAt: lost.KnownAt.Next()})
			if err != nil {
				t.Fatal(err)
			}
			if made.Number != 3 || len(made.Lost) != 1 || made.Lost[0].NamedCommit != lost || strings.Join(made.Lost[0].NamedBy, " ") != strings.Join(c.by, " ") {
				t.Errorf("commit %d records %+v, want %+v", made.Number, made.Lost, lost)
			}
			// Hint and catalog may still name the lost one: the next commit's writer was killed, say.
			if again, err := load.Open(t.Context(), s); err != nil || again.Log().Number != 3 {
				t.Errorf("after the loss was recorded: %v", err)
			}
		})
	}
}

// TestAnotherCommitOfThatNumber makes another commit with the number of a lost one, as programs before did. What names
// the lost one proves the loss: the same number with another hash is no newer or older state.
func TestAnotherCommitOfThatNumber(t *testing.T) {
	for _, more := range []int{0, 1, 5} {
		s := someNights(t, 3)
		lost := newest(t, s)
		storetest.Remove(t, s, lake.CommitKey(3))
		storetest.Remove(t, s, lake.LatestKey)
		l := loadtest.Open(t, s)
		for n := range more + 1 {
			loadtest.Night(t, l, 3+n, loadtest.Added(int64(10+n), 1, 'b'))
		}
		hint, err := json.Marshal(load.Hint{FormatVersion: 2, Commit: 3, SHA256: lost.SHA256, KnownAt: lost.KnownAt})
		if err != nil {
			t.Fatal(err)
		}
		storetest.Overwrite(t, s, lake.LatestKey, hint)
		wantLost(t, s, int64(3+more), lost, lake.LatestKey)
		storetest.Remove(t, s, lake.LatestKey)
		if _, err := load.Open(t.Context(), s); err != nil {
			t.Errorf("nothing names the lost commit, but open says %v", err)
		}
	}
}

// TestFirstCommitLost checks that a lake whose only commit is gone is no empty lake.
func TestFirstCommitLost(t *testing.T) {
	s := someNights(t, 1)
	lost := newest(t, s)
	storetest.Remove(t, s, lake.CommitKey(1))
	wantLost(t, s, 0, lost, lake.LatestKey)
	if l, err := load.OpenAccepting(t.Context(), s, true); !errors.Is(err, load.ErrNoLake) || len(l.Lost()) != 1 {
		t.Errorf("accepted: %v, want no lake, and the lost commit", err)
	}
}

// TestCheckpointOfALostCommit puts another commit in the place of the newest one, which a checkpoint includes: the
// checkpoint names a lost commit, and is not read.
func TestCheckpointOfALostCommit(t *testing.T) {
	s := someNights(t, 50)
	lost := newest(t, s)
	storetest.Remove(t, s, lake.CommitKey(50))
	if l, err := load.Open(t.Context(), s); err != nil || l.Log().Newest() != lost {
		t.Fatalf("a checkpoint has all that the absent commit said: got %v", err)
	}
	checkpoint := storetest.Bytes(t, s, lake.CheckpointKey(50))
	for _, key := range []string{lake.CheckpointKey(50), lake.LatestKey} {
		storetest.Remove(t, s, key)
	}
	loadtest.Night(t, loadtest.Open(t, s), 60, loadtest.Added(99, 1, 'b'))
	other := newest(t, s)
	storetest.Overwrite(t, s, lake.CheckpointKey(50), checkpoint)
	if l := wantLost(t, s, 50, lost, lake.CheckpointKey(50)); l.Log().Newest() != other {
		t.Errorf("the log ends with %s, want %s", l.Log().Newest(), other)
	}
}

// TestOldHints reads hints of programs that wrote no hash.
func TestOldHints(t *testing.T) {
	for hint, lost := range map[string]bool{
		`{"commit":3,"checkpoint":0}`: false, `{"commit":2,"checkpoint":0}`: false, `{"commit":4,"checkpoint":0}`: true, `{}`: false, `nonsense`: false,
	} {
		s := someNights(t, 3)
		storetest.Overwrite(t, s, lake.LatestKey, []byte(hint))
		if _, err := load.Open(t.Context(), s); errors.Is(err, load.ErrLostCommit) != lost || !lost && err != nil {
			t.Errorf("hint %s: got %v, want a lost commit: %t", hint, err, lost)
		}
	}
}

// late is a store that shows a commit only from the second time on that it is asked for: the first time there is none,
// because another run is just making it, or because a network file system has not shown it yet.
type late struct {
	store.Store
	key   string
	asked int
}

func (s *late) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if key == s.key {
		if s.asked++; s.asked <= 2 {
			return nil, store.ErrNotFound
		}
	}
	return s.Store.Get(ctx, key)
}

// TestCommitThatAppears opens a lake whose hint names a commit that is shown a moment later. The log is read again.
func TestCommitThatAppears(t *testing.T) {
	whole := someNights(t, 3)
	synctest.Test(t, func(t *testing.T) {
		s := &late{Store: storetest.Clone(t, whole), key: lake.CommitKey(3)}
		began := time.Now()
		l, err := load.Open(t.Context(), s)
		if err != nil || l.Log().Number != 3 || len(l.Lost()) > 0 {
			t.Fatalf("got %v, want commit 3", err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it was asked for again after %s, want 2s", took)
		}
		if s.asked < 3 {
			t.Errorf("the commit was asked for %d times: nothing was tried", s.asked)
		}
	})
}

// TestHintNamesItsCommit checks the hint that a commit writes.
func TestHintNamesItsCommit(t *testing.T) {
	s := someNights(t, 2)
	want := `"commit":2,"sha256":"` + lake.SHA256(storetest.Bytes(t, s, lake.CommitKey(2))) + `","known_at":"2026-03-03T22:00:00.000000Z","checkpoint":0`
	if hint := storetest.Bytes(t, s, lake.LatestKey); !bytes.Contains(hint, []byte(want)) {
		t.Errorf("the hint is %s, want %s", hint, want)
	}
}
