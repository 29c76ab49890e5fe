package maintain_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/maintain"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestGivesWay checks that a command does nothing while another run holds the lease, and that its commit's instant does
// not depend on its clock.
func TestGivesWay(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	w.Later(time.Hour)
	b.Write(world.Priced, 1, `"message":"changed"`)
	w.MustSync(t, world.Feeds(world.Priced), world.Quiet)
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	lease := load.Lease{Owner: "elsewhere", RunID: "other", Command: "run", ExpiresAt: lake.At(w.Clock.Now().Add(load.LeaseLife))}
	if err := l.TakeLease(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	for name, command := range maintenance {
		result, err := command(t.Context(), w.Upkeep(t))
		if err != nil || result.Outcome != lake.OutcomeSkipped || len(result.Warnings) != 1 || result.Commit != 0 {
			t.Errorf("%s beside a run: got %+v, %v; want it skipped", name, result, err)
		}
	}
	if err := l.DropLease(t.Context(), "other", w.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	w.Later(365 * 24 * time.Hour) // an instant that no commit may have because of a clock that is wrong
	result, err := maintain.Compact(t.Context(), w.Upkeep(t))
	if err != nil || result.Commit != 3 || result.KnownAt.Sub(l.Log().KnownAt.Time) != time.Microsecond {
		t.Errorf("got %+v, %v; want commit 3, a microsecond after the last", result, err)
	}
	if held := l.Lease(t.Context(), w.Clock.Now()); held != nil {
		t.Errorf("the lease was left behind: %+v", held)
	}
	empty := w.Upkeep(t)
	empty.Store = new(memstore.Mem)
	for name, command := range maintenance {
		if _, err := command(t.Context(), empty); !errors.Is(err, load.ErrNoLake) {
			t.Errorf("%s without a lake: got %v, want ErrNoLake", name, err)
		}
	}
}

// maintenance is the commands, which have much in common.
var maintenance = map[string]func(context.Context, maintain.Config) (*maintain.Result, error){
	"compact": maintain.Compact,
	"expire": func(ctx context.Context, cfg maintain.Config) (*maintain.Result, error) {
		result, err := maintain.Expire(ctx, maintain.ExpireConfig{Config: cfg, Keep: maintain.Retention{Days: 2}, Apply: true})
		if result == nil {
			return nil, err
		}
		return &result.Result, err
	},
	"replay": func(ctx context.Context, cfg maintain.Config) (*maintain.Result, error) {
		result, err := maintain.Replay(ctx, maintain.ReplayConfig{Config: cfg, Snapshots: true, Force: true})
		if result == nil {
			return nil, err
		}
		return &result.Result, err
	},
}

// TestMaintenanceStumbles fails each store call of each command in turn, with every kind of fault, and, in other tries, all
// later calls too, before or after it is applied. Then the lake is either unchanged or completely changed by the command, and the next
// try reaches the result of an undisturbed one.
func TestMaintenanceStumbles(t *testing.T) {
	t.Parallel()
	w, first := worthMaintaining(t)
	for name, command := range maintenance {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &maintained{World: w, command: command, first: first, old: world.StateOf(t, first)}
			undisturbed := &faultstore.Store{Store: first.Copy(t)}
			if err := m.try(t, undisturbed); err != nil {
				t.Fatal(err)
			}
			behind := world.Keys(t, undisturbed.Store)
			m.new = world.StateOf(t, undisturbed.Store)
			m.kept = slices.DeleteFunc(world.Keys(t, first), func(key string) bool { return !slices.Contains(behind, key) })
			if slices.Equal(m.new.Files, m.old.Files) && name != "replay" {
				t.Fatal("the command changes nothing: it tries nothing")
			}
			calls := undisturbed.Calls()
			t.Logf("%d calls", calls)
			seen := map[int64]int{}
			stride := min(world.Stride(t), max(calls/4, 1))                   // some before the commit, and some after it, of a command with few calls
			for call := (calls-1)%stride + 1; call <= calls; call += stride { // the last one, too
				once := []failure{{once: true, applied: true}}
				for _, kind := range faultstore.Kinds {
					once = append(once, failure{once: true, kind: kind})
				}
				if !testkit.Full() {
					once = once[call%int64(len(once)):][:1]
				}
				for _, f := range append(once, failure{}, failure{applied: true}) {
					seen[m.fail(t, call, f)]++
					if t.Failed() {
						t.Fatalf("call %d of %d: %+v", call, calls, f)
					}
				}
			}
			if seen[m.old.Commit] == 0 || seen[m.old.Commit+1] == 0 {
				t.Errorf("tries by the commit that they left behind: %v, want some of both", seen)
			}
		})
	}
}

// failure says how a store call fails.
type failure struct {
	kind          faultstore.Kind
	applied, once bool
}

// maintained is a command and its effect on a lake.
type maintained struct {
	*world.World
	command  func(context.Context, maintain.Config) (*maintain.Result, error)
	first    *world.DatedStore
	old, new world.State
	kept     []string // objects that the command leaves where they are
}

func (m *maintained) try(t *testing.T, s store.Store) error {
	t.Helper()
	cfg := m.Upkeep(t)
	cfg.Store, cfg.NoCatalog = s, true
	result, err := m.command(t.Context(), cfg)
	if err == nil && len(result.Warnings) > 0 {
		err = errors.New(strings.Join(result.Warnings, "; "))
	}
	world.WantEmpty(t, cfg.WorkDir)
	return err
}

// fail tries the command with a failure, and returns the commit that a failed try left.
func (m *maintained) fail(t *testing.T, call int64, f failure) int64 {
	t.Helper()
	s := m.first.Copy(t)
	err := m.try(t, &faultstore.Store{Store: s, FailAt: call, Kind: f.kind, Applied: f.applied, Once: f.once})
	left := world.StateOf(t, s)
	want := m.old
	if left.Commit > m.old.Commit {
		want = m.new
	}
	world.WantState(t, "behind the failure", left, want)
	if err == nil && left.Commit == m.old.Commit {
		t.Error("nobody was told that nothing was done")
	}
	// The lease of a crashed run expires before the next try.
	if err := s.Delete(t.Context(), lake.LeaseKey); err != nil {
		t.Fatal(err)
	}
	if err := m.try(t, s); err != nil {
		t.Errorf("the next try: %v", err)
	}
	world.WantState(t, "after the next try", world.StateOf(t, s), m.new)
	have := world.Keys(t, s)
	for _, key := range m.kept {
		if !slices.Contains(have, key) {
			t.Errorf("%s is gone", key)
		}
	}
	if call%5 == 0 && f.applied {
		if _, err := world.Verify(t, s); err != nil { // an outdated hint is only a note
			t.Error(err)
		}
	}
	return left.Commit
}

// worthMaintaining is a lake with small history files, a day to merge, which is also one to expire, and garbage.
func worthMaintaining(t *testing.T) (*world.World, *world.DatedStore) {
	t.Helper()
	w, b := world.NewBook(t)
	s := world.NewDatedStore(w.Clock.Now)
	w.Store = s
	other := api.Feed{Service: api.Bond, Market: api.HY, Kind: api.Expected}
	b.WriteAll(world.Expected, 1, 4, `"message":"A","_embedded":{"tranches":[{"name":"a"},{"name":"b"}]}`)
	b.WriteAll(other, 1, 2, `"message":"B"`)
	for n, day := range []int{0, 1, 10} {
		w.Evening(day)
		if err := s.Put(t.Context(), fmt.Sprintf("history/bond_expected_deals/mkt=IG/year=2026/stray-%d.parquet", n), strings.NewReader("stray"), store.Replace); err != nil {
			t.Fatal(err)
		}
		feeds := world.Feeds(world.Expected, other)
		if day == 1 {
			feeds = world.Feeds(world.Expected)
		}
		w.MustRun(t, feeds, world.Quiet)
		b.Write(world.Expected, 1, fmt.Sprintf(`"message":"%d"`, day))
		b.Strike(world.Expected, 4)
	}
	w.Evening(17)
	return w, s
}
