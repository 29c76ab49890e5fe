package pipeline_test

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dealflow/internal/pipeline"
	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
)

// upkeep is the configuration of a command that asks no API.
func (w *world) upkeep(t testing.TB) pipeline.Config {
	t.Helper()
	return pipeline.Config{
		Store: w.store, RunID: uuid.Must(uuid.NewV7()).String(), Clock: w.clock.Now,
		WorkDir: t.TempDir(), Version: "test", Memory: testkit.Allocator(t),
	}
}

func (w *world) mustCompact(t testing.TB) *pipeline.MaintainResult {
	t.Helper()
	result, err := pipeline.Compact(t.Context(), w.upkeep(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Warnings) > 0 {
		t.Fatal(result.Warnings)
	}
	return result
}

// answers reads all tables through the catalog: as of now, their history, their snapshots, and as of each
// commit's instant of those that pulled something.
func (w *world) answers(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	log := w.log(t)
	w.ask(t, func(db *stdsql.DB) {
		read := func(from string) { all[from] = strings.Join(lines(t, db, "SELECT * FROM "+from+" ORDER BY ALL"), "\n") }
		for _, table := range lake.Tables() {
			read(table.Name)
			read("history." + table.Name)
			read("snapshots." + table.Name)
		}
		read("history.deal_versions")
		read("deals")
		for i := range log.Runs {
			if len(log.Runs[i].Feeds) == 0 {
				continue
			}
			read(fmt.Sprintf("deals_as_of(TIMESTAMPTZ '%s')", log.Runs[i].KnownAt))
			for _, table := range lake.Tables() {
				if table.Depth() < 2 && i%5 == 0 {
					read(asOf(log.Runs[i].KnownAt)(table.Name))
				}
			}
		}
	})
	return all
}

func wantAnswers(t testing.TB, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d questions were answered, %d before", len(got), len(want))
	}
	for _, question := range slices.Sorted(maps.Keys(want)) {
		if got[question] != want[question] {
			t.Errorf("%s: the answer has changed:\n got %.500s\nwant %.500s", question, got[question], want[question])
		}
	}
}

// TestGivesWay does nothing while another run holds the lease, and goes by no clock of its own.
func TestGivesWay(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 3, "")
	w.night(t, 0, feeds(priced), quiet)
	w.later(time.Hour)
	b.write(priced, 1, `"message":"changed"`)
	w.mustSync(t, feeds(priced), quiet)
	l, err := load.Open(t.Context(), w.store)
	if err != nil {
		t.Fatal(err)
	}
	lease := load.Lease{Owner: "elsewhere", RunID: "other", Command: "run", ExpiresAt: lake.At(w.clock.Now().Add(load.LeaseLife))}
	if err := l.TakeLease(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	for name, command := range maintenance {
		result, err := command(t.Context(), w.upkeep(t))
		if err != nil || result.Outcome != lake.OutcomeSkipped || len(result.Warnings) != 1 || result.Commit != 0 {
			t.Errorf("%s beside a run: got %+v, %v; want it skipped", name, result, err)
		}
	}
	if err := l.DropLease(t.Context(), "other", w.clock.Now()); err != nil {
		t.Fatal(err)
	}
	w.later(365 * 24 * time.Hour) // an instant that no commit may have because of a clock that is wrong
	result, err := pipeline.Compact(t.Context(), w.upkeep(t))
	if err != nil || result.Commit != 3 || result.KnownAt.Sub(l.Log().KnownAt.Time) != time.Microsecond {
		t.Errorf("got %+v, %v; want commit 3, a microsecond after the last", result, err)
	}
	if held := l.Lease(t.Context(), w.clock.Now()); held != nil {
		t.Errorf("the lease was left behind: %+v", held)
	}
	empty := w.upkeep(t)
	empty.Store = new(memstore.Mem)
	for name, command := range maintenance {
		if _, err := command(t.Context(), empty); !errors.Is(err, load.ErrNoLake) {
			t.Errorf("%s without a lake: got %v, want ErrNoLake", name, err)
		}
	}
}

// maintenance are the commands that have much in common.
var maintenance = map[string]func(context.Context, pipeline.Config) (*pipeline.MaintainResult, error){
	"compact": pipeline.Compact,
	"expire": func(ctx context.Context, cfg pipeline.Config) (*pipeline.MaintainResult, error) {
		result, err := pipeline.Expire(ctx, pipeline.ExpireConfig{Config: cfg, Keep: load.Retention{Days: 2}, Apply: true})
		if result == nil {
			return nil, err
		}
		return &result.MaintainResult, err
	},
	"replay": func(ctx context.Context, cfg pipeline.Config) (*pipeline.MaintainResult, error) {
		result, err := pipeline.Replay(ctx, pipeline.ReplayConfig{Config: cfg, Snapshots: true, Force: true})
		if result == nil {
			return nil, err
		}
		return &result.MaintainResult, err
	},
}

// TestMaintenanceStumbles fails each store call of each command in turn, and, in other tries, all calls
// behind it, before it is applied or after it: the lake then is what it was, or what the command makes of
// it, whole; and the next try makes of it what an undisturbed one would have made.
func TestMaintenanceStumbles(t *testing.T) {
	t.Parallel()
	w, first := worthMaintaining(t)
	for name, command := range maintenance {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &maintained{world: w, command: command, first: first, old: wholeState(t, first)}
			undisturbed := &faultstore.Store{Store: first.copy(t)}
			if err := m.try(t, undisturbed); err != nil {
				t.Fatal(err)
			}
			behind := keysOf(t, undisturbed.Store)
			m.new = wholeState(t, undisturbed.Store)
			m.kept = slices.DeleteFunc(keysOf(t, first), func(key string) bool { return !slices.Contains(behind, key) })
			if slices.Equal(m.new.files, m.old.files) && name != "replay" {
				t.Fatal("the command changes nothing: it tries nothing")
			}
			calls := undisturbed.Calls()
			t.Logf("%d calls", calls)
			seen := map[int64]int{}
			for at := int64(1); at <= calls; at += stride() {
				once := []stumble{{once: true}, {once: true, applied: true}, {once: true, kind: faultstore.Truncated}}
				for _, f := range []stumble{{}, {applied: true}, once[at%3]} {
					seen[m.stumble(t, at, f)]++
					if t.Failed() {
						t.Fatalf("call %d of %d: %+v", at, calls, f)
					}
				}
			}
			if seen[m.old.commit] == 0 || seen[m.old.commit+1] == 0 {
				t.Errorf("tries by the commit that they left behind: %v, want some of both", seen)
			}
		})
	}
}

// stumble is how a store call fails.
type stumble struct {
	kind          faultstore.Kind
	applied, once bool
}

// maintained is a command, and what it makes of a lake.
type maintained struct {
	*world
	command  func(context.Context, pipeline.Config) (*pipeline.MaintainResult, error)
	first    *datedStore
	old, new state
	kept     []string // objects that the command leaves where they are
}

func (m *maintained) try(t *testing.T, s store.Store) error {
	t.Helper()
	cfg := m.upkeep(t)
	cfg.Store, cfg.NoCatalog = s, true
	result, err := m.command(t.Context(), cfg)
	if err == nil && len(result.Warnings) > 0 {
		err = errors.New(strings.Join(result.Warnings, "; "))
	}
	wantEmpty(t, cfg.WorkDir)
	return err
}

// stumble gives the commit that a try left behind.
func (m *maintained) stumble(t *testing.T, at int64, f stumble) int64 {
	t.Helper()
	s := m.first.copy(t)
	err := m.try(t, &faultstore.Store{Store: s, FailAt: at, Kind: f.kind, Applied: f.applied, Once: f.once})
	left := wholeState(t, s)
	want := m.old
	if left.commit > m.old.commit {
		want = m.new
	}
	wantState(t, "behind the failure", left, want)
	if err == nil && left.commit == m.old.commit {
		t.Error("nobody was told that nothing was done")
	}
	// A lease that a crash leaves behind runs out before the next try.
	if err := s.Delete(t.Context(), lake.LeaseKey); err != nil {
		t.Fatal(err)
	}
	if err := m.try(t, s); err != nil {
		t.Errorf("the next try: %v", err)
	}
	wantState(t, "after the next try", wholeState(t, s), m.new)
	have := keysOf(t, s)
	for _, key := range m.kept {
		if !slices.Contains(have, key) {
			t.Errorf("%s is gone", key)
		}
	}
	if at%5 == 0 && f.applied {
		if _, err := verifyLake(t, s); err != nil { // a hint that is behind is only noted
			t.Error(err)
		}
	}
	return left.commit
}

// keysOf lists all objects.
func keysOf(t *testing.T, s store.Store) []string {
	t.Helper()
	var keys []string
	for object, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, object.Key)
	}
	return keys
}

// worthMaintaining is a lake with small history files, days to expire, and garbage.
func worthMaintaining(t *testing.T) (*world, *datedStore) {
	t.Helper()
	w, b := newBook(t)
	s := newDatedStore(w.clock.Now)
	w.store = s
	b.writeAll(expected, 1, 4, `"message":"A","_embedded":{"tranches":[{"name":"a"},{"name":"b"}]}`)
	for day := range 3 {
		w.evening(day)
		if err := s.Put(t.Context(), fmt.Sprintf("history/bond_expected_deals/market=IG/year=2026/stray-%d.parquet", day), strings.NewReader("stray"), store.Replace); err != nil {
			t.Fatal(err)
		}
		w.mustRun(t, feeds(expected), quiet)
		b.write(expected, 1, fmt.Sprintf(`"message":"%d"`, day))
		b.strike(expected, 4)
	}
	w.evening(9)
	return w, s
}

// datedStore is a store in memory that dates its objects by a clock of the test's.
type datedStore struct {
	store.Store
	now func() time.Time

	mu sync.Mutex
	at map[string]time.Time
}

func newDatedStore(now func() time.Time) *datedStore {
	return &datedStore{Store: new(memstore.Mem), now: now, at: map[string]time.Time{}}
}

func (s *datedStore) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	err := s.Store.Put(ctx, key, body, mode)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.at[key] = s.now()
	}
	return err
}

func (s *datedStore) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		for object, err := range s.Store.List(ctx, prefix) {
			s.mu.Lock()
			object.Modified = s.at[object.Key]
			s.mu.Unlock()
			if !yield(object, err) {
				return
			}
		}
	}
}

// OpenAt implements store.RandomReader.
func (s *datedStore) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	return s.Store.(store.RandomReader).OpenAt(ctx, key)
}

func (s *datedStore) copy(t *testing.T) *datedStore {
	t.Helper()
	c := newDatedStore(s.now)
	copyStore(t, s, c.Store)
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(c.at, s.at)
	return c
}
