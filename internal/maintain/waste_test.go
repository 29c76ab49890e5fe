package maintain

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
)

// TestRetention tests the policy with a table: the existing days, with the kept ones in brackets.
func TestRetention(t *testing.T) {
	for _, c := range []struct {
		name string
		keep Retention
		days string // of the deals' own table
	}{
		{"the newest alone", Retention{Days: 1}, "2026-01-30 2026-01-31 2026-02-01 [2026-02-02]"},
		{"days count, whether they have a snapshot or not", Retention{Days: 5}, "2026-01-25 2026-01-28 [2026-01-29] [2026-02-02]"},
		{"month ends", Retention{Days: 1, MonthEnds: true}, "2025-12-30 [2025-12-31] 2026-01-01 [2026-01-31] 2026-02-01 [2026-02-02]"},
		{"the last day of a month that exists", Retention{Days: 1, MonthEnds: true}, "2025-11-03 [2025-11-17] 2026-01-05 [2026-01-09] [2026-02-02]"},
		{"a month of one day", Retention{Days: 2, MonthEnds: true}, "[2026-01-14] 2026-02-01 [2026-02-04] [2026-02-05]"},
		{"over the end of a year", Retention{Days: 35, MonthEnds: false}, "2025-12-13 2025-12-14 [2025-12-15] [2026-01-18]"},
		{"a leap day", Retention{Days: 1, MonthEnds: true}, "2028-02-28 [2028-02-29] [2028-03-01]"},
		{"one snapshot", Retention{Days: 1}, "[2020-01-01]"},
		{"more days than there are", Retention{Days: 10_000}, "[2020-01-01] [2026-02-02]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			var days []string
			for word := range strings.FieldsSeq(c.days) {
				day := strings.Trim(word, "[]")
				days = append(days, day)
				if day == word {
					want = append(want, day)
				}
			}
			gone, err := expired(snapshotsOf(t, map[string][]string{"IG": days}), c.keep, later)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, day := range gone {
				got = append(got, day.Day)
				if len(day.Files) != 2 {
					t.Errorf("%s: %d files, want those of two tables", day.Day, len(day.Files))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("expired %v, want %v", got, want)
			}
		})
	}
}

// TestRetentionByFeed checks that days count from the newest day of all feeds, and that each feed's newest day is kept.
func TestRetentionByFeed(t *testing.T) {
	log := snapshotsOf(t, map[string][]string{
		"IG": {"2026-01-01", "2026-01-31", "2026-02-20"},
		"HY": {"2025-11-29", "2025-12-05", "2026-01-02"}, // no longer part of the account
	})
	for monthEnds, want := range map[bool][]string{
		true:  {"bond/ig/priced 2026-01-01"},
		false: {"bond/ig/priced 2026-01-01", "bond/hy/priced 2025-11-29", "bond/hy/priced 2025-12-05"},
	} {
		gone, err := expired(log, Retention{Days: 35, MonthEnds: monthEnds}, later)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, day := range gone {
			got = append(got, day.Feed.String()+" "+day.Day)
		}
		if !slices.Equal(got, want) {
			t.Errorf("month ends kept: %t: expired %v, want %v", monthEnds, got, want)
		}
	}
	none, err := expired(new(load.Log), Retention{Days: 1}, later)
	if err != nil || len(none) != 0 {
		t.Errorf("of an empty lake: got %v, %v", none, err)
	}
}

// later is an instant after all days of these tests.
var later = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// TestRetentionOfTheFuture checks that days count from today where a snapshot of a day to come exists: counted back from
// 2062, all days of the present would be dropped.
func TestRetentionOfTheFuture(t *testing.T) {
	log := snapshotsOf(t, map[string][]string{"IG": {"2026-01-02", "2026-01-03", "2026-02-06", "2062-01-01"}})
	for _, c := range []struct {
		now  time.Time
		want []string
	}{
		{time.Date(2026, 2, 6, 22, 0, 0, 0, time.UTC), []string{"2026-01-02"}},
		{time.Date(2062, 2, 6, 22, 0, 0, 0, time.UTC), []string{"2026-01-02", "2026-01-03", "2026-02-06"}},
	} {
		gone, err := expired(log, Retention{Days: 35}, c.now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, day := range gone {
			got = append(got, day.Day)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("on %s: expired %v, want %v", lake.DateOf(c.now), got, c.want)
		}
	}
}

// snapshotsOf returns the log of a lake with snapshots of bond/*/priced, two tables per day.
func snapshotsOf(t *testing.T, days map[string][]string) *load.Log {
	t.Helper()
	s := new(memstore.Mem)
	commit := lake.Commit{FormatVersion: lake.FormatVersion, Number: 1, RunID: "run", KnownAt: lake.At(loadtest.Start)}
	for market, dates := range days {
		for _, day := range dates {
			for _, table := range []string{"bond_priced_deals", "bond_priced_banks"} {
				commit.Add = append(commit.Add, lake.File{
					Path:  fmt.Sprintf("snapshots/%s/mkt=%s/day=%s/run-0.parquet", table, market, day),
					Table: lake.SnapshotTable(table), Partition: map[string]string{"market": market, "snapshot_date": day},
				})
			}
		}
	}
	data, err := commit.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), lake.CommitKey(1), strings.NewReader(string(data)), store.CreateOnly); err != nil {
		t.Fatal(err)
	}
	return loadtest.Open(t, s).Log()
}

// TestWasteNeedsTheWholeLog checks that nothing is found in a lake whose log has a hole that only a listing shows.
func TestWasteNeedsTheWholeLog(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	for n := range 6 {
		loadtest.Night(t, l, n, loadtest.Added(int64(n+1), 1, 'a'))
	}
	if err := s.Delete(t.Context(), lake.CommitKey(2), lake.CommitKey(3), lake.LatestKey); err != nil {
		t.Fatal(err)
	}
	cut := loadtest.Open(t, s)
	if n := cut.Log().Number; n != 1 {
		t.Fatalf("the log ends with %d, want 1: nothing else shows the hole", n)
	}
	if waste, err := findRemovable(t.Context(), cut, time.Now().AddDate(1, 0, 0)); err == nil || !strings.Contains(err.Error(), "nothing was removed") {
		t.Errorf("got %+v, %v; want it refused", waste, err)
	}
}

// TestOldAttempts checks that the records of attempts are deleted after 400 days by the store's clock, whatever day is in
// their keys.
func TestOldAttempts(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	object := func(day string, age time.Duration) store.Object {
		return store.Object{Key: lake.AttemptsPrefix + day + "/a.run.end.json", Modified: now.Add(-age)}
	}
	const days = 24 * time.Hour
	old := object("2062-01-01", 400*days+time.Second)
	got := oldAttempts([]store.Object{object("1970-01-01", 0), object("2025-10-16", 400*days), old}, now)
	if len(got) != 1 || got[0] != old {
		t.Errorf("got %v, want %v", got, old)
	}
}
