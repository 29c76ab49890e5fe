package deals

import (
	"slices"
	"testing"
	"time"

	"dealflow/internal/ui/asof"
)

// row returns a row with texts by column.
func row(pairs ...string) asof.Row {
	a := &asof.Answer{Rows: [][]asof.Cell{{}}}
	for i := 0; i < len(pairs); i += 2 {
		a.Columns = append(a.Columns, asof.Column{Name: pairs[i]})
		a.Rows[0] = append(a.Rows[0], asof.Cell{Text: pairs[i+1], Null: pairs[i+1] == ""})
	}
	return a.Row(0)
}

// TestBondColumns puts timings into columns on Wednesday, 14 January 2026. What was said is about the day on which it was said.
func TestBondColumns(t *testing.T) {
	today := time.Date(2026, 1, 14, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct{ timing, said, column, note string }{
		{"today", "2026-01-14T09:00:00Z", "Today", ""},
		{"today", "2026-01-13T23:59:59Z", "Said before, then silent", "said 13 Jan 2026"},
		{"today", "2025-12-10T09:00:00Z", "Said before, then silent", "said 10 Dec 2025"},
		{"tomorrow", "2026-01-13T09:00:00Z", "Today", ""},
		{"tomorrow", "2026-01-14T09:00:00Z", "Tomorrow, this week", "said 14 Jan 2026"},
		{"tomorrow", "2026-01-12T09:00:00Z", "Said before, then silent", "said 12 Jan 2026"},
		{"this week", "2026-01-12T09:00:00Z", "Tomorrow, this week", "said 12 Jan 2026"},
		{"this week", "2026-01-11T09:00:00Z", "Said before, then silent", "said 11 Jan 2026"}, // a Sunday
		{"next week", "2026-01-08T09:00:00Z", "Tomorrow, this week", "said 8 Jan 2026"},
		{"next week", "2026-01-14T09:00:00Z", "Later", "said 14 Jan 2026"},
		{"w/c 12 jan", "2026-01-08T09:00:00Z", "Tomorrow, this week", "said 8 Jan 2026"},
		{"w/c 19 jan", "2026-01-08T09:00:00Z", "Later", "said 8 Jan 2026"},
		{"w/c 5 jan", "2025-12-30T09:00:00Z", "Said before, then silent", "said 30 Dec 2025"}, // of the year after
		{"w/c 31 jul", "2025-07-24T09:00:00Z", "Said before, then silent", "said 24 Jul 2025"},
		{"on the horizon", "2025-11-19T09:00:00Z", "Later", ""},
		{"subject to market", "", "Later", ""},
		{"postponed", "2025-11-19T09:00:00Z", "Postponed", ""},
		{"today", "", "Other words", "said on a day that is not known"},
		{"today or tomorrow", "2026-01-14T09:00:00Z", "Other words", ""},
		{"w/c soon", "2026-01-14T09:00:00Z", "Other words", ""},
		{"", "2026-01-14T09:00:00Z", "No timing", ""},
	} {
		column, note := bondColumn(row("timing_form", c.timing, "timing_said", c.said), today)
		if column != c.column || note != c.note {
			t.Errorf("%q, said %s: got %s and %q, want %s and %q", c.timing, c.said, column, note, c.column, c.note)
		}
	}
}

// TestLoanColumns puts stages into columns. A spelling that is in no list is not guessed.
func TestLoanColumns(t *testing.T) {
	for stage, want := range map[string]string{
		"pre-marketing": "Pre-marketing", "in syndication": "In syndication", "commitments due": "Commitments due", "cancelled": "Postponed, withdrawn",
		"<b>pre-marketing</b>": "Other words", "pré-markéting": "Other words", "launched – 東京": "Other words", "": "Other words",
	} {
		if got := loanColumn(row("stage_form", stage)); got != want {
			t.Errorf("%q: got %s, want %s", stage, got, want)
		}
	}
	for column := range stages {
		if !slices.Contains(loanColumns, column) {
			t.Errorf("%s is in no order", column)
		}
	}
}
