package pull_test

import (
	"fmt"
	"testing"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
)

// TestStoreFaults fails each store call of a run and of a sync in turn, with every kind of fault, but no call after it.
// The command ends in the right state, or with an error and the old state. The next command reaches the right state.
// The lake is complete in between.
//
// world.Stride says which calls are tried.
func TestStoreFaults(t *testing.T) {
	t.Parallel()
	n := newNights(t)
	for name, execute := range map[string]func(testing.TB, ...world.Change) (*pull.Result, error){"run": n.Run, "sync": n.Sync} {
		t.Run(name, func(t *testing.T) { n.storeFaults(t, execute) })
	}
}

func (n *nights) storeFaults(t *testing.T, execute func(testing.TB, ...world.Change) (*pull.Result, error)) {
	into := func(s store.Store) (*pull.Result, error) {
		return execute(t, world.Feeds(n.feeds...), world.Quiet, func(c *pull.Config) { c.Store = s })
	}
	count := &faultstore.Store{Store: world.CopyStore(t, n.first, new(memstore.Mem))}
	if _, err := into(count); err != nil {
		t.Fatal(err)
	}
	want := world.StateOf(t, count.Store)
	for call := int64(1); call <= count.Calls(); call += world.Stride(t) {
		for _, kind := range faultstore.Kinds {
			s := world.CopyStore(t, n.first, new(memstore.Mem))
			result, err := into(&faultstore.Store{Store: s, FailAt: call, Kind: kind, Once: true})
			what := fmt.Sprintf("call %d of %d, %s: %v", call, count.Calls(), kind, err)
			left := world.StateOf(t, s)
			switch {
			case err == nil && result.Outcome != lake.OutcomeSkipped:
				world.WantState(t, "of one that says it is done, "+what, left, want)
			case left.Commit == 1:
				world.WantState(t, "before, "+what, left, n.old)
			}
			// A lease that was not removed expires in real use; in this test time does not pass.
			if err := s.Delete(t.Context(), lake.LeaseKey); err != nil {
				t.Fatal(err)
			}
			if _, err := into(s); err != nil {
				t.Errorf("after %s: %v", what, err)
			}
			world.WantState(t, "in the end, "+what, world.StateOf(t, s), want)
			if call%10 == 1 {
				world.WantSound(t, s)
			}
			if t.Failed() {
				t.FailNow()
			}
		}
	}
}
