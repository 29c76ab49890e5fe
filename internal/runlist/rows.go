package runlist

import (
	"cmp"
	"slices"

	"dealflow/internal/attempts"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// Row is an element of the list that runs --json prints: a commit, or an attempt that made none. Of such an attempt
// the commit's number is 0 and its known_at is year 1. Fields are only ever added.
type Row struct {
	lake.Commit
	Attempt *attempts.Attempt `json:"attempt"` // null if none was recorded
}

// Merge merges commits of a log and attempts, newest first.
func Merge(commits []lake.Commit, log *load.Log, made []attempts.Attempt) []Row {
	rows := make([]Row, 0, len(commits)+len(made))
	index := map[string]int{} // in rows, by run id
	for i := range commits {
		index[commits[i].RunID] = len(rows)
		rows = append(rows, Row{Commit: commits[i]})
	}
	after := make([]int64, len(rows), cap(rows)) // place of a row: the commit that it is, or that it comes after
	for i := range rows {
		after[i] = rows[i].Number
	}
	for i := range made {
		if n, committed := index[made[i].RunID]; committed {
			rows[n].Attempt = &made[i]
			continue
		}
		rows = append(rows, Row{Commit: commitOf(&made[i]), Attempt: &made[i]})
		after = append(after, PlaceOf(log, &made[i]))
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		a, b := &rows[x], &rows[y]
		// A commit is older than the attempts after it. Clocks only order attempts between two commits.
		return cmp.Or(cmp.Compare(after[y], after[x]), cmp.Compare(min(a.Number, 1), min(b.Number, 1)), b.StartedAt.Compare(a.StartedAt.Time))
	})
	sorted := make([]Row, len(rows))
	for i, n := range order {
		sorted[i] = rows[n]
	}
	return sorted
}

// PlaceOf returns the number of the commit after which an attempt without a commit was made: the newest one that it knew,
// or if it could not read the lake, the newest one that was finished before by the clocks.
func PlaceOf(log *load.Log, a *attempts.Attempt) int64 {
	if a.After != nil {
		place := min(a.After.Commit, log.Number)
		if named, known := log.Named(a.After.Commit); known && a.After.SHA256 != "" && named.SHA256 != a.After.SHA256 {
			place-- // that commit was lost, and another one has its number
		}
		return place
	}
	for i := len(log.Commits) - 1; i >= 0; i-- {
		if !log.Commits[i].FinishedAt.After(a.StartedAt.Time) {
			return log.Commits[i].Number
		}
	}
	return 0
}

// commitOf returns what an attempt without a commit says, in the form of a commit.
func commitOf(a *attempts.Attempt) lake.Commit {
	c := lake.Commit{
		RunID: a.RunID, Command: a.Command, DealflowVersion: a.DealflowVersion, StartedAt: a.StartedAt, FinishedAt: a.EndedAt,
		SnapshotDate: a.SnapshotDate, Outcome: a.Outcome, Feeds: []lake.FeedRun{}, Add: []lake.File{}, Remove: []string{}, Checks: []lake.Check{},
	}
	for _, f := range a.Feeds {
		c.Feeds = append(c.Feeds, lake.FeedRun{Feed: f.Feed, Outcome: f.Outcome, Error: f.Error, Drift: []lake.Drift{}})
	}
	return c
}
