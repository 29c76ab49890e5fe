package runs

import (
	"slices"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Needed returns those of some commits that decisions depend on: the first one, all that took a snapshot or say
// something about other commits; the last one of each command; of each feed one with each base URL, and what was pulled since its last complete snapshot,
// as far as no later commit says the same. commits begin with the lake's first one; what was left out of them before may be absent. Later
// commits may follow.
func Needed(commits []lake.Commit) []lake.Commit {
	n := need{feeds: map[api.Feed]*feedNeed{}, commands: map[string]bool{}, names: map[string]bool{}}
	var found []lake.Commit
	for i := range slices.Backward(commits) {
		if n.commit(&commits[i]) || i == 0 {
			found = append(found, commits[i])
		}
	}
	slices.Reverse(found)
	return found
}

// need is what is known of the later commits when one is looked at.
type need struct {
	pulled   bool // one of them pulled feeds
	feeds    map[api.Feed]*feedNeed
	commands map[string]bool
	names    map[string]bool // of what programs must know
}

// commit says whether a commit is needed besides the later ones.
func (n *need) commit(c *lake.Commit) bool {
	needed := c.SnapshotDate != "" || c.Command == lake.CommandReplay || len(c.Lost) > 0 || len(c.DroppedDays) > 0 || c.Restated != nil
	needed = first(n.commands, c.Command) || needed
	for _, name := range slices.Concat(c.Requires, c.RequiresToWrite) {
		needed = first(n.names, name) || needed
	}
	if len(c.Feeds) > 0 && !n.pulled {
		n.pulled, needed = true, true
	}
	for i := range c.Feeds {
		f := &c.Feeds[i]
		if n.feeds[f.Feed] == nil {
			n.feeds[f.Feed] = &feedNeed{outcomes: map[string]bool{}, bases: map[string]bool{}, since: map[string]bool{}, drift: map[lake.Drift]bool{}}
		}
		needed = n.feeds[f.Feed].run(f, c.SnapshotDate != "") || needed
	}
	return needed
}

// feedNeed is what later commits say of a feed.
type feedNeed struct {
	outcomes map[string]bool     // that they have
	bases    map[string]bool     // base URLs
	since    map[string]bool     // base URLs since the last complete snapshot
	linked   bool                // one has a link for the next sync
	dated    bool                // one has a link with an instant
	snapshot bool                // one took a complete snapshot: what follows is about runs since it
	drift    map[lake.Drift]bool // pointers and kinds
}

// run says whether a run of the feed is needed besides the later ones.
func (n *feedNeed) run(f *lake.FeedRun, snapshot bool) bool {
	needed := first(n.outcomes, f.Outcome)
	needed = first(n.bases, f.BaseURL) || needed
	if f.Outcome != lake.OutcomeDone {
		return needed
	}
	if f.UpdatedSince != "" && !n.linked {
		n.linked, needed = true, true
	}
	if n.snapshot {
		return needed
	}
	n.snapshot = snapshot
	if _, dated := api.UpdatedSinceTime(f.UpdatedSince); dated && !n.dated {
		n.dated, needed = true, true
	}
	needed = first(n.since, f.BaseURL) || needed || f.Quarantined > 0
	for _, d := range f.Drift {
		needed = first(n.drift, lake.Drift{Pointer: d.Pointer, Kind: d.Kind}) || needed
	}
	return needed
}

// first adds a key to a set and says whether it is new.
func first[K comparable](set map[K]bool, key K) bool {
	if set[key] {
		return false
	}
	set[key] = true
	return true
}
