package pull_test

import (
	"testing"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// TestTruthUnderFaults is TestTruth with an API that breaks off bodies, damages records inside pages, fails, ends tokens early and loses cursors: no
// row is lost or invented.
func TestTruthUnderFaults(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 3, Deals: 40})
	faults := serve.AllFaults(3, 0.15, serve.FaultTooMany, serve.FaultBareTooMany)
	faults.Rates = map[serve.Fault]float64{serve.FaultTooMany: 0.002} // each costs a real second
	w.ServeAgain(t, serve.Config{Source: w.Market, Faults: faults})
	w.Pages, w.Attempts = 10, 8
	world.CheckNights(t, w, 3)
	var retries int64
	for _, run := range w.Log(t).Commits {
		for i := range run.Feeds {
			retries += run.Feeds[i].Retries
		}
	}
	if retries == 0 {
		t.Error("got no request that was sent again, want some: the faults do not strike")
	}
}
