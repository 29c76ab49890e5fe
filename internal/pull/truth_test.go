package pull_test

import (
	"testing"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/serve/sim"
)

// TestTruth compares the lake with the market's own state: over HTTP into the lake and out of the catalog, all
// seventeen tables, every column, row for row, for each night, right after it and later as of its instant; and each
// night's snapshot.
//
// TEST_SEEDS is the number of markets; the default is 4. The last of several is a larger one.
func TestTruth(t *testing.T) {
	const nights = 8
	seeds := testkit.Count(t, "TEST_SEEDS", 4)
	testkit.Seeds(t, seeds, func(t *testing.T, seed uint64) {
		deals := 20 + int(seed)*5
		if seed > 0 && seed == uint64(seeds-1) {
			deals = 200
		}
		w := world.New(t, sim.Config{Seed: seed, Deals: deals})
		if seed == 0 {
			w.Stretch = 8 // some row groups are taken over, and others not
		}
		world.CheckNights(t, w, nights)
	})
}
