package sim_test

import (
	"testing"
	"time"

	"dealflow/serve/sim"
	"dealflow/serve/sourcetest"
)

// TestSource runs the tests that every serve.Source must pass.
func TestSource(t *testing.T) {
	sourcetest.Run(t, sourcetest.Config{New: func(t testing.TB) sourcetest.World {
		quirks := sim.DefaultQuirks()
		quirks.ListOmission = 0 // a list may leave an omitted deal out
		clock := sim.NewManualClock(epoch)
		market := sim.New(sim.Config{Seed: 21, Deals: 40, PerDay: 8, Epoch: epoch, Clock: clock.Now, Quirks: &quirks})
		return sourcetest.World{Source: market, Advance: func(testing.TB) { clock.Advance(24 * time.Hour) }}
	}})
}
