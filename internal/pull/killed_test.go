package pull_test

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"testing"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/oracle"
	"dealflow/internal/testkit/world"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// nights is a lake after its first night, and its expected state after the second.
type nights struct {
	*world.World
	feeds    []api.Feed
	first    store.Store
	old, new world.State
	oldRows  map[string][]oracle.Row // what the market says, by table
	newRows  map[string][]oracle.Row
	truth    *world.Truth
	catalog  bool // runs build a catalog, and check it before they commit
}

// newNights runs the first night and moves the clock into the second one.
func newNights(t *testing.T) *nights {
	t.Helper()
	n := &nights{World: world.New(t, sim.Config{Seed: 5, Deals: 20}), feeds: []api.Feed{world.Priced, world.Expected, world.LoanExpected}}
	n.truth = world.NewTruth(t, n.feeds...)
	n.Night(t, 0, world.Feeds(n.feeds...))
	n.first = n.Store
	n.old, n.oldRows = world.StateOf(t, n.first), n.truth.Rows(t, n.World)

	n.Evening(4)
	n.newRows = n.truth.Rows(t, n.World)
	undisturbed := world.CopyStore(t, n.first, new(memstore.Mem))
	result, err := n.runInto(t, undisturbed)
	if err != nil {
		t.Fatal(err)
	}
	n.new = world.StateOf(t, undisturbed)
	if result.Count(func(f *lake.FeedRun) int64 { return min(f.Added, 1) + min(f.Changed, 1) + min(f.Removed, 1) }) < 6 {
		t.Fatalf("the second night brings too little to be a test: %+v", result.Feeds)
	}
	return n
}

// runInto runs at the present instant into a store.
func (n *nights) runInto(t *testing.T, s store.Store) (*pull.Result, error) {
	t.Helper()
	return n.Run(t, world.Feeds(n.feeds...), func(c *pull.Config) { c.Store, c.NoCatalog = s, !n.catalog })
}

// calls counts the store calls of an undisturbed second night.
func (n *nights) calls(t *testing.T, s store.Store) int64 {
	t.Helper()
	count := &faultstore.Store{Store: world.CopyStore(t, n.first, s)}
	if _, err := n.runInto(t, count); err != nil {
		t.Fatal(err)
	}
	return count.Calls()
}

// TestKilledRun fails each store call of a second night in turn, and all calls after it, as if the process had died
// there: before the call was applied, or right after. Then the lake shows either the first night or all of the second,
// and the next run reaches the state of an undisturbed one. Runs without a catalog are checked for all calls, in a
// folder (before) and in memory (after); runs with a catalog for some calls.
func TestKilledRun(t *testing.T) {
	t.Parallel()
	n := newNights(t)
	seen := map[int64]int{}
	for _, applied := range []bool{false, true} {
		empty := func() store.Store {
			if applied {
				return new(memstore.Mem)
			}
			return world.Folder(t, t.TempDir())
		}
		calls := n.calls(t, empty())
		for call := (calls - 1) % world.Stride(t); call < calls; call += world.Stride(t) { // the last one, too
			s := world.CopyStore(t, n.first, empty())
			seen[n.kill(t, s, call+1, applied).Commit]++
			n.recover(t, s)
			if t.Failed() {
				t.Fatalf("call %d of %d failed, applied: %t", call+1, calls, applied)
			}
		}
	}
	if !testing.Short() && (seen[1] == 0 || seen[2] == 0) {
		t.Errorf("kills by the commit that they left behind: %v, want some of 1 and of 2", seen)
	}
	n.catalog = true
	calls := n.calls(t, world.Folder(t, t.TempDir()))
	commit := calls - 3 // the hint, a look for a newer commit, and the catalog follow
	for _, c := range []struct {
		call    int64
		applied bool
	}{{calls / 2, false}, {commit, false}, {commit, true}, {commit + 2, false}, {calls, false}} {
		t.Run(fmt.Sprintf("folder, call %d, applied %t", c.call, c.applied), func(t *testing.T) {
			n.killAndLook(t, world.CopyStore(t, n.first, world.Folder(t, t.TempDir())), c.call, c.applied)
		})
	}
}

// kill fails a call of a run into s, and all calls after it, and checks that the lake shows the first night or the
// second.
func (n *nights) kill(t *testing.T, s store.Store, call int64, applied bool) (left world.State) {
	t.Helper()
	result, err := n.runInto(t, &faultstore.Store{Store: s, FailAt: call, Applied: applied})
	left = world.StateOf(t, s)
	switch {
	case err == nil && len(result.Warnings) == 0:
		t.Error("nobody was told")
	case err == nil && left.Commit != 2:
		t.Errorf("the run says it is done, but the lake is at commit %d", left.Commit)
	}
	if left.Commit == 1 {
		world.WantState(t, "of the first night", left, n.old)
	} else {
		world.WantState(t, "of the second night", left, n.new)
	}
	return left
}

// recover runs again and checks that the lake shows the second night.
func (n *nights) recover(t *testing.T, s store.Store) {
	t.Helper()
	if _, err := n.runInto(t, s); err != nil {
		t.Errorf("the run after it: %v", err)
	}
	world.WantState(t, "after the next run", world.StateOf(t, s), n.new)
}

// killAndLook is kill, but reads the lake through the catalog, after the kill and after the next run.
func (n *nights) killAndLook(t *testing.T, s store.Store, call int64, applied bool) {
	t.Helper()
	w := n.WithStore(s)
	look := func(what string, want map[string][]oracle.Row) {
		w.Ask(t, func(db *stdsql.DB) {
			n.truth.Compare(t, db, what, func(table string) string { return table }, want)
		})
	}
	if left := n.kill(t, s, call, applied); left.Commit == 1 {
		look("first night", n.oldRows)
	} else {
		look("second night", n.newRows)
	}
	w.MustRun(t, world.Feeds(n.feeds...))
	look("after the next run", n.newRows)
	w.Ask(t, func(db *stdsql.DB) {
		world.WantAgreement(t, db, n.feeds...)
		world.WantInstants(t, db)
	})
}

// TestStoreStumbles fails each store call of a second night in turn, but none after it; every other failed call is
// applied. The run reports the failure, unless it could work around it. What it commits is complete, and the next run
// completes the night. For a run with a catalog, which reads much more, only some calls fail.
func TestStoreStumbles(t *testing.T) {
	t.Parallel()
	n := newNights(t)
	n.failEach(t, world.Stride(t))
	n.catalog = true
	n.failEach(t, 23*world.Stride(t))
}

// failEach fails single calls, one in each run.
func (n *nights) failEach(t *testing.T, stride int64) {
	t.Helper()
	calls := n.calls(t, new(memstore.Mem))
	for call := int64(0); call < calls; call += stride {
		s := world.CopyStore(t, n.first, new(memstore.Mem))
		_, err := n.runInto(t, &faultstore.Store{Store: s, FailAt: call + 1, Applied: call%2 == 0, Once: true})
		left := world.StateOf(t, s)
		switch {
		case err == nil:
			world.WantState(t, "of a run that says it is done", left, n.new)
		case left.Commit == 1:
			world.WantState(t, "of the first night", left, n.old)
		case !errors.Is(err, pull.ErrFeedsFailed):
			t.Errorf("the run fails, yet it committed: %v", err)
		}
		n.recover(t, s)
		if t.Failed() {
			t.Fatalf("call %d failed", call+1)
		}
	}
}
