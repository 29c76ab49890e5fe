package simulation

import (
	"testing"
	"testing/synctest"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
	"dealflow/sql"
)

// hasCatalog says whether the runs of a seed build the catalog. It takes longer than the rest of a run, so few do.
func hasCatalog(seed uint64) bool { return seed%20 == 3 }

// wantChecks checks that a commit contains the results of all quality checks, and that none of them held or warned:
// nothing in the simulated markets is a reason for that. If the store fails while the catalog is built, the run holds.
func (l *life) wantChecks(result *pull.Result) {
	l.t.Helper()
	if !l.catalog || result == nil || result.Commit == 0 {
		return
	}
	if asked, declared := len(result.Checks), len(sql.QualityChecks()); asked != declared {
		l.t.Errorf("%d quality checks were asked, want %d: %+v", asked, declared, result.Checks)
	}
	for _, check := range result.Checks {
		l.tally["check "+check.Outcome]++
		if check.Outcome != lake.CheckPassed {
			l.t.Errorf("check %s %s without need: %s", check.Name, check.Outcome, check.Detail)
		}
	}
}

// TestNightsHoldNothing runs nights of a simulated market with enough deals in each feed for the bounds of the quality
// checks to apply: its edits, removals and new deals cause no hold and no warning.
func TestNightsHoldNothing(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	nights := 5
	if full() {
		nights = 60
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		l := &life{
			t: t, dice: diceOf(5, "nights"), work: t.TempDir(), mem: testkit.Allocator(t), store: new(memstore.Mem), catalog: true,
			feeds: []api.Feed{
				{Service: api.Bond, Market: api.IG, Kind: api.Priced}, {Service: api.Bond, Market: api.IG, Kind: api.Expected},
				{Service: api.Loan, Market: api.LL, Kind: api.Priced},
			},
			pageSize: 100, beat: 20 * time.Millisecond, tally: map[string]int{},
		}
		market := sim.New(sim.Config{Seed: 5, Epoch: began, Clock: time.Now, Deals: 150, Expected: 60, PerDay: 2})
		l.listener = server(t, market, serve.Config{})
		var changed int64
		for night := range nights {
			l.sleep(began.AddDate(0, 0, 3*night).Add(22 * time.Hour))
			l.runs++
			n := newNetwork(uint64(night), l.listener)
			n.beat = l.beat
			result, err := l.run("run", plan{server: true}, n)
			if err != nil {
				t.Fatalf("night %d: %v", night, err)
			}
			l.wantChecks(result)
			for i := range result.Feeds {
				changed += result.Feeds[i].Changed
			}
		}
		if changed == 0 {
			t.Error("no deal changed: nothing was tried")
		}
		t.Logf("%d nights, %d changes, %v", nights, changed, l.tally)
	})
}
