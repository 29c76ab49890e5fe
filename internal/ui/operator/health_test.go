package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"dealflow/internal/attempts"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestDriftSaysWhatIsNew checks that drift which no snapshot before had comes first and has a word, and that the same place of another
// feed, or of a commit after it, is no reason to call it known.
func TestDriftSaysWhatIsNew(t *testing.T) {
	bond, loan := api.Feeds()[0], api.Feeds()[len(api.Feeds())-1]
	drift := func(feed api.Feed, pointer string, count int64) lake.FeedRun {
		return lake.FeedRun{Feed: feed, Outcome: lake.OutcomeDone, Drift: []lake.Drift{{Pointer: pointer, Kind: lake.DriftMismatch, Count: count}}}
	}
	commits := []lake.Commit{
		{Number: 1, SnapshotDate: "2026-01-05", Feeds: []lake.FeedRun{drift(bond, "/known", 9)}},
		{Number: 2, Command: "compact"},
		{Number: 3, SnapshotDate: "2026-01-06", Feeds: []lake.FeedRun{drift(bond, "/known", 9), drift(loan, "/known", 1)}},
		{Number: 4, SnapshotDate: "2026-01-07", Feeds: []lake.FeedRun{drift(loan, "/known", 1)}},
		{Number: 5, Feeds: []lake.FeedRun{drift(loan, "/sync", 2)}},
		{Number: 6, Command: "compact"},
	}
	for _, c := range []struct {
		at         int
		rows, said string
	}{
		{0, bond.String() + " /known new", "1 place, 1 of them new."},
		{2, loan.String() + " /known new, " + bond.String() + " /known ", "2 places, 1 of them new."},
		{3, loan.String() + " /known ", "1 place, none of them new."},
	} {
		if got, said := driftRows(pulledBy(commits, &commits[c.at])); got != c.rows || said != c.said {
			t.Errorf("commit %d: got %q and %q, want %q and %q", c.at+1, got, said, c.rows, c.said)
		}
	}
	want := loan.String() + " /sync new, " + bond.String() + " /known , " + loan.String() + " /known "
	if got, said := driftRows(sinceSnapshots(commits)); got != want || said != "3 places, 1 of them new." {
		t.Errorf("newest: got %q and %q, want %q", got, said, want)
	}
}

func driftRows(pulls []pulled) (rows, said string) {
	found, said, _ := driftTable(pulls)
	var all []string
	for _, r := range found.Rows {
		all = append(all, r.Cells[0].Text+" "+r.Cells[1].Text+" "+r.Cells[3].Text)
	}
	return strings.Join(all, ", "), said
}

// TestNightsWithoutTheFirst draws what nights brought: not the first commit, which has every deal, whatever commits without a
// snapshot are around it, and of a long log only what is in the list.
func TestNightsWithoutTheFirst(t *testing.T) {
	night := func(number int64, day string, added int64) lake.Commit {
		return lake.Commit{Number: number, SnapshotDate: day, Feeds: []lake.FeedRun{{Feed: api.Feeds()[0], Outcome: lake.OutcomeDone, Added: added}}}
	}
	first, compact, second, third := night(1, "2026-01-05", 9000), lake.Commit{Number: 2, Command: "compact"}, night(3, "2026-01-06", 2), night(4, "2026-01-07", 3)
	for name, c := range map[string]struct {
		commits []lake.Commit
		want    string
	}{
		"nights alone":           {[]lake.Commit{first, night(2, "2026-01-06", 2)}, "01-06"},
		"maintenance between":    {[]lake.Commit{first, compact, second, third}, "01-06 01-07"},
		"maintenance at the end": {[]lake.Commit{first, night(2, "2026-01-06", 2), {Number: 3, Command: "compact"}}, "01-06"},
		"one night":              {[]lake.Commit{first, compact}, "01-05"},
		"the end of a long log":  {[]lake.Commit{compact, second, third}, "01-06 01-07"},
	} {
		svg, err := nightsChart(c.commits).SVG()
		if err != nil {
			t.Fatal(err)
		}
		broad, _, _ := strings.Cut(string(svg), "</svg>")
		var days []string
		for _, found := range regexp.MustCompile(`>(\d\d-\d\d)<`).FindAllStringSubmatch(broad, -1) {
			days = append(days, found[1])
		}
		if got := strings.Join(days, " "); got != c.want {
			t.Errorf("%s: the chart has the nights %q, want %q", name, got, c.want)
		}
	}
}

// TestSaid begins Health with what is so: a run that a check holds, or the feeds that wait, and of what failed its kind.
func TestSaid(t *testing.T) {
	for want, found := range map[string][]Finding{
		"The last run is complete.":                       nil,
		"The last run is complete, with warnings.":        {{Kind: "drift"}},
		"A run or a sync failed, and committed nothing.":  {{Kind: "stale"}, {Kind: "failed"}},
		"The lake has lost a commit.":                     {{Kind: "lost"}},
		"A run waits for a person: it committed nothing.": {{Kind: "held"}, {Kind: "held", Feed: "bond/ig/priced"}, {Kind: "drift"}},
		"1 feed waits for a person.":                      {{Kind: "stale"}, {Kind: "held", Feed: "bond/ig/priced"}},
		"2 feeds wait for a person.":                      {{Kind: "held", Feed: "bond/ig/priced", Todo: "bond/ig/priced"}, {Kind: "held", Feed: "bond/hy/priced", Todo: "bond/hy/priced"}},
		"Some feeds are missing from the last run.":       {{Kind: "warned"}, {Kind: "partial", Feed: "bond/ig/priced"}},
	} {
		if got := (&Health{Findings: found}).said(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestFirstLine has what the first line of a message announces.
func TestFirstLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "one\ntwo": "one", "a check holds the run:\n  emptied_columns: 9\nnothing was committed": "a check holds the run: emptied_columns: 9",
	} {
		if got := firstLine(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestToShow has the worst verdict first, and one finding with a line each for feeds that ask for the same.
func TestToShow(t *testing.T) {
	got := toShow([]Finding{
		{Kind: "stale", Feed: "bond/ig/priced", Reason: "old", Todo: "run"},
		{Kind: "held", Feed: "bond/ig/priced", Reason: "first", Todo: "accept bond/ig/priced"},
		{Kind: "drift", Reason: "some"},
		{Kind: "held", Feed: "bond/hy/priced", Reason: "second", Todo: "accept bond/hy/priced"},
		{Kind: "held", Feed: "bond/em/priced", Reason: "third", Todo: "accept bond/em/priced"},
		{Kind: "held", Reason: "of the lake", Todo: "accept"},
		{Kind: "lost", Reason: "a commit"},
		{Kind: "partial", Feed: "loan/cf/priced", Reason: "failed"},
	})
	var said []string
	for _, f := range got {
		said = append(said, f.Kind+" "+f.Reason+" ["+strings.Join(f.Details, ", ")+"] "+f.Todo)
	}
	want := "lost a commit [] ; held 3 feeds [first, second, third] accept bond/ig/priced,bond/hy/priced,bond/em/priced; held of the lake [] accept; stale old [] run; partial failed [] ; drift some [] "
	if text := strings.Join(said, "; "); text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

// TestNightsOf has a value for each day: that of the day's newest snapshot of the feed, also if a later run of the day had none.
func TestNightsOf(t *testing.T) {
	bond, loan := api.Feeds()[0], api.Feeds()[len(api.Feeds())-1]
	done := func(feed api.Feed, deals int64) []lake.FeedRun {
		return []lake.FeedRun{{Feed: feed, Outcome: lake.OutcomeDone, Deals: deals}}
	}
	commits := []lake.Commit{
		{SnapshotDate: "2026-01-05", Feeds: done(bond, 7)}, {Feeds: done(bond, 1)},
		{SnapshotDate: "2026-01-06", Feeds: done(bond, 8)}, {SnapshotDate: "2026-01-06", Feeds: done(bond, 9)}, {SnapshotDate: "2026-01-06", Feeds: done(loan, 3)},
	}
	if got := nightsOf(commits, bond); !strings.Contains(got.Drawing.Title, "last 2 nights, 7 to 9") {
		t.Errorf("got %+v", got)
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

// TestLinkedDeals checks that the deals that a check names lead to the pages of their feeds, and that other numbers lead nowhere.
func TestLinkedDeals(t *testing.T) {
	for line, want := range map[string]string{
		"emptied_columns: 50 deals. bond/ig/priced: 112 (bond_priced_deals.spread of 429 deals, such as 100412); loan/af/expected: 60 (x of 90 deals, such as 7, 8)": "bond/ig/priced/100412 loan/af/expected/7 loan/af/expected/8",
		"duplicate_deals: twice. bond/ig/priced: 1 (such as deal 7)":             "bond/ig/priced/7",
		"of 429 deals, such as 7":                                                "",
		"bond/ig/priced: 112":                                                    "",
		"bond/ig/priced: such as deal 9999999999999999999999":                    "",
		"bond/ig/priced: unknown_field at /unheardOf, 175 times, such as 1":      "", // the value of a field
		"bond/ig/priced: misfit at /nip, 2 times, such as 3, \"such as deal 4\"": "",
	} {
		said, linked := "", []string{}
		for _, part := range linkedDeals(line, func(service, market, kind string, id int64) string {
			return fmt.Sprintf("%s/%s/%s/%d", service, market, kind, id)
		}) {
			said += part.Text
			if part.Address != "" {
				linked = append(linked, part.Address)
			}
		}
		if got := strings.Join(linked, " "); got != want || said != line {
			t.Errorf("%s: got %q in %q, want %q", line, got, said, want)
		}
	}
}

// TestStagesOf says how long the stages of a pull took, and that an older one did not record it. Maintenance has no stages.
func TestStagesOf(t *testing.T) {
	pull := lake.Commit{Number: 1, Command: "run", Feeds: []lake.FeedRun{{}}}
	took := &attempts.Attempt{}
	took.StageSeconds = &attempts.StageSeconds{Open: 0.25, Feeds: 12, Commit: 1, Catalog: 3.5}
	for _, c := range []struct {
		run   Run
		drawn bool
		said  string
	}{
		{Run{Commit: pull, Attempt: took}, true, "open 0.2 s, feeds 12.0 s, commit 1.0 s, catalog 3.5 s"},
		{Run{Commit: pull, Attempt: &attempts.Attempt{}}, false, "not recorded"},
		{Run{Commit: pull}, false, "not recorded"},
		{Run{Commit: lake.Commit{Number: 2, Command: "compact"}}, false, ""},
	} {
		drawing, said := stagesOf(&c.run)
		if (drawing != nil) != c.drawn || said != c.said {
			t.Errorf("got %q, drawn %t; want %q, %t", said, drawing != nil, c.said, c.drawn)
		}
		if drawing != nil && len(drawing.Rects) != 8 { // four parts, and their keys
			t.Errorf("%d parts are drawn", len(drawing.Rects))
		}
	}
	for want, f := range map[string]FileChange{"0": {RemovedBytes: -1}, "3, 2.0 KiB": {Removed: 3, RemovedBytes: 2048}, "3, their size is not known": {Removed: 3, RemovedBytes: -1}} {
		if got := removedSaid(f); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestState has a list of findings for monitors, also if there are none.
func TestState(t *testing.T) {
	good, said := Source{Health: func(context.Context) (*Health, error) { return &Health{}, nil }}.State(t.Context())
	data, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	if !good || !strings.Contains(string(data), `"findings":[]`) || !strings.Contains(string(data), `"verdict":"good"`) {
		t.Errorf("good: %t, said: %s", good, data)
	}
}
