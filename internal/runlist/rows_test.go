package runlist

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dealflow/internal/attempts"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// TestMerge lists two commits with attempts: the one that made the second, two that knew a commit and whose clocks were wrong, and two that
// could not read the lake, whose clocks alone tell their place.
func TestMerge(t *testing.T) {
	at := func(hour int) lake.Instant { return lake.At(time.Date(2026, 11, 1, hour, 0, 0, 0, time.UTC)) }
	commit := func(number int64, id string, hour int) lake.Commit {
		return lake.Commit{Number: number, RunID: id, StartedAt: at(hour), FinishedAt: at(hour)}
	}
	log := &load.Log{Commits: []lake.Commit{commit(1, "one", 2), commit(2, "two", 4)}, Number: 2}
	rows := Merge(log.Commits, log, []attempts.Attempt{
		{RunID: "two", StartedAt: at(4)},
		{RunID: "before", StartedAt: at(1)},
		{RunID: "ahead", StartedAt: at(9), After: &attempts.After{Commit: 1}},
		{RunID: "unread", StartedAt: at(3)},
		{RunID: "newest", StartedAt: at(1), After: &attempts.After{Commit: 2}},
	})
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %d %t", r.RunID, r.Number, r.Attempt != nil))
	}
	want := []string{"newest 0 true", "two 2 true", "ahead 0 true", "unread 0 true", "one 1 false", "before 0 true"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
