package iceberg

import (
	"time"

	"dealflow/load/runs"
	"dealflow/schemas/lake"
)

// How long commits stay readable in the tables of Current, counted back from the newest commit.
const (
	keepRuns  = 35 * 24 * time.Hour
	keepOther = 2 * 24 * time.Hour // syncs and retries of the quarantine: there are many
)

// keptCommits returns the numbers of the commits that stay readable in the tables of Current, oldest first: those of
// runs of the last 35 days, those of other pulls of the last two, the last pull of each UTC month, and the newest commit.
// With all, each pull and the newest commit. Commits of maintenance change no row, so that only the newest counts.
func keptCommits(names []runs.Name, all bool) []int64 {
	var kept []int64
	last := len(names) - 1
	for i := range names {
		c := &names[i]
		if i == last || c.Pulled && (all || isRecent(c, names[last].KnownAt) || endsMonth(names, i)) {
			kept = append(kept, c.Number)
		}
	}
	return kept
}

func isRecent(c *runs.Name, newest lake.Instant) bool {
	limit := keepOther
	if c.Command == lake.CommandRun {
		limit = keepRuns
	}
	return newest.Sub(c.KnownAt.Time) < limit
}

// endsMonth says whether no later pull is of the same UTC month as commit i.
func endsMonth(names []runs.Name, i int) bool {
	for later := i + 1; later < len(names); later++ {
		if names[later].Pulled {
			return month(names[later].KnownAt) != month(names[i].KnownAt)
		}
	}
	return true
}

func month(i lake.Instant) string { return i.UTC().Format("2006-01") }
