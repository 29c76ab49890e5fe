package maintain_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// The markets of these lakes have deals of the same ids.
var (
	highYield = api.Feed{Service: api.Bond, Market: api.HY, Kind: api.Priced}
	emerging  = api.Feed{Service: api.Bond, Market: api.EM, Kind: api.Priced}
	severally = world.Feeds(world.Priced, highYield, emerging, world.Expected, world.LoanPriced)
)

const (
	firstDay  = "2026-01-05"
	secondDay = "2026-01-06"
	lastDay   = "2026-01-14" // eight days after the second, nine after the first
)

// severalMarkets has three nights of five feeds. Of bond/*/priced, deal 1 of IG changes twice, deal 2 of HY is removed and
// reappears, and deal 3 of EM changes once.
func severalMarkets(t *testing.T) (*world.World, *world.Book) {
	t.Helper()
	w, b := world.NewBook(t)
	w.Store = new(memstore.Mem)
	for _, feed := range []api.Feed{world.Priced, highYield, emerging} {
		b.WriteAll(feed, 1, 4, fmt.Sprintf(`"message":"%s","banks":[{"name":"one"},{"name":"%s"}]`, feed.Market, feed.Market))
	}
	b.WriteAll(world.Expected, 1, 3, `"tranches":[{"name":"a"},{"name":"b"}]`)
	b.WriteAll(world.LoanPriced, 1, 2, `"tranches":[{"trancheId":1,"banks":[{"name":"x"}]}]`)
	w.Night(t, 0, severally, world.Quiet)
	b.Write(world.Priced, 1, `"message":"IG again"`)
	b.Strike(highYield, 2)
	b.Write(emerging, 3, `"message":"EM again"`)
	w.Night(t, 1, severally, world.Quiet)
	b.Write(world.Priced, 1, `"message":"IG at last"`)
	b.Write(highYield, 2, `"message":"HY"`)
	w.Night(t, 9, severally, world.Quiet)
	return w, b
}

// keysIn lists the rows of a file as "market deal version", and checks that each row group is of one market.
func keysIn(t *testing.T, w *world.World, f lake.File) (keys []string) {
	t.Helper()
	group, marketOf := -1, map[int]string{}
	err := parquet.Scan(t.Context(), w.Store, testkit.Allocator(t), f.Path, []string{"market", "deal_id", "version"}, parquet.AllGroups(&group), func(r arrow.Record) error {
		for row := range int(r.NumRows()) {
			market := strings.Clone(r.Column(0).(*array.String).Value(row))
			if marketOf[group] == "" {
				marketOf[group] = market
			}
			if marketOf[group] != market {
				t.Errorf("%s: row group %d has rows of %s and %s", f.Path, group, marketOf[group], market)
			}
			keys = append(keys, fmt.Sprintf("%s %d %d", market, r.Column(1).(*array.Int64).Value(row), r.Column(2).(*array.Int32).Value(row)))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return keys
}

// filesOn lists the markets of each file of a table's snapshots of a day.
func filesOn(w *world.World, t *testing.T, table, day string) (markets []string) {
	t.Helper()
	for _, f := range w.Log(t).Files(lake.SnapshotTable(table)) {
		if f.Partition["snapshot_date"] == day {
			markets = append(markets, f.Partition["market"]+f.Partition["markets"])
		}
	}
	slices.Sort(markets)
	return markets
}

func wantList(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// TestCompactAcrossMarkets merges the files of several markets: history into one file of the latest versions and one of all
// others, snapshots of days older than a week into one file a day. No answer changes, and a second compaction finds nothing
// to do.
func TestCompactAcrossMarkets(t *testing.T) {
	t.Parallel()
	w, _ := severalMarkets(t)
	before := w.Answers(t)
	if needs := w.Log(t).Needs(); slices.Contains(needs.Requires, lake.NeedMultiPartition) {
		t.Errorf("a lake without shared files requires %q", needs.Requires)
	}
	result := w.MustCompact(t)
	world.WantAnswers(t, w.Answers(t), before)
	world.WantSound(t, w.Store)

	log := w.Log(t)
	if needs := log.Needs(); !slices.Equal(needs.Requires, []string{"multi-partition"}) {
		t.Errorf("the lake requires %q, want multi-partition", needs.Requires)
	}
	for _, day := range []string{firstDay, secondDay} {
		wantList(t, "priced bonds of "+day, filesOn(w, t, "bond_priced_deals", day), "EM,HY,IG")
		wantList(t, "expected bonds of "+day, filesOn(w, t, "bond_expected_deals", day), "IG")
	}
	wantList(t, "priced bonds of the last day", filesOn(w, t, "bond_priced_deals", lastDay), "EM", "HY", "IG")

	var history [][]string
	for _, f := range log.Files("history.bond_priced_deals") {
		if !strings.HasPrefix(f.Path, "history/bond_priced_deals/mkt=all/year=2026/") || f.Partition["markets"] != "EM,HY,IG" || f.Partition["year"] != "2026" {
			t.Errorf("got %+v", f)
		}
		history = append(history, keysIn(t, w, f))
	}
	if len(history) != 2 {
		t.Fatalf("history has %d files, want 2", len(history))
	}
	wantList(t, "latest versions", history[0],
		"EM 1 1", "EM 2 1", "EM 3 2", "EM 4 1", "HY 1 1", "HY 2 3", "HY 3 1", "HY 4 1", "IG 1 3", "IG 2 1", "IG 3 1", "IG 4 1")
	wantList(t, "other versions", history[1], "EM 3 1", "HY 2 1", "IG 1 1", "IG 1 2")
	for _, f := range log.AllFiles() {
		if strings.HasPrefix(f.Path, "history/") && !strings.Contains(f.Path, "/mkt=all/") && len(log.Files(f.Table)) > 1 {
			t.Errorf("%s was not merged", f.Path)
		}
	}
	if again := w.MustCompact(t); again.Outcome != lake.OutcomeUnchanged || w.Log(t).Number != result.Commit {
		t.Errorf("the second time: got %+v, want nothing", again)
	}
}

// TestSharedDay takes back, pulls again and expires single markets of a day whose file several share: the others keep
// their rows.
func TestSharedDay(t *testing.T) {
	t.Parallel()
	w, b := severalMarkets(t)
	w.MustCompact(t)
	drop := func(day string, feeds ...api.Feed) {
		t.Helper()
		if _, err := maintain.Expire(t.Context(), maintain.ExpireConfig{Config: w.Upkeep(t, quietly), DropDay: day, DropFeeds: feeds, Apply: true}); err != nil {
			t.Fatal(err)
		}
		world.WantSound(t, w.Store)
	}
	drop(firstDay, highYield)
	wantList(t, "without HY", filesOn(w, t, "bond_priced_deals", firstDay), "EM,IG")
	wantList(t, "another day", filesOn(w, t, "bond_priced_deals", secondDay), "EM,HY,IG")

	drop(lastDay)
	b.Write(world.Priced, 4, `"message":"at the second try"`)
	w.MustRun(t, world.Feeds(world.Priced), world.Quiet, func(c *pull.Config) { c.SnapshotDate = secondDay })
	wantList(t, "after a second pull of IG", filesOn(w, t, "bond_priced_deals", secondDay), "EM,HY", "IG")
	world.WantSound(t, w.Store)

	// The first day expires for those that have a later one.
	w.Evening(12)
	w.MustRun(t, severally, world.Quiet)
	w.MustCompact(t)
	if _, err := w.Expire(t, maintain.Retention{Days: 3}, true, quietly); err != nil {
		t.Fatal(err)
	}
	if got := daysOf(w.Log(t), "bond_priced_deals"); !slices.Equal(got, []string{"2026-01-17"}) {
		t.Errorf("days after expiry: %q", got)
	}
	world.WantSound(t, w.Store)
}

func quietly(c *maintain.Config) { c.NoCatalog = true }

// TestExpireSharedDay keeps a shared day for the one market that has no later snapshot.
func TestExpireSharedDay(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	w.Store = new(memstore.Mem)
	b.WriteAll(world.Priced, 1, 2, "")
	b.WriteAll(highYield, 1, 2, "")
	w.Night(t, 0, world.Feeds(world.Priced, highYield), world.Quiet)
	w.Night(t, 20, world.Feeds(world.Priced), world.Quiet)
	w.MustCompact(t)
	wantList(t, "before", filesOn(w, t, "bond_priced_deals", firstDay), "HY,IG")
	if _, err := w.Expire(t, maintain.Retention{Days: 3}, true, quietly); err != nil {
		t.Fatal(err)
	}
	wantList(t, "after", filesOn(w, t, "bond_priced_deals", firstDay), "HY")
	world.WantSound(t, w.Store)
}

// TestSharedDayOvertaken merges a day while one market of it is being taken back: the market's rows leave the lake, too.
func TestSharedDayOvertaken(t *testing.T) {
	t.Parallel()
	w, _ := severalMarkets(t)
	cfg := w.Upkeep(t, quietly)
	first := true
	cfg.Store = &world.Overtaken{Store: w.Store, Before: func() {
		if first {
			first = false
			if err := w.Store.Delete(t.Context(), lake.LeaseKey); err != nil {
				t.Error(err)
			}
			if _, err := maintain.Compact(t.Context(), w.Upkeep(t, quietly)); err != nil {
				t.Error(err)
			}
		}
	}}
	done, err := maintain.Expire(t.Context(), maintain.ExpireConfig{Config: cfg, DropDay: firstDay, DropFeeds: []api.Feed{highYield}, Apply: true})
	if err != nil || done.Commit != 5 {
		t.Fatalf("got %+v, %v; want commit 5, after the compaction's", done, err)
	}
	wantList(t, "without HY", filesOn(w, t, "bond_priced_deals", firstDay), "EM,IG")
	world.WantSound(t, w.Store)
}

// TestReplaySharedFiles rebuilds a lake with shared files: nothing is to be replaced, unless a file is damaged or a
// replacement is asked for.
func TestReplaySharedFiles(t *testing.T) {
	t.Parallel()
	sound, _ := severalMarkets(t)
	sound.MustCompact(t)
	for name, damage := range map[string]string{
		"sound": "", "forced": "", "history": "flip history.bond_priced_deals/EM@4 data", "snapshot": "delete snapshots.bond_priced_banks/HY@4",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sound.WithStore(world.CopyStore(t, sound.Store, new(memstore.Mem)))
			if damage != "" {
				(&world.Damager{TB: t, Store: w.Store}).Do(damage)
				if _, err := world.Verify(t, w.Store); err == nil {
					t.Error("verify finds nothing")
				}
			}
			options := []string{"snapshots"}
			if name == "forced" {
				options = append(options, "force")
			}
			result := w.MustReplay(t, options...)
			if unchanged := result.Outcome == lake.OutcomeUnchanged; unchanged != (name == "sound") {
				t.Errorf("got %+v", result)
			}
			world.WantSound(t, w.Store)
		})
	}
}

// gets counts how often each object is read.
type gets struct {
	store.Store
	mu    sync.Mutex
	count map[string]int
}

// Get implements store.Store.
func (g *gets) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	g.mu.Lock()
	g.count[key]++
	g.mu.Unlock()
	return g.Store.Get(ctx, key)
}

// TestReplayReadsSharedFilesOnce replays a lake with shared files, one market after the other. Each file is read from the
// store once for all markets; one of deal_versions for the payloads, others to be compared.
func TestReplayReadsSharedFilesOnce(t *testing.T) {
	t.Parallel()
	w, _ := severalMarkets(t)
	w.MustCompact(t)
	counted := &gets{Store: w.Store, count: map[string]int{}}
	w.Store = counted
	result, err := maintain.Replay(t.Context(), maintain.ReplayConfig{Config: w.Upkeep(t, quietly, func(c *maintain.Config) { c.Workers = 1 }), Snapshots: true})
	if err != nil || !result.Equal {
		t.Fatalf("got %+v, %v; want equal", result, err)
	}
	shared := 0
	for _, f := range w.Log(t).AllFiles() {
		if len(f.Markets()) > 1 {
			shared++
		}
		if counted.count[f.Path] != 1 {
			t.Errorf("%s of the markets %v was read %d times, want once", f.Path, f.Markets(), counted.count[f.Path])
		}
	}
	if shared == 0 {
		t.Error("no file is shared")
	}
}

// TestVerifyFindsInSharedFiles damages what a commit says of a shared file, and its row groups.
func TestVerifyFindsInSharedFiles(t *testing.T) {
	t.Parallel()
	sound, _ := severalMarkets(t)
	sound.MustCompact(t)
	for name, c := range map[string]struct{ damage, finds string }{
		"a market is not named":         {"commit commit@4 markets snapshots.bond_priced_deals/EM@4 EM,HY", "8 rows, want 12"},
		"no such market":                {"commit commit@4 markets history.bond_priced_deals/EM@4 EM,HY,IG,XX", `"XX"`},
		"rows of two markets":           {"rows snapshots.bond_priced_deals/EM@4 swap 1 2", "rows of the markets EM to IG"},
		"the same in history":           {"rows history.bond_priced_banks/EM@4 swap 1 2", "rows of the markets EM to IG"},
		"the same in its deal_versions": {"rows history.deal_versions/EM@4 swap 1 2", "rows of the markets EM to LL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sound.WithStore(world.CopyStore(t, sound.Store, new(memstore.Mem)))
			(&world.Damager{TB: t, Store: w.Store}).Do(c.damage)
			report, err := world.Verify(t, w.Store)
			if report == nil {
				t.Fatal(err)
			}
			var found []string
			for _, f := range report.Findings {
				found = append(found, world.FindingText(f))
			}
			if text := strings.Join(found, "\n"); !strings.Contains(text, c.finds) {
				t.Errorf("got\n%s\nwant %q", text, c.finds)
			}
		})
	}
}
