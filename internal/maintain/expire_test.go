package maintain_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/maintain"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/storetest"
	"dealflow/load/store/tracestore"
	"dealflow/schemas/lake"
)

// daysOf lists the days of a table's live snapshots.
func daysOf(log *load.Log, table string) []string {
	var days []string
	for _, f := range log.Files(lake.SnapshotTable(table)) {
		days = append(days, f.Partition["snapshot_date"])
	}
	slices.Sort(days)
	return slices.Compact(days)
}

// datedWorld is a book whose lake dates its objects by the world's clock.
func datedWorld(t *testing.T) (*world.World, *world.Book, *world.DatedStore) {
	w, b := world.NewBook(t)
	s := world.NewDatedStore(w.Clock.Now)
	w.Store = s
	return w, b, s
}

// TestExpire follows a lake over two months. Days are dropped by policy, their files are deleted a week later, and
// history answers as before.
func TestExpire(t *testing.T) {
	t.Parallel()
	w, b, s := datedWorld(t)
	b.WriteAll(world.Expected, 1, 3, `"_embedded":{"tranches":[{"name":"a"}]}`)
	for day := 0; day <= 40; day += 5 { // 5 January to 14 February
		b.Write(world.Expected, 1, fmt.Sprintf(`"message":"%d"`, day))
		if day == 25 { // the end of January has no tranches: the table has no file of that day
			b.WriteAll(world.Expected, 1, 3, "")
		}
		w.Night(t, day, world.Feeds(world.Expected), world.Quiet)
		if day == 25 {
			b.WriteAll(world.Expected, 1, 3, `"_embedded":{"tranches":[{"name":"a"}]}`)
		}
	}
	all := []string{"2026-01-05", "2026-01-10", "2026-01-15", "2026-01-20", "2026-01-25", "2026-01-30", "2026-02-04", "2026-02-09", "2026-02-14"}
	if got := daysOf(w.Log(t), "bond_expected_deals"); !slices.Equal(got, all) {
		t.Fatalf("days before: %v", got)
	}
	keep := maintain.Retention{Days: 11, MonthEnds: true}
	left := []string{"2026-01-30", "2026-02-04", "2026-02-09", "2026-02-14"}
	before, objects := bytesByKey(t, s), w.Log(t).Number

	trace := &tracestore.Store{Store: s}
	shown, err := w.Expire(t, keep, false, func(c *maintain.Config) { c.Store = trace })
	if err != nil {
		t.Fatal(err)
	}
	if lines := trace.Lines(); len(lines) > 0 || w.Log(t).Number != objects {
		t.Errorf("without --apply it wrote: %q", lines)
	}
	if shown.Applied || len(shown.Expired) != 1 || !slices.Equal(shown.Expired[0].Days, all[:5]) || shown.Expired[0].Feed != world.Expected || shown.Expired[0].Files != 10 || shown.Expired[0].Bytes == 0 {
		t.Errorf("without --apply: got %+v, want five days of %s in 10 files", shown, world.Expected)
	}

	w.Later(time.Hour)
	done := w.MustExpire(t, keep, true)
	if !done.Applied || done.Commit != 10 || done.FilesRemoved != 10 || done.Garbage.Files != 0 || done.Waiting.Files != 10 {
		t.Errorf("got %+v; want commit 10, 10 files dropped that wait for their grace", done)
	}
	for _, table := range []string{"bond_expected_deals", "bond_expected_tranches"} {
		want := left
		if table == "bond_expected_tranches" {
			want = left[1:]
		}
		if got := daysOf(w.Log(t), table); !slices.Equal(got, want) {
			t.Errorf("%s: days %v, want %v", table, got, want)
		}
	}
	world.WantSound(t, s)
	if after := bytesByKey(t, s); !missing(before, after, nil) {
		t.Error("objects are gone before their grace has passed")
	}

	w.Later(load.Grace - time.Minute)
	if result := w.MustExpire(t, keep, true); result.Commit != 0 || result.Outcome != lake.OutcomeUnchanged || result.Waiting.Files != 10 {
		t.Errorf("a minute before: got %+v, want nothing", result)
	}
	w.Later(2 * time.Minute)
	result := w.MustExpire(t, keep, true)
	if result.Commit != 0 || result.Outcome != lake.OutcomeDone || result.Garbage.Files != 10 || result.Waiting.Files != 0 {
		t.Errorf("a minute after: got %+v, want 10 files gone", result)
	}
	if after := bytesByKey(t, s); !missing(before, after, func(key string) bool {
		return strings.HasPrefix(key, "snapshots/") && slices.ContainsFunc(all[:5], func(day string) bool { return strings.Contains(key, "day="+day) })
	}) {
		t.Error("other objects are gone than those of the expired days")
	}
	world.WantSound(t, s)
	if again := w.MustExpire(t, keep, true); again.Outcome != lake.OutcomeUnchanged || w.Log(t).Number != 10 {
		t.Errorf("once more: got %+v, want nothing", again)
	}
}

func bytesByKey(t *testing.T, s store.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, key := range world.Keys(t, s) {
		all[key] = string(storetest.Bytes(t, s, key))
	}
	return all
}

// missing says whether exactly the objects that may be deleted are absent; the hint changes.
func missing(before, after map[string]string, gone func(key string) bool) bool {
	for key, data := range before {
		now, there := after[key]
		if there == (gone != nil && gone(key)) || there && now != data && key != lake.LatestKey {
			return false
		}
	}
	return true
}

// TestExpireGarbage checks that files that no commit names are deleted once they are old, and nothing else.
func TestExpireGarbage(t *testing.T) {
	t.Parallel()
	w, b, s := datedWorld(t)
	b.WriteAll(world.Expected, 1, 3, "")
	put := func(keys ...string) {
		for _, key := range keys {
			if err := s.Put(t.Context(), key, strings.NewReader("stray"), store.Replace); err != nil {
				t.Fatal(err)
			}
		}
	}
	old := []string{
		"history/deal_versions/mkt=IG/year=2026/lost-0.parquet", "snapshots/bond_expected_deals/mkt=IG/day=2026-01-05/lost-0.parquet",
		"quarantine/bond/ig/expected/lost.ndjson.zst", "_dealflow/clock-lost", store.ProbePrefix + "lost",
		lake.CheckpointKey(1), lake.StateKey(1),
	}
	never := []string{
		"notes.txt", "snapshots.txt", "historyfile", "other/history/lost.parquet", "_dealflow/commits/readme", "_dealflow/checkpoints/readme",
		lake.CheckpointKey(3), lake.StateKey(3), lake.CheckpointKey(4), lake.CheckpointKey(99),
	}
	w.Evening(0)
	put(old...)
	put(never...)
	for day := range 4 {
		w.Night(t, day, world.Feeds(world.Expected), world.Quiet)
	}
	w.Evening(8) // later than the old ones by eight days
	put("history/deal_versions/mkt=IG/year=2026/young-0.parquet", lake.CheckpointKey(2), lake.StateKey(2))
	before := bytesByKey(t, s)
	result := w.MustExpire(t, maintain.Retention{Days: 35}, true)
	if result.Garbage.Files != 3 || result.Checkpoints.Files != 2 || result.Waiting.Files != 1 || result.Commit != 0 {
		t.Errorf("got %+v; want 3 files and a checkpoint with its state gone, and one file waiting", result)
	}
	if !missing(before, bytesByKey(t, s), func(key string) bool { return slices.Contains(old, key) }) {
		t.Error("other objects are gone than the old strays")
	}
	for key := range bytesByKey(t, s) {
		if strings.HasPrefix(key, "_dealflow/clock-") {
			t.Errorf("%s was left behind", key)
		}
	}
}

// TestExpireReadsTheStoresClock checks that only the store's clock counts: the machine's may be wrong.
func TestExpireReadsTheStoresClock(t *testing.T) {
	t.Parallel()
	w, b, s := datedWorld(t)
	b.WriteAll(world.Expected, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Expected), world.Quiet)
	if err := s.Put(t.Context(), "history/stray", strings.NewReader("stray"), store.Replace); err != nil {
		t.Fatal(err)
	}
	ahead := func(c *maintain.Config) {
		c.Clock = func() time.Time { return w.Clock.Now().Add(100 * 24 * time.Hour) }
	}
	result, err := w.Expire(t, maintain.Retention{Days: 35}, true, ahead)
	if err != nil || result.Garbage.Files != 0 || result.Waiting.Files != 1 {
		t.Errorf("got %+v, %v; want a file waiting", result, err)
	}
	storetest.Bytes(t, s, "history/stray")
}

// TestExpireBesideARun lets a run commit between the steps: its files are not garbage, however old the store says that
// they are.
func TestExpireBesideARun(t *testing.T) {
	t.Parallel()
	w, b, s := datedWorld(t)
	b.WriteAll(world.Expected, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Expected), world.Quiet)
	w.Evening(10)
	b.Write(world.Expected, 1, `"message":"B"`)
	l, err := load.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	result := w.MustRun(t, world.Feeds(world.Expected), world.Quiet)
	waste, err := maintain.FindRemovable(t.Context(), l, w.Clock.Now().Add(load.Grace+time.Hour))
	if err != nil || len(waste.Data) != 0 {
		t.Errorf("got %+v, %v; the files of commit %d are no garbage", waste, err, result.Commit)
	}
}

// TestExpireLeftovers removes unfinished files of a folder once they are old.
func TestExpireLeftovers(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Expected, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Expected), world.Quiet)
	for name, age := range map[string]time.Duration{"young": load.Grace - time.Hour, "old": load.Grace + time.Hour} {
		path := filepath.Join(w.Root, "history", store.TempPrefix+name)
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		modified := time.Now().Add(-age)
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	w.Later(time.Hour)
	if result := w.MustExpire(t, maintain.Retention{Days: 35}, true); result.Unfinished != 1 || result.Outcome != lake.OutcomeDone {
		t.Errorf("got %+v, want one unfinished file gone", result)
	}
	left, err := filepath.Glob(filepath.Join(w.Root, "history", store.TempPrefix+"*"))
	if err != nil || len(left) != 1 || !strings.HasSuffix(left[0], "young") {
		t.Errorf("left: %v, %v; want the young one", left, err)
	}
}

// TestExpireBehindOthers drops days while other runs commit.
func TestExpireBehindOthers(t *testing.T) {
	t.Parallel()
	w, b, s := datedWorld(t)
	b.WriteAll(world.Expected, 1, 3, "")
	for day := range 3 {
		w.Night(t, day, world.Feeds(world.Expected), world.Quiet)
	}
	w.Evening(3)
	ran := false
	result, err := w.Expire(t, maintain.Retention{Days: 2}, true, func(c *maintain.Config) {
		c.Store = &world.Overtaken{Store: s, Before: func() {
			if !ran {
				ran = true
				w.MustRun(t, world.Feeds(world.Expected), world.Quiet)
			}
		}}
	})
	if err != nil || result.Commit != 5 || result.FilesRemoved != 1 {
		t.Errorf("got %+v, %v; want commit 5 without one file", result, err)
	}
	if got := daysOf(w.Log(t), "bond_expected_deals"); !slices.Equal(got, []string{"2026-01-06", "2026-01-07", "2026-01-08"}) {
		t.Errorf("days %v", got)
	}
	world.WantSound(t, s)
	if _, err := w.Expire(t, maintain.Retention{}, true); err == nil || errors.Is(err, load.ErrConflict) {
		t.Errorf("to keep no days: got %v, want an error", err)
	}
}
