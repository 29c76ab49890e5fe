package load

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"dealflow/load/runs"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestDecisionsNeedFewRuns makes random logs and leaves out, in one step or in several, what decisions are said not to
// need. Every question that decisions ask has the same answer then.
func TestDecisionsNeedFewRuns(t *testing.T) {
	t.Parallel()
	left := 0
	for seed := range uint64(300) {
		all := randomRuns(rand.New(rand.NewPCG(seed, 7)), 80)
		random := rand.New(rand.NewPCG(seed, 8))
		first, second := random.IntN(40), 40+random.IntN(40)
		once := runs.Needed(all[:second])
		twice := runs.Needed(slices.Concat(runs.Needed(all[:first]), all[first:second]))
		if !reflect.DeepEqual(once, twice) {
			t.Fatalf("seed %d: in two steps %d runs are needed, in one %d", seed, len(twice), len(once))
		}
		left += second - len(once)
		whole := &Log{Commits: all, Number: int64(len(all))}
		few := &Log{Commits: slices.Concat(once, all[second:]), Number: int64(len(all))}
		if got, want := answers(few), answers(whole); !reflect.DeepEqual(got, want) {
			for question := range want {
				if !reflect.DeepEqual(got[question], want[question]) {
					t.Errorf("seed %d: %s: got %v, want %v", seed, question, got[question], want[question])
				}
			}
			t.FailNow()
		}
	}
	if left < 300*5 {
		t.Errorf("only %d runs were left out in all", left)
	}
}

// answers asks a log what decisions depend on.
func answers(g *Log) map[string]any {
	found := map[string]any{
		"newest day": g.SnapshotDay(), "zone": g.DayZone(), "first": g.Commits[0], "loss": g.RecordsLoss(lake.NamedCommit{Number: 3, SHA256: "three"}),
		"other loss": g.RecordsLoss(lake.NamedCommit{Number: 4, SHA256: "four"}),
	}
	var replays []int64
	var needs lake.Needs
	newest := map[string]int64{}
	for i := range g.Commits {
		c := &g.Commits[i]
		if c.Command == "replay" {
			replays = append(replays, c.Number)
		}
		newest[c.Command] = c.Number
		if len(c.Feeds) > 0 {
			found["last pull"] = c.Number
		}
		needs.Merge(c.Needs)
	}
	found["replays"], found["newest of each command"], found["needs"] = replays, newest, needs
	for _, feed := range api.Feeds()[:3] {
		say := func(question string, answer any) { found[fmt.Sprint(feed, " ", question)] = answer }
		hold, ended := g.hold(feed)
		say("hold", hold)
		say("end of a hold", ended)
		say("instants", g.SnapshotInstants(feed))
		say("ever taken", g.EverTaken(feed))
		say("last snapshot", g.LastSnapshot(feed))
		say("snapshots", g.Snapshots(feed))
		unproved, standing := g.Absent(feed)
		say("unproved", unproved)
		say("standing", standing)
		say("link", g.UpdatedSince(feed))
		for _, outcome := range []string{lake.OutcomeDone, lake.OutcomeFailed, lake.OutcomeHeld, lake.OutcomeSkipped} {
			say("runs "+outcome, slices.Collect(g.FeedRuns(feed, outcome)))
			var last *lake.Commit
			for run := range g.pulls(feed, outcome) {
				last = run
				break
			}
			say("last pull "+outcome, last)
		}
		since := g.SinceSnapshot(feed)
		drift, bases, quarantined, dated := map[lake.Drift]bool{}, map[string]bool{}, []string{}, ""
		for _, run := range since {
			f := run.Feed(feed)
			for _, d := range f.Drift {
				drift[lake.Drift{Pointer: d.Pointer, Kind: d.Kind}] = true
			}
			bases[f.BaseURL] = true
			if f.Quarantined > 0 {
				quarantined = append(quarantined, run.RunID)
			}
			if _, ok := api.UpdatedSinceTime(f.UpdatedSince); ok && run.SnapshotDate == "" {
				dated = f.UpdatedSince
			}
		}
		say("drift since", drift)
		say("bases since", bases)
		say("quarantined since", quarantined)
		say("synced to", dated)
		if len(since) > 0 {
			say("snapshot of since", since[0])
			say("whether syncs came since", len(since) > 1)
		}
		ever := map[string]bool{}
		for i := range g.Commits {
			if f := g.Commits[i].Feed(feed); f != nil {
				ever[f.BaseURL] = true
			}
		}
		say("bases", ever)
	}
	return found
}

// randomRuns makes runs of three feeds, in which all happens that decisions look at.
func randomRuns(random *rand.Rand, n int) []lake.Commit {
	one := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var commits []lake.Commit
	for i := range n {
		at := lake.At(start.Add(time.Duration(i) * time.Hour))
		c := lake.Commit{Number: int64(i) + 1, RunID: fmt.Sprint("run-", i), KnownAt: at, StartedAt: at, Command: one("run", "sync", "sync", "sync", "sync", "compact", "quarantine", "expire", "replay")}
		switch c.Command {
		case "run":
			c.SnapshotDate, c.DayZone = lake.DateOf(at.Time), one("", "", "America/New_York")
		case "expire":
			if random.IntN(2) == 0 {
				c.DroppedDays = []lake.DroppedDay{{Day: lake.DateOf(at.Add(-time.Duration(random.IntN(48)) * time.Hour)), Feeds: api.Feeds()[:1+random.IntN(3)]}}
			}
		case "compact":
			if random.IntN(4) == 0 {
				c.RequiresToWrite = []string{one("iceberg", "abc")}
			}
			if random.IntN(9) == 0 {
				c.Lost = []lake.LostCommit{{NamedCommit: lake.NamedCommit{Number: 3, SHA256: "three"}}}
			}
		}
		if c.Command == "run" || c.Command == "sync" || c.Command == "quarantine" {
			for _, feed := range api.Feeds()[:3] {
				if random.IntN(4) == 0 {
					continue
				}
				f := lake.FeedRun{Feed: feed, Outcome: one("done", "done", "done", "failed", "held", "skipped"), BaseURL: one("https://a", "https://a", "https://a", "https://b")}
				if f.Outcome == lake.OutcomeDone {
					f.UpdatedSince = one("", "/x?updatedSince="+at.Format(time.RFC3339), "/x?cursor="+fmt.Sprint(i))
					f.Quarantined = int64(random.IntN(9) / 8)
					f.UnprovedAbsent, f.StandingAbsent = []int64{int64(i)}, []int64{int64(i), int64(i + 1)}
				}
				for range random.IntN(3) {
					f.Drift = append(f.Drift, lake.Drift{Pointer: one("/a", "/b", "/c"), Kind: lake.DriftUnknown, Count: int64(i)})
				}
				c.Feeds = append(c.Feeds, f)
			}
		}
		commits = append(commits, c)
	}
	return commits
}
