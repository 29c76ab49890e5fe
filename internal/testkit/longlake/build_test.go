package longlake_test

import (
	"context"
	"crypto/sha256"
	stdsql "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/marcboeker/go-duckdb/v2" // reads the files of a lake
	"go.uber.org/goleak"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/longlake"
	"dealflow/load"
	"dealflow/load/store/dirstore"
	"dealflow/load/verify"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// TestMain removes the lake that tests share.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(sharedLake.root); err != nil {
			code = 1
		}
		os.Exit(code)
	}))
}

// sharedLake is the eventful lake, built once for the tests that only read.
var sharedLake struct {
	once   sync.Once
	root   string
	report *longlake.Report
	err    error
}

func shared(t testing.TB) (root string, report *longlake.Report) {
	t.Helper()
	s := &sharedLake
	s.once.Do(func() {
		if s.root, s.err = os.MkdirTemp("", "longlake-*"); s.err == nil {
			s.report, s.err = longlake.Build(context.WithoutCancel(t.Context()), s.root, eventful())
		}
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.root, s.report
}

// eventful is a small lake in which deals often go and come back, and often depart from the document.
func eventful() longlake.Config {
	quirks := sim.AwkwardQuirks()
	quirks.Removal, quirks.Reappear = 40, 1
	quirks.Misfit, quirks.UnknownField, quirks.UnknownEnum = 0.05, 0.05, 0.05
	return longlake.Config{Seed: 1, Scale: 0.01, Years: 2, Quirks: &quirks}
}

func open(t testing.TB, root string) *load.Lake {
	t.Helper()
	store, err := dirstore.New(root)
	if err != nil {
		t.Fatal(err)
	}
	l, err := load.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// wantSound checks every byte and row of a lake.
func wantSound(t testing.TB, root string) {
	t.Helper()
	report, err := verify.Lake(t.Context(), open(t, root).Store(), verify.Config{ReadData: true, Memory: testkit.Allocator(t)})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("found in a sound lake: %s %s: %s", f.Check, f.Path, f.Detail)
	}
	if c := report.Checked; c.FilesRead != c.Files || c.Files == 0 || c.Versions == 0 {
		t.Errorf("looked at %d of %d files, %d versions", c.FilesRead, c.Files, c.Versions)
	}
}

// TestSound builds a lake and verifies it: history, snapshots and log agree in every row. Its runs say
// what history holds.
func TestSound(t *testing.T) {
	t.Parallel()
	config := eventful()
	root, report := shared(t)
	wantSound(t, root)

	nights := longlake.Nights(config)
	if report.Nights != len(nights) || report.Commits <= int64(len(nights)) {
		t.Errorf("%d nights and %d commits, want %d nights, and compactions", report.Nights, report.Commits, len(nights))
	}
	wantSnapshots(t, open(t, root).Log(), nights)
	wantCounts(t, root, report.Versions)
}

// wantCounts checks that the runs' counts agree with history, and that each kind of change occurs.
func wantCounts(t *testing.T, root string, versions int64) {
	t.Helper()
	counts := map[string]int64{}
	log := open(t, root).Log()
	for i := range log.Commits {
		for _, f := range log.Commits[i].Feeds {
			counts[lake.Added] += f.Added
			counts[lake.Changed] += f.Changed
			counts[lake.Removed] += f.Removed
			counts[lake.Reappeared] += f.Reappeared
		}
	}
	db := versionsOf(t, root)
	total := int64(0)
	for change, want := range counts {
		total += want
		if got := numbers(t, db, "SELECT count(*) FROM versions WHERE change = ?", change)[0]; got != want || want == 0 {
			t.Errorf("%d versions are %s, the runs say %d; want some", got, change, want)
		}
	}
	if total != versions {
		t.Errorf("the report says %d versions, the runs %d", versions, total)
	}
	for _, reason := range []string{lake.ReasonPriced, lake.ReasonGone} {
		if n := numbers(t, db, "SELECT count(*) FROM versions WHERE reason = ? AND kind = 'expected'", reason)[0]; n == 0 {
			t.Errorf("no expected deal is %s", reason)
		}
	}
	if n := numbers(t, db, "SELECT count(*) FROM versions WHERE reason = 'priced' AND kind = 'priced'")[0]; n != 0 {
		t.Errorf("%d priced deals are gone because they priced", n)
	}
}

// wantSnapshots checks that the lake has the snapshots of these nights, and of no others.
func wantSnapshots(t *testing.T, log *load.Log, nights []longlake.Night) {
	t.Helper()
	want, got := []string{}, []string{}
	for _, night := range nights {
		if night.Snapshot {
			want = append(want, night.Day)
		}
	}
	for _, f := range log.AllFiles() {
		if day, ok := f.Partition["snapshot_date"]; ok {
			got = append(got, day)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" || len(want) != 12 {
		t.Errorf("days with a snapshot (-want +got):\n%s", diff)
	}
}

// TestPastIsTheMarket compares the lake as of some nights with the market.
func TestPastIsTheMarket(t *testing.T) {
	t.Parallel()
	config := eventful()
	root, _ := shared(t)
	nights := longlake.Nights(config)
	clock := sim.NewManualClock(nights[0].Observed)
	market := longlake.NewMarket(config, clock.Now)
	db := versionsOf(t, root)
	const standing = `SELECT deal_id FROM versions
		WHERE market = ? AND kind = ? AND known_at <= CAST(? AS TIMESTAMPTZ)
		GROUP BY deal_id HAVING arg_max(change, version) <> 'removed' ORDER BY deal_id`
	for _, n := range []int{0, 1, 14, len(nights) - 20, len(nights) - 1} {
		clock.Set(nights[n].Observed)
		for _, feed := range api.Feeds() {
			var want []int64
			for _, deal := range market.Deals(feed) {
				want = append(want, deal.ID)
			}
			got := numbers(t, db, standing, string(feed.Market), string(feed.Kind), lake.At(nights[n].KnownAt).String())
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s as of %s (-market +lake):\n%s", feed, nights[n].Day, diff)
			}
		}
	}
}

// TestSameBytes builds a lake again: all objects are the same, byte for byte.
func TestSameBytes(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	once, _ := shared(t)
	again := filepath.Join(t.TempDir(), "lake")
	if _, err := longlake.Build(t.Context(), again, eventful()); err != nil {
		t.Fatal(err)
	}
	want := objects(t, once)
	if diff := cmp.Diff(want, objects(t, again)); diff != "" || len(want) == 0 {
		t.Errorf("%d objects differ (-once +again):\n%s", len(want), diff)
	}
}

// TestNights lists what the nights of fifteen years are.
func TestNights(t *testing.T) {
	t.Parallel()
	nights := longlake.Nights(longlake.Config{})
	if n := len(nights); n != 177+66 {
		t.Errorf("%d nights, want 177 monthly ones and 66 of the last quarter", n)
	}
	first, last := nights[0], nights[len(nights)-1]
	if first.Day != "2010-01-29" || last.Day != "2024-12-31" || !last.Snapshot || last.KnownAt.Format(time.RFC3339) != "2024-12-31T22:00:00Z" {
		t.Errorf("the nights go from %+v to %+v", first, last)
	}
	ids := map[string]bool{}
	for i, night := range nights {
		ids[night.RunID] = true
		if !night.Observed.Before(night.KnownAt) || i > 0 && !nights[i-1].KnownAt.Before(night.Observed) {
			t.Errorf("night %+v is out of order", night)
		}
	}
	if len(ids) != len(nights) {
		t.Errorf("%d run ids of %d nights", len(ids), len(nights))
	}
}

// objects gives the digests of all objects of a lake.
func objects(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for object, err := range open(t, root).Store().List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(root, object.Key))
		if err != nil {
			t.Fatal(err)
		}
		found[object.Key] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	return found
}

// versionsOf gives a database in which the view versions is the lake's deal_versions.
func versionsOf(t *testing.T, root string) *stdsql.DB {
	t.Helper()
	db, err := stdsql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	var paths []string
	for _, f := range open(t, root).Log().Files(lake.HistoryTable(lake.DealVersions)) {
		paths = append(paths, "'"+filepath.Join(root, f.Path)+"'")
	}
	db.SetMaxOpenConns(1) // a database in memory is that of its connection
	if _, err := db.ExecContext(t.Context(), "CREATE VIEW versions AS FROM read_parquet(["+strings.Join(paths, ", ")+"])"); err != nil {
		t.Fatal(err)
	}
	return db
}

func numbers(t *testing.T, db *stdsql.DB, query string, args ...any) []int64 {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
