package iceberg

import (
	"time"

	"dealflow/load"
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
func keptCommits(log *load.Log, all bool) []int64 {
	var kept []int64
	last := len(log.Commits) - 1
	for i := range log.Commits {
		c := &log.Commits[i]
		if i == last || isPull(c) && (all || isRecent(c, log.KnownAt) || endsMonth(log.Commits, i)) {
			kept = append(kept, c.Number)
		}
	}
	return kept
}

// isPull says whether a commit may add versions.
func isPull(c *lake.Commit) bool { return len(c.Feeds) > 0 }

func isRecent(c *lake.Commit, newest lake.Instant) bool {
	limit := keepOther
	if c.Command == "run" {
		limit = keepRuns
	}
	return newest.Sub(c.KnownAt.Time) < limit
}

// endsMonth says whether no later pull is of the same UTC month as commit i.
func endsMonth(commits []lake.Commit, i int) bool {
	for later := i + 1; later < len(commits); later++ {
		if isPull(&commits[later]) {
			return month(commits[later].KnownAt) != month(commits[i].KnownAt)
		}
	}
	return true
}

func month(i lake.Instant) string { return i.UTC().Format("2006-01") }

// hashOf returns the SHA-256 of a commit's bytes.
func hashOf(log *load.Log, number int64) string {
	if number < log.Number {
		return log.Commits[number].PreviousSHA256 // of the commit after it
	}
	return log.SHA256
}
