package maintain

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/parquet/file"

	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// TestCompactable chooses files by size, folder and schema version. Each case lists the sizes of a folder's
// files in MiB, and of each group that is merged the number of files.
func TestCompactable(t *testing.T) {
	small := func(n int) []int64 { return slices.Repeat([]int64{0}, n) }
	for _, c := range []struct {
		name  string
		sizes []int64
		least int
		want  []int
	}{
		{"two", small(2), 2, []int{2}},
		{"one", small(1), 2, nil},
		{"one, whatever is asked for", small(1), 0, nil},
		{"too few", small(32), 33, nil},
		{"enough", small(33), 33, []int{33}},
		{"large ones do not count", append(small(1), 64, 70), 2, nil},
		{"large ones stay", append(small(2), 64), 2, []int{2}},
		{"no more files than can be open", small(600), 2, []int{256, 256, 88}},
		{"one is left over", small(257), 2, []int{256}},
		{"no more bytes than it takes for a large one", []int64{40, 40, 40, 40, 10}, 2, []int{2, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			for _, group := range compactable(historyOf(t, c.sizes), 2026, c.least) {
				got = append(got, len(group))
				for _, f := range group {
					if f.Partition["year"] != "2026" || f.SchemaVersion != lake.SchemaVersion || f.Bytes >= compactBytes {
						t.Errorf("%s is to be merged", f.Path)
					}
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got groups of %v, want %v", got, c.want)
			}
		})
	}
}

// historyOf returns the log of a lake with history files of these sizes, and one file each of another year, market,
// table and schema version.
func historyOf(t *testing.T, sizes []int64) *load.Log {
	t.Helper()
	commit := lake.Commit{FormatVersion: lake.FormatVersion, Number: 1, RunID: "run", KnownAt: lake.At(loadtest.Start)}
	add := func(table, market, year string, n, schema int, size int64) {
		commit.Add = append(commit.Add, lake.File{
			Path:  fmt.Sprintf("history/%s/mkt=%s/year=%s/run-%04d.parquet", table, market, year, n),
			Table: lake.HistoryTable(table), Partition: map[string]string{"market": market, "year": year}, SchemaVersion: schema, Bytes: size << 20,
		})
	}
	for i, size := range sizes {
		add("bond_priced_deals", "IG", "2026", i, lake.SchemaVersion, size)
	}
	add("bond_priced_deals", "IG", "2026", len(sizes), lake.SchemaVersion-1, 0)
	add("bond_priced_deals", "IG", "2025", 0, lake.SchemaVersion, 0)
	add("bond_priced_deals", "HY", "2025", 0, lake.SchemaVersion, 0)
	add("bond_priced_banks", "IG", "2025", 0, lake.SchemaVersion, 0)
	data, err := commit.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s := new(memstore.Mem)
	if err := s.Put(t.Context(), lake.CommitKey(1), strings.NewReader(string(data)), store.CreateOnly); err != nil {
		t.Fatal(err)
	}
	return loadtest.Open(t, s).Log()
}

// TestMergeRowGroups checks that row groups have a bounded size for any number of rows, in the order of all files.
func TestMergeRowGroups(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	const nights, deals, size = 3, 8, 1 << 20
	for n := range nights {
		var versions []transform.DealVersion
		for id := range int64(deals) {
			v := loadtest.Added(id*nights+int64(n), 1, byte(n))
			v.Payload = bytes.Repeat([]byte{'a' + byte(n)}, size)
			versions = append(versions, v)
		}
		loadtest.Night(t, l, n, versions...)
	}
	mem := testkit.Allocator(t)
	run := loadtest.Begin(t, l, mem, loadtest.Start.Add(100*time.Hour))
	defer loadtest.Close(t, run)
	files := l.Log().Files(lake.HistoryTable(lake.DealVersions))
	if err := merge(t.Context(), l, run, files); err != nil {
		t.Fatal(err)
	}
	commit, err := run.Commit(t.Context(), lake.Commit{KnownAt: lake.At(loadtest.Start.Add(100 * time.Hour))})
	if err != nil || len(commit.Add) != 1 {
		t.Fatalf("got %+v, %v; want one file", commit, err)
	}
	merged := commit.Add[0]
	if merged.Rows != nights*deals || merged.MinDealID != 0 || merged.MaxDealID != nights*deals-1 || merged.Partition["year"] != "2026" {
		t.Errorf("got %+v", merged)
	}
	object, err := s.OpenAt(t.Context(), merged.Path)
	if err != nil {
		t.Fatal(err)
	}
	pf, err := file.NewParquetReader(object)
	if err != nil {
		t.Fatal(err)
	}
	defer pf.Close()
	var groups []int64
	for i := range pf.NumRowGroups() {
		groups = append(groups, pf.MetaData().RowGroup(i).NumRows())
	}
	if want := []int64{8, 8, 8}; !slices.Equal(groups, want) {
		t.Errorf("row groups of %v rows of a MiB, want %v", groups, want)
	}
}
