package operator

import (
	"strings"
	"testing"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestDriftSaysWhatIsNew checks that drift which no run before had comes first and has a word, and that the same place of another
// feed, or of a commit after it, is no reason to call it known.
func TestDriftSaysWhatIsNew(t *testing.T) {
	bond, loan := api.Feeds()[0], api.Feeds()[len(api.Feeds())-1]
	drift := func(feed api.Feed, pointer string, count int64) lake.FeedRun {
		return lake.FeedRun{Feed: feed, Drift: []lake.Drift{{Pointer: pointer, Kind: lake.DriftMismatch, Count: count}}}
	}
	commits := []lake.Commit{
		{Number: 1, Feeds: []lake.FeedRun{drift(bond, "/known", 9)}},
		{Number: 2, Command: "compact"},
		{Number: 3, Feeds: []lake.FeedRun{drift(bond, "/known", 9), drift(loan, "/known", 1)}},
		{Number: 4, Feeds: []lake.FeedRun{drift(loan, "/known", 1)}},
	}
	for _, c := range []struct {
		at         int
		rows, said string
	}{
		{0, bond.String() + " /known new", "1 place, 1 of them new."},
		{2, loan.String() + " /known new, " + bond.String() + " /known ", "2 places, 1 of them new."},
		{3, loan.String() + " /known ", "1 place, none of them new."},
	} {
		found, said := driftTable(commits, &commits[c.at])
		var rows []string
		for _, r := range found.Rows {
			rows = append(rows, r.Cells[0].Text+" "+r.Cells[1].Text+" "+r.Cells[3].Text)
		}
		if got := strings.Join(rows, ", "); got != c.rows || said != c.said {
			t.Errorf("commit %d: got %q and %q, want %q and %q", c.at+1, got, said, c.rows, c.said)
		}
	}
}

// TestChecksSaid counts the checks that passed. A run without checks says nothing of them.
func TestChecksSaid(t *testing.T) {
	for want, checks := range map[string][]lake.Check{
		"": nil, ", 1 of 1 check passed": {{Outcome: lake.CheckPassed}}, ", 1 of 2 checks passed": {{Outcome: lake.CheckPassed}, {Outcome: lake.CheckWarned}},
	} {
		if got := checksSaid(checks); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
