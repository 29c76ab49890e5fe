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

// TestCompactable chooses files by size, table, year and schema version. Each case lists the sizes in MiB of the files of a
// table and year, those of merged files first, and of each group that is merged the number of files.
func TestCompactable(t *testing.T) {
	small := func(n int) []int64 { return slices.Repeat([]int64{0}, n) }
	for _, c := range []struct {
		name   string
		shared []int64
		sizes  []int64 // of markets in turn
		most   int
		want   []int
	}{
		{"two", nil, small(2), 0, []int{2}},
		{"one", nil, small(1), 0, nil},
		{"too few", nil, small(32), 32, nil},
		{"enough", nil, small(33), 32, []int{33}},
		{"merged files do not count", small(2), small(32), 32, nil},
		{"merged files are merged again", small(2), small(33), 32, []int{35}},
		{"merged files alone", small(3), nil, 0, nil},
		{"one besides merged files", small(2), small(1), 0, []int{3}},
		{"large merged files stay", []int64{40, 40}, small(2), 0, []int{2}},
		{"large ones do not count", nil, append(small(1), 64, 70), 0, nil},
		{"large ones stay", nil, append(small(2), 64), 0, []int{2}},
		{"no more files than can be open", nil, small(600), 0, []int{256, 256, 88}},
		{"one is left over", nil, small(257), 0, []int{256}},
		{"no more bytes than it takes for a large one", nil, []int64{40, 40, 40, 40}, 0, []int{2, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			for _, group := range compactable(historyOf(t, c.shared, c.sizes), 2026, c.most) {
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

// TestCompactablePastYears merges the files of past years by themselves, however few: a run those of the oldest year, `compact`
// all. In each case the files of the years 2024 and 2025 are listed.
func TestCompactablePastYears(t *testing.T) {
	for _, c := range []struct {
		older, newer string // markets
		most         int
		want         string // the years of the groups
	}{
		{"", "IG HY EM", 32, "2025"}, {"", "IG HY EM", 0, "2025"}, {"", "IG HY IG", 32, "2025"}, {"", "all IG IG", 32, "2025"},
		{"", "IG", 32, ""}, {"", "all IG", 32, ""}, {"", "all all", 0, ""},
		{"IG HY", "IG HY", 32, "2024"}, {"IG HY", "IG HY", 0, "2024 2025"}, {"all all", "IG HY", 32, "2025"}, {"IG", "IG HY", 32, "2025"},
	} {
		var files []lake.File
		for year, markets := range map[string]string{"2024": c.older, "2025": c.newer} {
			for i, market := range strings.Fields(markets) {
				files = append(files, historyFile("bond_priced_deals", market, year, i, lake.SchemaVersion, 0))
			}
		}
		var got []string
		for _, group := range compactable(logOf(t, files), 2026, c.most) {
			got = append(got, group[0].Year())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q, %q, %d: the years %q are merged, want %q", c.older, c.newer, c.most, got, c.want)
		}
	}
}

// historyOf returns the log of a lake with history files of these sizes, and one file each of another year, table and
// schema version.
func historyOf(t *testing.T, shared, sizes []int64) *load.Log {
	t.Helper()
	var files []lake.File
	for i, size := range shared {
		files = append(files, historyFile("bond_priced_deals", "all", "2026", i, lake.SchemaVersion, size))
	}
	for i, size := range sizes {
		files = append(files, historyFile("bond_priced_deals", []string{"IG", "HY", "EM"}[i%3], "2026", i, lake.SchemaVersion, size))
	}
	return logOf(t, append(files, historyFile("bond_priced_deals", "IG", "2026", len(sizes), lake.SchemaVersion-1, 0),
		historyFile("bond_priced_deals", "IG", "2025", 0, lake.SchemaVersion, 0), historyFile("bond_priced_banks", "IG", "2025", 0, lake.SchemaVersion, 0),
		historyFile("loan_priced_deals", "LL", "2025", 0, lake.SchemaVersion, 0)))
}

// historyFile returns the entry of a history file of a market, or of a shared one ("all"). size is in MiB.
func historyFile(table, market, year string, n, schema int, size int64) lake.File {
	partition := map[string]string{"market": market, "year": year}
	if market == "all" {
		partition = map[string]string{"markets": "EM,HY,IG", "year": year}
	}
	return lake.File{
		Path:  fmt.Sprintf("history/%s/mkt=%s/year=%s/run-%04d.parquet", table, market, year, n),
		Table: lake.HistoryTable(table), Partition: partition, SchemaVersion: schema, Bytes: size << 20,
	}
}

func logOf(t *testing.T, files []lake.File) *load.Log {
	t.Helper()
	commit := lake.Commit{FormatVersion: lake.FormatVersion, Number: 1, RunID: "run", KnownAt: lake.At(loadtest.Start), Add: files}
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
	if err := merge(t.Context(), l, run, merging{files: files, schema: lake.SchemaVersion}); err != nil {
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
