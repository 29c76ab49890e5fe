package lake_test

import (
	"strings"
	"testing"

	"dealflow/schemas/lake"
)

// TestCheckPath compares paths with the forms of docs/reference/lake-format.md, for both format versions.
func TestCheckPath(t *testing.T) {
	snapshot := map[string]string{"market": "IG", "snapshot_date": "2026-11-20"}
	history := map[string]string{"market": "LL", "year": "2026"}
	quarantine := map[string]string{"feed": "bond/ig/priced"}
	shared := func(markets string) map[string]string {
		return map[string]string{"markets": markets, "year": "2026"}
	}
	for _, c := range []struct {
		format    int
		path      string
		table     string
		partition map[string]string
		fault     string // "" for a sound path
	}{
		{1, "snapshots/bond_priced_deals/market=IG/snapshot_date=2026-11-20/r-0.parquet", "snapshots.bond_priced_deals", snapshot, ""},
		{2, "snapshots/bond_priced_deals/mkt=IG/day=2026-11-20/r-0.parquet", "snapshots.bond_priced_deals", snapshot, ""},
		{1, "history/deal_versions/market=LL/year=2026/r-0.parquet", "history.deal_versions", history, ""},
		{2, "history/deal_versions/mkt=LL/year=2026/r-0.parquet", "history.deal_versions", history, ""},
		{1, "history/a_later_table/market=LL/year=2026/r-0.parquet", "history.a_later_table", history, ""},
		{1, "quarantine/bond/ig/priced/r.ndjson.zst", "quarantine", quarantine, ""},
		{2, "quarantine/bond/ig/priced/r-3.ndjson.zst", "quarantine", quarantine, ""},

		{2, "history/bond_priced_deals/mkt=all/year=2026/r-0.parquet", "history.bond_priced_deals", shared("EM,HY,IG"), ""},
		{2, "history/bond_priced_deals/mkt=all/year=2026/r-0.parquet", "history.bond_priced_deals", shared("HY"), ""},
		{2, "snapshots/bond_priced_deals/mkt=all/day=2026-11-20/r-0.parquet", "snapshots.bond_priced_deals", map[string]string{"markets": "EM,HY", "snapshot_date": "2026-11-20"}, ""},
		{2, "history/bond_priced_deals/mkt=HY/year=2026/r-0.parquet", "history.bond_priced_deals", shared("HY"), "mkt=all/year=2026"},
		{2, "history/bond_priced_deals/mkt=all/year=2026/r-0.parquet", "history.bond_priced_deals", map[string]string{"market": "all", "year": "2026"}, `market "all"`},
		{2, "history/bond_priced_deals/mkt=all/year=2026/r-0.parquet", "history.bond_priced_deals", shared("HY,EM"), "sorted"},
		{2, "history/bond_priced_deals/mkt=all/year=2026/r-0.parquet", "history.bond_priced_deals", shared("EM,EM"), "each once"},
		{2, "history/bond_priced_deals/mkt=all/year=2026/r-0.parquet", "history.bond_priced_deals", shared("EM,"), "sorted"},
		{2, "history/bond_priced_deals/mkt=all/year=2026/r-0.parquet", "history.bond_priced_deals", map[string]string{"market": "IG", "markets": "HY,IG", "year": "2026"}, "no market besides"},

		{2, "snapshots/bond_priced_deals/market=IG/snapshot_date=2026-11-20/r-0.parquet", "snapshots.bond_priced_deals", snapshot, "mkt=IG/day=2026-11-20"},
		{1, "snapshots/bond_priced_deals/mkt=IG/day=2026-11-20/r-0.parquet", "snapshots.bond_priced_deals", snapshot, "market=IG/snapshot_date=2026-11-20"},
		{1, "history/deal_versions/mkt=LL/year=2026/r-0.parquet", "history.deal_versions", history, "market=LL/year=2026"},
		{1, "snapshots/bond_priced_deals/market=HY/snapshot_date=2026-11-20/r-0.parquet", "snapshots.bond_priced_deals", snapshot, "market=IG"},
		{1, "snapshots/bond_priced_deals/market=IG/snapshot_date=2026-11-21/r-0.parquet", "snapshots.bond_priced_deals", snapshot, "snapshot_date=2026-11-20"},
		{1, "snapshots/bond_priced_banks/market=IG/snapshot_date=2026-11-20/r-0.parquet", "snapshots.bond_priced_deals", snapshot, "wrong folder"},
		{1, "history/bond_priced_deals/market=IG/snapshot_date=2026-11-20/r-0.parquet", "snapshots.bond_priced_deals", snapshot, "wrong folder"},
		{1, "history/deal_versions/market=LL/year=2025/r-0.parquet", "history.deal_versions", history, "year=2026"},
		{1, "history/deal_versions/market=LL/year=2026/more/r-0.parquet", "history.deal_versions", history, "wrong folder"},
		{1, "history/deal_versions/market=LL/year=2026", "history.deal_versions", history, "wrong folder"},
		{1, "quarantine/bond/hy/priced/r.ndjson.zst", "quarantine", quarantine, "quarantine/bond/ig/priced"},

		{1, "history/deal_versions/market=LL/year=2026/../r-0.parquet", "history.deal_versions", history, `part ".."`},
		{1, "../elsewhere/r-0.parquet", "history.deal_versions", history, `part ".."`},
		{1, "history/deal_versions/market=LL/year=2026/..", "history.deal_versions", history, `part ".."`},
		{1, "history/deal_versions/market=LL/year=2026/./r-0.parquet", "history.deal_versions", history, `part "."`},
		{1, "/history/deal_versions/market=LL/year=2026/r-0.parquet", "history.deal_versions", history, `part ""`},
		{1, "history/deal_versions/market=LL//year=2026/r-0.parquet", "history.deal_versions", history, `part ""`},
		{1, "history/deal_versions/market=LL/year=2026/", "history.deal_versions", history, `part ""`},
		{1, "", "history.deal_versions", history, `part ""`},
		{1, `history\deal_versions\market=LL\year=2026\r-0.parquet`, "history.deal_versions", history, "backslashes"},
		{1, "history/deal_versions/market=LL/year=2026/r\n.parquet", "history.deal_versions", history, "control"},
		{1, "history/deal_versions/market=LL/year=2026/r\xff.parquet", "history.deal_versions", history, "UTF-8"},

		{1, "catalog.duckdb", "catalog", snapshot, "table"},
		{1, "history/x/market=LL/year=2026/r-0.parquet", "history.", history, "table"},
		{1, "snapshots/t/market=/snapshot_date=2026-11-20/r", "snapshots.t", map[string]string{"snapshot_date": "2026-11-20"}, "market"},
		{1, "snapshots/t/market=IG/snapshot_date=2026-13-20/r", "snapshots.t", map[string]string{"market": "IG", "snapshot_date": "2026-13-20"}, "snapshot_date"},
		{1, "history/t/market=IG/year=x/r", "history.t", map[string]string{"market": "IG", "year": "x"}, "year"},
		{1, "quarantine/x/r", "quarantine", map[string]string{"feed": "x"}, "feed"},
		{1, "quarantine/bond/../priced/r", "quarantine", map[string]string{"feed": "bond/../priced"}, `part ".."`},
		{1, "snapshots//market=IG/snapshot_date=2026-11-20/r", "snapshots.", snapshot, `part ""`},
	} {
		f := lake.File{Path: c.path, Table: c.table, Partition: c.partition}
		switch err := f.CheckPath(c.format); {
		case c.fault == "" && err != nil:
			t.Errorf("format %d: %v, want a sound path", c.format, err)
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("format %d, %q: got %v, want %q", c.format, c.path, err, c.fault)
		}
		commit := lake.Commit{FormatVersion: c.format, Add: []lake.File{{Path: "quarantine/bond/ig/priced/a", Table: "quarantine", Partition: quarantine}, f}}
		if err := commit.CheckPaths(); (err == nil) != (c.fault == "") {
			t.Errorf("a commit with %q: %v", c.path, err)
		}
	}
	for path, sound := range map[string]bool{"history/t/market=IG/year=2026/r": true, "../x": false, "/x": false, `a\b`: false, "": false} {
		commit := lake.Commit{FormatVersion: 1, Remove: []string{"history/x", path}}
		if err := commit.CheckPaths(); (err == nil) != sound {
			t.Errorf("a commit that removes %q: %v", path, err)
		}
	}
}
