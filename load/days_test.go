package load_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestDroppedDays takes snapshots back, feed by feed, and takes one of the same day again. The log says the same when it
// is read from the commits and from a checkpoint.
func TestDroppedDays(t *testing.T) {
	var (
		ig = loadtest.Feed
		hy = api.Feed{Service: api.Bond, Market: api.HY, Kind: api.Priced}
		em = api.Feed{Service: api.Bond, Market: api.EM, Kind: api.Priced}
	)
	run := func(day string, outcomes map[api.Feed]string) lake.Commit {
		c := lake.Commit{Command: "run", SnapshotDate: day, Outcome: lake.OutcomeDone}
		for feed, outcome := range outcomes {
			c.Feeds = append(c.Feeds, lake.FeedRun{Feed: feed, Outcome: outcome})
		}
		return c
	}
	drop := func(day string, feeds ...api.Feed) lake.Commit {
		return lake.Commit{Command: "expire", Outcome: lake.OutcomeDone, Corrections: lake.Corrections{DroppedDays: []lake.DroppedDay{{Day: day, Feeds: feeds}}}}
	}
	const past, future = "2026-03-02", "2062-01-01"
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	var known []lake.Instant
	commit := func(c lake.Commit) {
		t.Helper()
		n := len(known)
		run := loadtest.Begin(t, l, testkit.Allocator(t), loadtest.Start.Add(time.Duration(n)*time.Hour))
		defer loadtest.Close(t, run)
		c.KnownAt = lake.At(loadtest.Start.Add(time.Duration(n) * time.Hour))
		if _, err := run.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		known = append(known, c.KnownAt)
		var latest map[api.Feed]lake.Latest
		if l.Log().CheckpointDue() {
			latest = map[api.Feed]lake.Latest{}
		}
		if err := l.WriteDerived(t.Context(), latest); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what, day string, taken ...api.Feed) {
		t.Helper()
		for from, log := range map[string]*load.Log{"the writer's": l.Log(), "the store's": loadtest.Open(t, s).Log()} {
			if got := log.SnapshotDay(); got != day {
				t.Errorf("%s, %s log: newest day %q, want %q", what, from, got, day)
			}
			for _, feed := range []api.Feed{ig, hy} {
				if got := log.HasSnapshot(feed, future); got != slices.Contains(taken, feed) {
					t.Errorf("%s, %s log: snapshot of %s of %s: %t", what, from, feed, future, got)
				}
				if last := log.LastSnapshot(feed); (last != nil && last.SnapshotDate == future) != slices.Contains(taken, feed) {
					t.Errorf("%s, %s log: last snapshot of %s: got %+v", what, from, feed, last)
				}
			}
			if got := log.Skipped(em, future); got != slices.Contains(taken, em) {
				t.Errorf("%s, %s log: %s was skipped on %s: %t", what, from, em, future, got)
			}
			if !log.EverTaken(ig) || len(log.SinceSnapshot(ig)) != 1 {
				t.Errorf("%s, %s log: a feed whose snapshot was taken back is still in the lake's history", what, from)
			}
		}
	}
	all := map[api.Feed]string{ig: lake.OutcomeDone, hy: lake.OutcomeDone, em: lake.OutcomeSkipped}
	commit(run(past, all))
	want("before", past)
	commit(run(future, all))
	want("a wrong day", future, ig, hy, em)
	commit(drop(future, ig))
	want("one feed taken back", future, hy, em)
	commit(drop(future, hy, em))
	want("all taken back", past)
	commit(run(past, map[api.Feed]string{hy: lake.OutcomeHeld, ig: lake.OutcomeDone}))
	commit(drop(past, ig, hy))
	want("an earlier day taken back too", "")
	if held := slices.Collect(l.Log().FeedRuns(hy, lake.OutcomeHeld)); len(held) != 1 {
		t.Errorf("the hold of a day that was taken back: got %d runs, want 1: only --accept-removals ends it", len(held))
	}
	commit(run(past, all))
	commit(run(future, map[api.Feed]string{ig: lake.OutcomeDone, hy: lake.OutcomeFailed}))
	want("taken again", future, ig)
	if got := l.Log().SnapshotInstants(ig); !maps.Equal(got, map[string]lake.Instant{past: known[6], future: known[7]}) {
		t.Errorf("instants of the snapshots: got %v, want those of commits 7 and 8", got)
	}
	commit(drop(future, ig))
	for len(known) < 55 {
		commit(lake.Commit{Command: "compact", Outcome: lake.OutcomeDone})
	}
	if load.ReadHint(t.Context(), s).Checkpoint != 50 {
		t.Fatal("no checkpoint was written")
	}
	want("from a checkpoint", past)
}

// TestDayZone checks which zone the lake's days have: that of the newest run with a snapshot; UTC where it names none.
func TestDayZone(t *testing.T) {
	log := new(load.Log)
	want := func(zone, day string) {
		t.Helper()
		got, err := log.Today(time.Date(2026, 1, 8, 3, 0, 0, 0, time.UTC))
		if log.DayZone() != zone || err != nil || got != day {
			t.Errorf("got %q, %s, %v; want %q, %s", log.DayZone(), got, err, zone, day)
		}
	}
	want("", "2026-01-08")
	log.Commits = append(log.Commits, lake.Commit{SnapshotDate: "2026-01-07", DayZone: "America/New_York"}, lake.Commit{Command: "sync"})
	want("America/New_York", "2026-01-07")
	log.Commits = append(log.Commits, lake.Commit{SnapshotDate: "2026-01-08"})
	want("UTC", "2026-01-08")
	for _, name := range []string{"Local", "New York", "/etc/localtime", "../UTC"} {
		if zone, err := lake.Zone(name); err == nil {
			t.Errorf("zone %q: got %v, want an error", name, zone)
		}
	}
}
