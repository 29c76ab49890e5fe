package pull_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// takes runs a command and counts the deals whose rows it took over. It returns the warnings of its log, too.
func takes(t *testing.T, w *world.World, run func(changes ...world.Change) *pull.Result, changes ...world.Change) (deals int64, warnings []string) {
	t.Helper()
	var said bytes.Buffer
	run(append(changes, func(c *pull.Config) {
		c.Workers = 1 // one writer of said at a time
		c.Log = slog.New(slog.NewJSONHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})...)
	for lines := json.NewDecoder(&said); lines.More(); {
		var line struct {
			Level, Msg, Error string
			Deals             int64
		}
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		switch {
		case line.Msg == "rows of the last snapshot were taken over":
			deals += line.Deals
		case line.Level == "WARN":
			warnings = append(warnings, line.Msg+": "+line.Error)
		}
	}
	return deals, warnings
}

// must is World.MustRun as takes wants it.
func must(t *testing.T, w *world.World) func(...world.Change) *pull.Result {
	return func(changes ...world.Change) *pull.Result { return w.MustRun(t, changes...) }
}

// TestTakesOver runs the nights of a market, with syncs and a second run of a day, on two lakes. On one each run is of another
// version of the program, and so takes nothing over. Both lakes have the same files, and the same drift.
func TestTakesOver(t *testing.T) {
	t.Parallel()
	market := func() *world.World {
		w := world.New(t, sim.Config{Seed: 11, Deals: 24, Expected: 12})
		w.Stretch = 8
		return w
	}
	taking, reading := market(), market()
	var taken int64
	for n := range 3 {
		version := func(c *pull.Config) { c.Version = fmt.Sprint(n) }
		for _, w := range []*world.World{taking, reading} {
			w.Evening(n)
		}
		deals, _ := takes(t, taking, must(t, taking), world.Quiet)
		taken += deals
		if deals, _ := takes(t, reading, must(t, reading), world.Quiet, version); deals != 0 {
			t.Errorf("night %d: another version took over %d deals, want none", n, deals)
		}
		for _, w := range []*world.World{taking, reading} {
			w.Clock.Advance(6 * time.Hour)
			w.MustSync(t, world.Quiet)
		}
		wantSame(t, fmt.Sprintf("night %d", n), taking.Log(t), reading.Log(t))
	}
	if taken == 0 {
		t.Error("no deal was taken over")
	}
	world.WantSound(t, taking.Store)
}

// wantSame compares the files of two lakes, and the drift of their runs.
func wantSame(t *testing.T, what string, got, want *load.Log) {
	t.Helper()
	if g, w := world.Sums(got), world.Sums(want); !reflect.DeepEqual(g, w) {
		t.Errorf("%s: the files differ:\n%s\nwant\n%s", what, strings.Join(g, "\n"), strings.Join(w, "\n"))
	}
	for i := range want.Commits {
		for j := range want.Commits[i].Feeds {
			if g, w := got.Commits[i].Feeds[j].Drift, want.Commits[i].Feeds[j].Drift; !reflect.DeepEqual(g, w) || g == nil {
				t.Errorf("%s: drift of %s in commit %d: got %v, want %v", what, want.Commits[i].Feeds[j].Feed, i+1, g, w)
			}
		}
	}
}

// TestTakesOverDeals edits, adds and removes single deals of 40: only the stretches near them are read.
func TestTakesOverDeals(t *testing.T) {
	t.Parallel()
	small := func(c *pull.Config) { c.Stretch = 2 } // 2 to 8 deals
	for name, c := range map[string]struct {
		change func(*world.Book)
		least  int64 // deals that are taken over
		most   int64
	}{
		"nothing":          {func(*world.Book) {}, 40, 40},
		"one is edited":    {func(b *world.Book) { b.Write(world.Priced, 20, `"message":"edited"`) }, 40 - 8, 40 - 2},
		"a sync sees it":   {func(b *world.Book) { b.Write(world.Priced, 20, `"message":"edited"`) }, 40 - 8, 40 - 2},
		"one is new":       {func(b *world.Book) { b.Write(world.Priced, 41, "") }, 40 - 8, 40},
		"one is gone":      {func(b *world.Book) { b.Strike(world.Priced, 20) }, 40 - 24, 40 - 2},
		"one comes before": {func(b *world.Book) { b.Write(world.Priced, 0, "") }, 40 - 24, 40},
		"the last is gone": {func(b *world.Book) { b.Strike(world.Priced, 40) }, 40 - 8, 40 - 1},
		"all are edited":   {func(b *world.Book) { b.WriteAll(world.Priced, 1, 40, `"message":"edited"`) }, 0, 0},
		"one is kept":      {func(b *world.Book) { b.WriteBody(world.Priced, 20, `{"dealId":20,"x":1,"x":2}`) }, 40, 40},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			b.WriteAll(world.Priced, 1, 40, `"message":"A"`)
			w.Night(t, 0, world.Feeds(world.Priced), world.Quiet, small)
			c.change(b)
			if strings.Contains(name, "sync") {
				w.Clock.Advance(time.Hour)
				world.WantCounts(t, w.MustSync(t, world.Feeds(world.Priced), world.Quiet), world.Priced, [6]int64{0, 1, 0, 0, 39, 0})
			}
			w.Evening(1)
			deals, warnings := takes(t, w, must(t, w), world.Feeds(world.Priced), world.Quiet, small)
			if deals < c.least || deals > c.most {
				t.Errorf("got %d deals taken over, want %d to %d", deals, c.least, c.most)
			}
			for _, warning := range warnings {
				if strings.Contains(warning, "last snapshot") {
					t.Errorf("got the warning %q, want none", warning)
				}
			}
			world.WantSound(t, w.Store)
		})
	}
}

// TestTakesOverDrift runs three nights without a change on deals with drift: each night reports all of it, with the same
// examples. A stretch with more than is noted is read again.
func TestTakesOverDrift(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields int
		want   int64
	}{"some": {2, 40}, "more than is noted": {300, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			for id := int64(1); id <= 40; id++ {
				var members []string
				for n := range c.fields {
					members = append(members, fmt.Sprintf(`"unknown%d":"of deal %d"`, n, id))
				}
				b.Write(world.Priced, id, strings.Join(members, ","))
			}
			want := w.Night(t, 0, world.Feeds(world.Priced), world.Quiet).Feeds[0].Drift
			if len(want) < c.fields || want[len(want)-1].Count != 40 || want[len(want)-1].Example != `"of deal 1"` {
				t.Fatalf("drift of the first night: %v", want)
			}
			for night := range 2 {
				w.Evening(1 + night)
				deals, _ := takes(t, w, must(t, w), world.Feeds(world.Priced), world.Quiet)
				if got := lastRun(w.Log(t)).Feeds[0].Drift; !reflect.DeepEqual(got, want) {
					t.Errorf("got drift %v, want %v", got, want)
				}
				if deals != c.want {
					t.Errorf("got %d deals taken over, want %d", deals, c.want)
				}
			}
		})
	}
}

// TestTakesOverSpelling writes deals in another way that gives no new version. Their drift may differ: the files and the drift are
// those of a lake that takes nothing over. On the night of a change the rows are made again, and taken over on the next.
func TestTakesOverSpelling(t *testing.T) {
	t.Parallel()
	const links = `"_links":{"self":{"href":"/v3/bond/ig/priced-deal/1"%s}}`
	for name, c := range map[string][2]string{
		"a link has a new member":  {fmt.Sprintf(links, ""), fmt.Sprintf(links, `,"method":"GET"`)},
		"a link loses a member":    {fmt.Sprintf(links, `,"method":"GET"`), fmt.Sprintf(links, "")},
		"a link that counts not":   {fmt.Sprintf(links, ""), `"_links":{"self":{"href":"/v3/bond/ig/priced-deal/1"},"updatedSince":{"href":"/v3/x"}}`},
		"a number":                 {`"x":1.0`, `"x":1.00`},
		"the order of members":     {`"x":{"a":1,"b":2}`, `"x":{"b":2,"a":1}`},
		"half a character":         {`"message":"\ud800"`, `"message":"\ufffd"`},
		"an escape, without drift": {`"message":"a"`, `"message": "\u0061"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taking, b := world.NewBook(t)
			reading := taking.WithStore(world.Folder(t, filepath.Join(t.TempDir(), "other")))
			b.WriteAll(world.Priced, 1, 40, "")
			for night, n := range []struct {
				spelling string
				deals    int64 // that are taken over
			}{{c[0], 0}, {c[1], 0}, {"", 40}, {c[0], 0}, {"", 40}} {
				for id := int64(1); id <= 40 && n.spelling != ""; id++ {
					b.Edit(world.Priced, id, fmt.Sprintf(`{"dealId":%d,%s}`, id, n.spelling))
				}
				taking.Evening(night)
				deals, _ := takes(t, taking, must(t, taking), world.Feeds(world.Priced), world.Quiet)
				if deals != n.deals {
					t.Errorf("night %d: got %d deals taken over, want %d", night, deals, n.deals)
				}
				r := reading.MustRun(t, world.Feeds(world.Priced), world.Quiet, func(c *pull.Config) { c.Version = fmt.Sprint(night) })
				if news := r.Feeds[0].Added + r.Feeds[0].Changed; night > 0 && news > 0 {
					t.Fatalf("night %d: got %d new versions: the spellings have other contents", night, news)
				}
				wantSame(t, fmt.Sprintf("night %d", night), taking.Log(t), reading.Log(t))
			}
		})
	}
}

// TestTakesOverSomeSpelling writes every third deal in another way: of each stretch some deals are read for their drift alone, which
// has examples that other deals have too, and the rows of other stretches are made after that.
func TestTakesOverSomeSpelling(t *testing.T) {
	t.Parallel()
	taking, b := world.NewBook(t)
	reading := taking.WithStore(world.Folder(t, filepath.Join(t.TempDir(), "other")))
	b.WriteAll(world.Priced, 1, 60, "")
	small := func(c *pull.Config) { c.Stretch = 4 }
	write := func(from int64, spelling string) {
		for id := from; id <= 60; id += 3 {
			b.Edit(world.Priced, id, fmt.Sprintf(`{"dealId":%d,"x":%s}`, id, spelling))
		}
	}
	var taken int64
	for night, change := range []func(){
		func() { write(1, "1.0"); write(2, "1.0"); write(3, "1.0") },
		func() { write(1, "1.00") },
		func() {},
		func() { b.Edit(world.Priced, 20, `{"dealId":20,"x":2}`) }, // a new version
		func() { write(2, "1.000"); b.Edit(world.Priced, 1, `{"dealId":1,"x":1.0}`) },
		func() {},
	} {
		change()
		taking.Evening(night)
		deals, _ := takes(t, taking, must(t, taking), world.Feeds(world.Priced), world.Quiet, small)
		taken += deals
		if full := night == 2 || night == 5; full != (deals == 60) {
			t.Errorf("night %d: got %d deals taken over", night, deals)
		}
		reading.MustRun(t, world.Feeds(world.Priced), world.Quiet, small, func(c *pull.Config) { c.Version = fmt.Sprint(night) })
		wantSame(t, fmt.Sprintf("night %d", night), taking.Log(t), reading.Log(t))
		found := lastRun(taking.Log(t)).Feeds[0].Drift
		if i := slices.IndexFunc(found, func(d lake.Drift) bool { return d.Pointer == "/x" }); i < 0 || found[i].Count != 60 {
			t.Errorf("night %d: got drift %v, want /x in each of 60 deals", night, found)
		}
	}
	if taken <= 120 {
		t.Errorf("got %d deals taken over, want some also on the night with one new version", taken)
	}
}

func lastRun(log *load.Log) *lake.Commit { return &log.Commits[len(log.Commits)-1] }

// TestTakesNothingOver changes something between two nights of a market that does not change: then no row is taken over, or
// only what is certain to be right.
func TestTakesNothingOver(t *testing.T) {
	t.Parallel()
	const cannot = "the last snapshot cannot be read: all deals are flattened again"
	for name, c := range map[string]struct {
		change  func(*testing.T, *world.World)
		deals   int64
		warning string
	}{
		"nothing":              {func(*testing.T, *world.World) {}, 40, ""},
		"the address moves":    {func(_ *testing.T, w *world.World) { w.URL = strings.Replace(w.URL, "127.0.0.1", "localhost", 1) }, 0, ""},
		"the lake is replayed": {func(t *testing.T, w *world.World) { w.MustReplay(t, "snapshots", "force") }, 0, ""},
		"a file is lost": {func(t *testing.T, w *world.World) {
			(&world.Damager{TB: t, Store: w.Store}).Do("delete snapshots.bond_priced_deals/IG@1")
		}, 0, cannot},
		"a file is damaged": {func(t *testing.T, w *world.World) {
			(&world.Damager{TB: t, Store: w.Store}).Do("flip snapshots.bond_priced_banks/IG@1 data")
		}, 0, cannot},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			b.WriteAll(world.Priced, 1, 40, `"banks":[{"name":"A"}]`)
			w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
			want := sumsOfDay(w.Log(t), "2026-01-05")
			c.change(t, w)
			w.Evening(1)
			deals, warnings := takes(t, w, must(t, w), world.Feeds(world.Priced), world.Quiet)
			if deals != c.deals {
				t.Errorf("got %d deals taken over, want %d", deals, c.deals)
			}
			if got := strings.Join(warnings, "\n"); !strings.Contains(got, c.warning) || c.warning == "" && got != "" {
				t.Errorf("got the warnings %q, want %q", got, c.warning)
			}
			if got := sumsOfDay(w.Log(t), "2026-01-06"); len(got) != len(want) {
				t.Errorf("got the files %q, want as many as the day before: %q", got, want)
			}
		})
	}
}

// TestTakesNothingOfOtherCode runs two nights of a program whose version may be that of other code.
func TestTakesNothingOfOtherCode(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 40, "")
	for night, c := range []struct {
		ambiguous bool
		deals     int64
	}{{true, 0}, {true, 0}, {false, 40}} {
		w.Evening(night)
		deals, _ := takes(t, w, must(t, w), world.Feeds(world.Priced), world.Quiet, func(cfg *pull.Config) { cfg.Ambiguous = c.ambiguous })
		if deals != c.deals {
			t.Errorf("night %d: got %d deals taken over, want %d", night, deals, c.deals)
		}
	}
}

// sumsOfDay lists the tables of the snapshot files of a day, and their rows.
func sumsOfDay(log *load.Log, day string) []string {
	var found []string
	for _, f := range log.AllFiles() {
		if f.Day() == day {
			found = append(found, fmt.Sprint(path.Dir(path.Dir(f.Path)), f.Rows))
		}
	}
	return found
}

// TestTakesOverFromTheCache runs nights on a lake that is no folder. With the copies that the run before has left in the
// cache, rows are taken over without a request for a file of the snapshot; with an empty cache each file is read once. A
// file that is lost or damaged is a warning.
func TestTakesOverFromTheCache(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	reads := &snapshotReads{Store: new(memstore.Mem)}
	w = w.WithStore(reads)
	b.WriteAll(world.Priced, 1, 40, `"message":"A"`)
	cache := func(dir string) world.Change {
		return func(c *pull.Config) {
			var err error
			if c.Cache, err = mirror.NewCache(dir, 1<<30); err != nil {
				t.Fatal(err)
			}
		}
	}
	damage := func(what string) func() {
		return func() { (&world.Damager{TB: t, Store: w.Store}).Do(what) }
	}
	kept := t.TempDir()
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet, cache(kept))
	for night, c := range []struct {
		dir      string
		before   func()
		deals    int64
		requests int // for files of snapshots
		warning  string
	}{
		{dir: kept, deals: 40},
		{dir: t.TempDir(), deals: 40, requests: 1},
		{dir: kept, deals: 40, requests: 1}, // it lacks the file of the night before
		{dir: t.TempDir(), before: damage("delete snapshots.bond_priced_deals/IG@4"), requests: 1, warning: "no such object"},
		{dir: kept, before: damage("flip snapshots.bond_priced_deals/IG@5 data"), requests: 1, warning: "differs from what was committed"},
		{dir: kept, deals: 40},
	} {
		if c.before != nil {
			c.before()
		}
		reads.keys = nil
		w.Evening(1 + night)
		deals, warnings := takes(t, w, must(t, w), world.Feeds(world.Priced), world.Quiet, cache(c.dir))
		if deals != c.deals || len(reads.keys) != c.requests {
			t.Errorf("night %d: got %d deals taken over, and the reads %q; want %d and %d", night, deals, reads.keys, c.deals, c.requests)
		}
		if got := strings.Join(warnings, "\n"); !strings.Contains(got, c.warning) || c.warning == "" && got != "" {
			t.Errorf("night %d: got the warnings %q, want %q", night, got, c.warning)
		}
	}
}

// snapshotReads lists the files of snapshots that are read.
type snapshotReads struct {
	store.Store

	mu   sync.Mutex
	keys []string
}

func (s *snapshotReads) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if strings.HasPrefix(key, "snapshots/") {
		s.mu.Lock()
		s.keys = append(s.keys, key)
		s.mu.Unlock()
	}
	return s.Store.Get(ctx, key)
}
