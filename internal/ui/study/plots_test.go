package study

import (
	"slices"
	"strings"
	"testing"

	"dealflow/internal/ui/asof"
)

// TestWithGaps checks that a time without a row is a gap of its own, and that other texts stay as they are.
func TestWithGaps(t *testing.T) {
	for _, c := range []struct{ unit, times, want string }{
		{"month", "2025-11 2026-02", "2025-11 2025-12 2026-01 2026-02"}, {"month", "2026-01", "2026-01"}, {"month", "", ""},
		{"year", "2020 2023", "2020 2021 2022 2023"}, {"month", "(none) 2026-01", "(none) 2026-01"}, {"year", "0001 9999", "0001 9999"},
	} {
		if got := withGaps(strings.Fields(c.times), c.unit); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: got %v, want %s", c.times, got, c.want)
		}
	}
}

// TestMediansOverTime draws a cut by month: a line of the medians, broken at a month without deals, in the band of the quartiles. A
// cut by sector has bars, those of few deals apart.
func TestMediansOverTime(t *testing.T) {
	cell := func(text string) asof.Cell { return asof.Cell{Text: text, Null: text == ""} }
	answer := &asof.Answer{}
	for _, name := range []string{"cut", "deals", "n", "mean", "median", "lower_quartile", "upper_quartile"} {
		answer.Columns = append(answer.Columns, asof.Column{Name: name})
	}
	for _, row := range []string{"2025-10 9 9 11 10 5 15", "2025-11 9 9 12 12 6 18", "2026-01 3 3 20 20 19 21"} {
		var cells []asof.Cell
		for _, text := range strings.Fields(row) {
			cells = append(cells, cell(text))
		}
		answer.Rows = append(answer.Rows, cells)
	}
	count := func(cut, class string) (n int) {
		t.Helper()
		drawing, _, _ := plots["execution_by"].draw("execution_by", answer, asof.Args{"measure": "tightening", "cut": cut})
		if drawing == nil {
			t.Fatalf("nothing is drawn by %s", cut)
		}
		svg, err := drawing.SVG()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(svg), `class="`+class)
	}
	// Twice each: for a broad screen and for a narrow one.
	if bands, lines, marks := count("month", "band s0"), count("month", "run s0"), count("month", "mark s0"); bands != 4 || lines != 2 || marks != 6 {
		t.Errorf("by month: %d bands, %d lines, %d marks", bands, lines, marks)
	}
	if bands, few, hatched := count("sector", "band"), count("sector", "s0 hatched"), count("sector", "hatch s0"); bands != 0 || few != 4 || hatched < 4 {
		t.Errorf("by sector: %d bands, %d bars of few, %d lines in them", bands, few, hatched)
	}
}
