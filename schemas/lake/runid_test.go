package lake_test

import (
	"testing"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestRunIDOf reads the run's id from the names of all kinds of data files.
func TestRunIDOf(t *testing.T) {
	const id = "01934e7a-0000-7000-8000-000000000000"
	feed := api.Feeds()[0]
	for key, want := range map[string]string{
		"history/bond_priced_deals/mkt=IG/year=2026/" + id + "-0.parquet":                  id,
		"history/bond_priced_deals/mkt=all/year=2026/" + id + "-12.parquet":                id,
		"snapshots/bond_priced_deals/snapshot_date=2026-01-05/mkt=IG/" + id + "-1.parquet": id,
		lake.QuarantineKey(feed, id, 0):                                                    id,
		lake.QuarantineKey(feed, id, 3):                                                    id,
		"history/bond_priced_deals/x.parquet":                                              "",
	} {
		if got := lake.RunIDOf(key); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
}
