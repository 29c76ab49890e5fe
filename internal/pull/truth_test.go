package pull_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
	"dealflow/sql/engine"
	"dealflow/sql/quote"
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

// TestTruthBelowNamedFolders compares a lake with the market's own state, below folders whose names DuckDB or its driver reads as
// something else. Another program is told of it.
func TestTruthBelowNamedFolders(t *testing.T) {
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 3, Deals: 12})
	w.Root = filepath.Join(t.TempDir(), "day=1999-01-01", "mkt=IG", "year=1999", "deal_id=5", "100%", "a#b", "lake")
	w.Store = world.Folder(t, w.Root)
	world.CheckNights(t, w, 2)
	world.WantSound(t, w.Store)

	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.Root, link); err != nil {
		t.Fatal(err)
	}
	for root, want := range map[string]string{w.Root: "a folder with = in its name", link: ""} {
		db, err := engine.Open(filepath.Join(link, lake.CatalogKey), true, "SET VARIABLE lake = "+quote.Text(root))
		if err != nil {
			t.Fatal(err)
		}
		var deals int
		err = db.QueryRowContext(t.Context(), "SELECT count(*) FROM snapshots.bond_priced_deals WHERE snapshot_date > DATE '2000-01-01' AND market = 'EM'").Scan(&deals)
		if want == "" && (err != nil || deals == 0) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("below %s: got %d deals, %v; want the error %q", root, deals, err, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
