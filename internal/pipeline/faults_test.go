package pipeline_test

import (
	"testing"

	"dealflow/serve"
	"dealflow/serve/sim"
)

// TestTruthUnderFaults is the truth over an API that breaks off bodies, fails, ends tokens early and
// forgets cursors: not a row is lost or invented.
func TestTruthUnderFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.Config{Seed: 3, Deals: 40})
	faults := serve.AllFaults(3, 0.05)
	faults.TooMany = 0.002 // each costs a real second
	server, err := serve.New(serve.Config{Source: w.market, Faults: faults})
	if err != nil {
		t.Fatal(err)
	}
	w.serve(t, server.Handler())
	w.pages, w.attempts = 10, 8
	checkNights(t, w, 3)
	var retries int64
	for _, run := range w.log(t).Runs {
		for i := range run.Feeds {
			retries += run.Feeds[i].Retries
		}
	}
	if retries == 0 {
		t.Error("got no request that was sent again, want some: the faults do not strike")
	}
}
