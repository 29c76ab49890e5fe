package lake_test

import (
	"testing"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestNewDrift checks what is new of the drift of a pull: neither what any snapshot before had, nor a kind that the program of the
// snapshot before could not report. What another feed had, what a sync had, and what a pull that failed had, does not count.
func TestNewDrift(t *testing.T) {
	t.Parallel()
	feed, other := api.Feeds()[0], api.Feeds()[1]
	pull := func(feed api.Feed, outcome, pointer string, kinds ...lake.DriftKind) lake.Commit {
		return lake.Commit{SnapshotDate: "2026-01-05", DriftKinds: kinds, Feeds: []lake.FeedRun{{Feed: feed, Outcome: outcome, Drift: []lake.Drift{{Pointer: pointer, Kind: lake.DriftMismatch, Count: 9}}}}}
	}
	knows := []lake.DriftKind{lake.DriftMismatch}
	sync := pull(feed, lake.OutcomeDone, "/a", knows...)
	sync.SnapshotDate = ""
	for name, c := range map[string]struct {
		before []lake.Commit
		isNew  bool
	}{
		"the first pull":                {nil, true},
		"known":                         {[]lake.Commit{pull(feed, lake.OutcomeDone, "/a", knows...)}, false},
		"known long ago":                {[]lake.Commit{pull(feed, lake.OutcomeDone, "/a", knows...), pull(feed, lake.OutcomeDone, "/b", knows...), {Command: "compact"}}, false},
		"of a sync":                     {[]lake.Commit{pull(feed, lake.OutcomeDone, "/b", knows...), sync}, true},
		"another place":                 {[]lake.Commit{pull(feed, lake.OutcomeDone, "/b", knows...)}, true},
		"of another feed":               {[]lake.Commit{pull(other, lake.OutcomeDone, "/a", knows...)}, true},
		"of a pull that failed":         {[]lake.Commit{pull(feed, lake.OutcomeFailed, "/a", knows...)}, true},
		"of a kind that was not known":  {[]lake.Commit{pull(feed, lake.OutcomeDone, "/b", lake.DriftRounded)}, false},
		"of a kind that is known since": {[]lake.Commit{pull(feed, lake.OutcomeDone, "/b", lake.DriftRounded), pull(feed, lake.OutcomeDone, "/b", knows...)}, true},
	} {
		drift := []lake.Drift{{Pointer: "/a", Kind: lake.DriftMismatch, Count: 1}}
		if found := lake.NewDrift(c.before, feed, drift); (len(found) == 1) != c.isNew {
			t.Errorf("%s: got %v, want new: %t", name, found, c.isNew)
		}
	}
}
