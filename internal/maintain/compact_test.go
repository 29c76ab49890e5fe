package maintain_test

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/catalog"
	"dealflow/internal/maintain"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/oracle"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// TestCompact merges the files of nights and syncs: no answer changes, and a second compaction finds nothing to do.
func TestCompact(t *testing.T) {
	t.Parallel()
	for name, fill := range testkit.SampleOf(map[string]func(testing.TB) *world.World{
		"removals, quarantine, two a day": world.EventfulNights, "syncs between nights": world.SyncedNights, "kinds in the other order": otherOrder,
	}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fill(t)
			before, files := w.Answers(t), w.Log(t).AllFiles()
			w.Later(time.Hour)
			result := w.MustCompact(t)
			log := w.Log(t)
			if result.Commit != log.Number || result.Outcome != lake.OutcomeDone || len(log.AllFiles()) != len(files)+result.FilesAdded-result.FilesRemoved || result.FilesAdded >= result.FilesRemoved {
				t.Errorf("got %+v; the lake has %d files at commit %d, before it had %d", result, len(log.AllFiles()), log.Number, len(files))
			}
			tables := map[string]int{}
			for _, f := range log.AllFiles() {
				if !strings.HasPrefix(f.Path, "history/") {
					continue
				}
				if tables[f.Table]++; tables[f.Table] > 2 {
					t.Errorf("%s was not merged with others", f.Path)
				}
			}
			wantPublished(t, w.Store, result.Commit)
			world.WantAnswers(t, w.Answers(t), before)
			world.WantSound(t, w.Store)
			again := w.MustCompact(t)
			if again.Outcome != lake.OutcomeUnchanged || again.Commit != 0 || w.Log(t).Number != result.Commit {
				t.Errorf("the second time: got %+v, want nothing", again)
			}
		})
	}
}

// wantPublished checks which commit the catalog shows.
func wantPublished(t *testing.T, s store.Store, commit int64) {
	t.Helper()
	l, err := load.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if published, err := catalog.ReadPublished(t.Context(), l, t.TempDir()); err != nil || published.Flaw != nil || published.Shows != l.Log().Newest() || l.Log().Number != commit {
		t.Errorf("the catalog shows %+v, %v; want commit %d", published, err, commit)
	}
}

// otherOrder has files in which versions of expected deals are before those of priced ones, and nights with deals of
// only one kind.
func otherOrder(t testing.TB) *world.World {
	t.Helper()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 9, `"message":"A"`)
	b.WriteAll(world.Expected, 1, 9, `"message":"A"`)
	w.Night(t, 0, world.Feeds(world.Expected, world.Priced), world.Quiet)
	b.Write(world.Priced, 3, `"message":"B"`)
	b.Write(world.Expected, 2, `"message":"B"`)
	w.Night(t, 1, world.Feeds(world.Priced, world.Expected), world.Quiet)
	b.Write(world.Expected, 2, `"message":"C"`)
	w.Night(t, 2, world.Feeds(world.Expected, world.Priced), world.Quiet)
	b.Write(world.Priced, 10, `"message":"C"`)
	b.Strike(world.Priced, 9)
	w.Night(t, 3, world.Feeds(world.Expected, world.Priced))
	return w
}

// TestCompactSameBytes merges the same files twice: the same rows give the same bytes.
func TestCompactSameBytes(t *testing.T) {
	t.Parallel()
	w := world.SyncedNights(t)
	var sums [][]string
	for range 2 {
		cfg := w.Upkeep(t)
		cfg.Store, cfg.NoCatalog = world.CopyStore(t, w.Store, new(memstore.Mem)), true
		if _, err := maintain.Compact(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		l, err := load.Open(t.Context(), cfg.Store)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range l.Log().AllFiles() {
			names = append(names, f.Table+" "+f.SHA256)
		}
		slices.Sort(names)
		sums = append(sums, names)
	}
	if !slices.Equal(sums[0], sums[1]) {
		t.Error("the merged files differ from time to time")
	}
}

// TestCompactBehindOthers lets runs commit while files are being merged: the merge is still valid after them.
func TestCompactBehindOthers(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 5, `"message":"A"`)
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	b.Write(world.Priced, 1, `"message":"B"`)
	w.Night(t, 1, world.Feeds(world.Priced), world.Quiet)
	others := func(n int) func() {
		return func() {
			if n--; n < 0 {
				return
			}
			w.Later(time.Minute)
			b.Write(world.Priced, 1, fmt.Sprintf(`"message":"%d"`, n))
			w.MustRun(t, world.Feeds(world.Priced), world.Quiet)
		}
	}
	cfg := w.Upkeep(t)
	cfg.Store = &world.Overtaken{Store: w.Store, Before: others(2)}
	result, err := maintain.Compact(t.Context(), cfg)
	if err != nil || result.Commit != 5 {
		t.Fatalf("got %+v, %v; want commit 5", result, err)
	}
	log := w.Log(t)
	if last := log.Commits[4]; last.Command != "compact" || !last.KnownAt.After(log.Commits[3].KnownAt.Time) {
		t.Errorf("the last commit is %s of %s, behind %s", last.Command, last.KnownAt, log.Commits[3].KnownAt)
	}
	world.WantSound(t, w.Store)

	w.Later(time.Hour)
	cfg = w.Upkeep(t)
	cfg.Store = &world.Overtaken{Store: w.Store, Before: others(99)}
	result, err = maintain.Compact(t.Context(), cfg)
	if !errors.Is(err, load.ErrConflict) || result.Commit != 0 || w.Log(t).Number != 9 {
		t.Errorf("against others without end: got %+v, %v at commit %d; want ErrConflict after four tries", result, err, w.Log(t).Number)
	}
	world.WantSound(t, w.Store)
}

// TestCompactOnce lets another compaction replace the same files: only one of the two is part of the lake.
func TestCompactOnce(t *testing.T) {
	t.Parallel()
	for name, command := range maintenance {
		if name == "expire" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.EventfulNights(t)
			before := w.Answers(t)
			w.Later(time.Hour)
			cfg := w.Upkeep(t)
			cfg.Store = &world.Overtaken{Store: w.Store, Before: func() {
				other := w.Upkeep(t)
				// Safety does not need the lease; here it has expired.
				if err := w.Store.Delete(t.Context(), lake.LeaseKey); err != nil {
					t.Error(err)
				}
				if _, err := maintain.Compact(t.Context(), other); err != nil {
					t.Error(err)
				}
			}}
			result, err := command(t.Context(), cfg)
			if !errors.Is(err, load.ErrConflict) || result.Commit != 0 {
				t.Errorf("got %+v, %v; want ErrConflict", result, err)
			}
			world.WantAnswers(t, w.Answers(t), before)
			world.WantSound(t, w.Store)
		})
	}
}

// TestCompactRefusesDamage checks that a file that differs from what was committed is not merged: its damage could
// never be seen again. Other folders are still merged.
func TestCompactRefusesDamage(t *testing.T) {
	t.Parallel()
	sound := world.ShortLake(t)
	for name, damage := range map[string]string{
		"flipped bit":      "flip history.bond_priced_deals/IG@1 data",
		"other cell":       "rows history.bond_priced_deals/IG@1 set 1 message damaged",
		"rows in no order": "rows history.bond_priced_deals/IG@1 swap 1 2",
		"other count":      "commit commit@1 count history.bond_priced_deals/IG@1 3",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sound.WithStore(world.CopyStore(t, sound.Store, new(memstore.Mem)))
			d := &world.Damager{TB: t, Store: w.Store}
			d.Do(damage)
			if name == "other cell" { // as if the file alone had changed
				for n := range int64(3) {
					d.Put(lake.CommitKey(n+1), storetest.Bytes(t, sound.Store, lake.CommitKey(n+1)))
				}
				d.Put(lake.LatestKey, storetest.Bytes(t, sound.Store, lake.LatestKey))
			}
			result, err := maintain.Compact(t.Context(), w.Upkeep(t))
			if err == nil || !strings.Contains(err.Error(), "history/bond_priced_deals/mkt=IG") || !strings.Contains(err.Error(), "dealflow verify") || result.Commit != 4 {
				t.Errorf("got %+v, %v; want an error that names the file and what to do, and the rest committed", result, err)
			}
			if files := w.Log(t).Files("history.bond_priced_deals"); len(files) < 2 {
				t.Errorf("of the damaged table %d files are left", len(files))
			}
			if result.FilesAdded == 0 || result.FilesRemoved <= result.FilesAdded {
				t.Errorf("%d files in place of %d: the others were not merged", result.FilesAdded, result.FilesRemoved)
			}
		})
	}
}

// TestCompactWritesCheckpoints checks that a compaction's commits count towards the next checkpoint.
func TestCompactWritesCheckpoints(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Expected, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Expected), world.Quiet)
	for n := 0; w.Log(t).Number < 49; n++ {
		w.Later(5 * time.Minute)
		b.Write(world.Expected, 1, fmt.Sprintf(`"message":"%d"`, n))
		w.MustSync(t, world.Feeds(world.Expected), world.Quiet)
	}
	if result := w.MustCompact(t); result.Commit != 50 {
		t.Fatalf("commit %d, want 50", result.Commit)
	}
	for _, key := range []string{lake.CheckpointKey(50), lake.StateKey(50)} {
		storetest.Bytes(t, w.Store, key)
	}
	world.WantSound(t, w.Store)
	b.Write(world.Expected, 1, `"message":"later"`)
	w.Later(time.Hour)
	world.WantCounts(t, w.MustSync(t, world.Feeds(world.Expected)), world.Expected, [6]int64{0, 1, 0, 0, 2, 0})
}

// TestCompactWholeMarket compacts the lake of a market with all feeds after each run.
func TestCompactWholeMarket(t *testing.T) {
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 21, Deals: 15})
	tr := world.NewTruth(t, api.Feeds()...)
	var want map[string][]oracle.Row
	for n := range 3 {
		w.Evening(n * 2)
		if _, err := w.Run(t, world.Quiet); err != nil {
			t.Fatal(err)
		}
		want = tr.Rows(t, w)
		w.Later(time.Hour)
		w.MustCompact(t)
	}
	w.Ask(t, func(db *stdsql.DB) {
		tr.Compare(t, db, "compacted", func(table string) string { return table }, want)
		world.WantAgreement(t, db, api.Feeds()...)
		world.WantInstants(t, db)
	})
}
