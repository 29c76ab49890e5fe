package text_test

import (
	"slices"
	"testing"

	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// notchesOf are the grades of each scale, in the order of the notches 1 to 22. An empty text is a notch that the scale
// does not have.
var notchesOf = map[lake.Parser][]string{
	lake.ParseMoodys: {
		"Aaa", "Aa1", "Aa2", "Aa3", "A1", "A2", "A3", "Baa1", "Baa2", "Baa3", "Ba1", "Ba2", "Ba3", "B1", "B2", "B3",
		"Caa1", "Caa2", "Caa3", "Ca", "C", "D",
	},
	lake.ParseStandardAndPoors: {
		"AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "BB-", "B+", "B", "B-",
		"CCC+", "CCC", "CCC-", "CC", "C", "SD",
	},
	lake.ParseFitch: {
		"AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "BB-", "B+", "B", "B-",
		"CCC+", "CCC", "CCC-", "CC", "C", "RD",
	},
}

// ratingForms are ways to write a rating, with the outlook and the review that they say.
var ratingForms = []struct{ before, after, outlook, watch string }{
	{"", "", "", ""}, {"(P)", "", "", ""}, {"", "(EXP)", "", ""}, {"", " (stable)", "STABLE", ""}, {"", "/Sta", "STABLE", ""},
	{"", " (neg)", "NEGATIVE", ""}, {"", "/Positive", "POSITIVE", ""}, {"", " (CW neg)", "", "NEGATIVE"}, {"", " *-", "", "NEGATIVE"},
	{"", " (dev)", "DEVELOPING", ""}, {"", " stable outlook", "STABLE", ""}, {"(P)", " (pos)", "POSITIVE", ""},
}

// TestScales reads every notch of each scale in every form.
func TestScales(t *testing.T) {
	for parser, grades := range notchesOf {
		for i, grade := range grades {
			for _, form := range ratingForms {
				written := form.before + grade + form.after
				r := parse(parser, written, text.Siblings{})
				if string(r.Grade) != grade || r.Notch.Value != int64(i+1) || string(r.Outlook) != form.outlook || string(r.Watch) != form.watch {
					t.Errorf("%s %q: got %s, want %s, notch %d, outlook %q, watch %q", parser, written, render(&r), grade, i+1, form.outlook, form.watch)
				}
			}
		}
	}
}

// TestComposite joins the ratings of three agencies, in any order: of three the middle one, of two the worse one. If the text of
// another one was not read, there is a composite only if it is the same whatever that text says.
func TestComposite(t *testing.T) {
	for _, tt := range []struct {
		notches []int64
		unread  bool
		want    int64
		worst   int64
		rule    string
		grade   string
		invest  text.Flag
	}{
		{nil, false, 0, 0, "", "", text.Unknown},
		{[]int64{9}, false, 9, 9, "ONLY", "BBB", text.Yes},
		{[]int64{10, 11}, false, 11, 11, "WORST", "BB+", text.No},
		{[]int64{10, 10}, false, 10, 10, "WORST", "BBB-", text.Yes},
		{[]int64{9, 10, 11}, false, 10, 11, "MEDIAN", "BBB-", text.Yes},
		{[]int64{1, 22, 22}, false, 22, 22, "MEDIAN", "D", text.No},
		{[]int64{8, 8, 12}, false, 8, 12, "MEDIAN", "BBB+", text.Yes},
		{nil, true, 0, 0, "UNREAD", "", text.Unknown},
		{[]int64{9}, true, 0, 0, "UNREAD", "", text.Unknown},       // with a 12, the worse one would be 12
		{[]int64{10, 11}, true, 0, 0, "UNREAD", "", text.Unknown},  // with a 9, the middle one would be 10
		{[]int64{10, 10}, true, 10, 0, "UNREAD", "BBB-", text.Yes}, // the middle one is 10 with any; the worst may be worse
	} {
		for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			var notches [3]text.Integer
			for i, notch := range tt.notches {
				notches[order[i]] = text.Integer{Value: notch, Set: true}
			}
			c := text.CompositeOf(notches, tt.unread, nil)
			if c.Notch.Value != tt.want || c.Worst.Value != tt.worst || string(c.Rule) != tt.rule || string(c.Grade) != tt.grade || c.IsInvestment != tt.invest {
				t.Errorf("%v, unread %t: got %+v, want notch %d (%s), worst %d, rule %q", notches, tt.unread, c, tt.want, tt.grade, tt.worst, tt.rule)
			}
		}
	}
}

// TestMatchesGrade compares composites with the grades that the API document lists, and with those of loans.
func TestMatchesGrade(t *testing.T) {
	investment, other := []string{"INVESTMENT", "Investment grade"}, []string{"HIGH_YIELD", "SUB_INVESTMENT", "Leveraged", "high yield"}
	for _, grade := range slices.Concat(investment, other, []string{"UNRATED", "Unrated", ""}) {
		for notch, want := range map[int64]bool{10: slices.Contains(investment, grade), 11: slices.Contains(other, grade)} {
			got := text.CompositeOf([3]text.Integer{{Value: notch, Set: true}}, false, []byte(grade)).MatchesGrade
			known := slices.Contains(investment, grade) || slices.Contains(other, grade)
			if known != (got != text.Unknown) || known && (got == text.Yes) != want {
				t.Errorf("notch %d and grade %q: got %d, want known %t, equal %t", notch, grade, got, known, want)
			}
		}
		for _, unread := range []bool{false, true} {
			if got := text.CompositeOf([3]text.Integer{}, unread, []byte(grade)).MatchesGrade; got != text.Unknown {
				t.Errorf("no rating, unread %t, and grade %q: got %d, want unknown", unread, grade, got)
			}
		}
	}
}
