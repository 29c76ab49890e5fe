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
		{"week", "2024-01-29 2024-02-12 2024-02-19", "2024-01-29 2024-02-05 2024-02-12 2024-02-19"}, {"quarter", "2023-10-01 2024-04-01", "2023-10-01 2024-01-01 2024-04-01"},
		{"month", "2024-01-01 2024-03-01", "2024-01-01 2024-02-01 2024-03-01"}, {"year", "2024-01-01 2026-01-01", "2024-01-01 2025-01-01 2026-01-01"}, {"sector", "a c", "a c"},
	} {
		if got := withGaps(strings.Fields(c.times), c.unit); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: got %v, want %s", c.times, got, c.want)
		}
	}
}

// TestMediansOverTime draws a cut by month: a line of the medians, broken at a month without deals, in the band of the quartiles. A
// cut by sector has bars, those of few deals apart.
func TestMediansOverTime(t *testing.T) {
	answer := answerOf("cut deals n mean median lower_quartile upper_quartile", "2025-10 9 9 11 10 5 15", "2025-11 9 9 12 12 6 18", "2026-01 3 3 20 20 19 21")
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

// answerOf returns an answer of columns and rows, with words between blanks; "-" is NULL.
func answerOf(columns string, rows ...string) *asof.Answer {
	answer := &asof.Answer{}
	for _, name := range strings.Fields(columns) {
		answer.Columns = append(answer.Columns, asof.Column{Name: name})
	}
	for _, row := range rows {
		var cells []asof.Cell
		for _, text := range strings.Fields(row) {
			cells = append(cells, asof.Cell{Text: strings.TrimPrefix(text, "-"), Null: text == "-"})
		}
		answer.Rows = append(answer.Rows, cells)
	}
	return answer
}

// TestTimesToScale draws analyses over time with a missing time: it has a place, without a value.
func TestTimesToScale(t *testing.T) {
	for _, c := range []struct {
		name, grain string
		answer      *asof.Answer
		missing     string // a time that no row has
		lines       int    // parts of the line; 0: bars
	}{
		{"maturity_wall", "", answerOf("year market usd", "2038 EM 1e9", "2039 EM 1e9", "2041 EM 2e9"), "2040", 0},
		{"loan_terms_summary", "", answerOf("year market leverage_median", "2020 LL 4", "2021 LL 5", "2023 LL 5", "2024 LL 5"), "2022", 2},
		{"issuance_volume", "week", answerOf("period market usd", "2024-02-12 IG 1e9", "2024-01-29 IG 1e9"), "2024-02-05", 0},
		{"issuance_growth", "quarter", answerOf("period market growth_pct", "2024-01-01 IG 1", "2024-04-01 IG 2", "2024-07-01 IG -", "2024-10-01 IG 3", "2025-01-01 IG 4"), "2024-07-01", 2},
	} {
		drawing, _, _ := plots[c.name].draw(c.name, c.answer, asof.Args{"grain": c.grain})
		if drawing == nil {
			t.Fatalf("%s: nothing is drawn", c.name)
		}
		svg, err := drawing.SVG()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(svg), ">"+c.missing+"<") {
			t.Errorf("%s: the axis lacks %s: %s", c.name, c.missing, svg)
		}
		if got := strings.Count(string(svg), `class="run `); got != 2*c.lines {
			t.Errorf("%s: %d lines, want %d for each of two screens", c.name, got, c.lines)
		}
	}
}

// TestFieldsOfTables draws restatement_fields: shares of different tables, and of rows that were added or removed, have bars of
// their own.
func TestFieldsOfTables(t *testing.T) {
	answer := answerOf("service market table_name field deals_restated share", "bond IG bond_priced_banks name 5 0.5", "bond IG bond_priced_banks - 3 0.3",
		"bond IG bond_priced_calls name 2 0.2", "bond IG bond_priced_calls - 1 0.1")
	drawing, said, first := plots["restatement_fields"].draw("restatement_fields", answer, asof.Args{"days": "30"})
	if drawing == nil || said != "" || first != "IG bond_priced_banks name: 50.0, n 5 (% of deals)" {
		t.Fatalf("got %q, first %q", said, first)
	}
	svg, err := drawing.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for _, bar := range []string{"banks name, share: 50", "banks (rows), share: 30", "calls name, share: 20", "calls (rows), share: 10"} {
		if strings.Count(string(svg), bar) != 2 {
			t.Errorf("no bar %s: %s", bar, svg)
		}
	}
}
