package grid

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWordDiff compares texts: what is in both stays, with its lines, and the words of either text can be put together again. Space that
// differs has marks with its name.
func TestWordDiff(t *testing.T) {
	marked := func(parts []DiffPart) string {
		var all []string
		for _, p := range parts {
			text := p.Text
			if p.Space {
				text = "[" + text + "]"
			}
			all = append(all, map[string]string{"": "", "del": "-", "ins": "+"}[p.Mark]+text)
		}
		return strings.Join(all, "|")
	}
	long := strings.Repeat("a b ", longestWords)
	for _, c := range []struct{ was, is, want string }{
		{"a b c", "a b c", "a b c"},
		{"sets size of 6NC5 at USD1bn", "sets size of 9NC3 at USD535m", "sets size of|-6NC5|+9NC3|at|-USD1bn|+USD535m"},
		{"", "new", "+new"}, {"old text", "", "-old text"}, {"", "", ""},
		{"<b>bold</b> a", "a", "-<b>bold</b>|a"},
		{"a b c", "a b  c", "a b|-[space]|+[2 spaces]|c"},
		{"a\nb\n\nc", "a\nb\nc", "a\nb|-[2 line breaks]|+[line break]|c"},
		{"a\u00a0b", "a b", "a|-[no-break space]|+[space]|b"},
		{"a\r\nb", "a\nb", "a|-[carriage return, line break]|+[line break]|b"},
		{"a\tb", "a \u2009b", "a|-[tab]|+[space, U+2009]|b"},
		{"a b", " a b ", "+[space]|a b|+[space]"},
		{"a\nx\ny b", "a b", "a|-x\ny|b"},
		{"a\nb c", "a2 b c", "-a|+a2|-[line break]|+[space]|b c"},
		{" ", "  ", "-[space]|+[2 spaces]"},
		{long + "x", long + "y", strings.TrimSpace(long) + "|-x|+y"},
		{long + "\nx", long + "x", strings.TrimSpace(long) + "|-[space, line break]|+[space]|x"},
	} {
		got := WordDiff(c.was, c.is)
		if marked(got) != c.want {
			t.Errorf("%.80q to %.80q: got %q, want %q", c.was, c.is, marked(got), c.want)
		}
		var was, is []string
		for _, p := range got {
			if p.Mark != "ins" && !p.Space {
				was = append(was, p.Text)
			}
			if p.Mark != "del" && !p.Space {
				is = append(is, p.Text)
			}
		}
		if !slices.Equal(strings.Fields(strings.Join(was, " ")), strings.Fields(c.was)) || !slices.Equal(strings.Fields(strings.Join(is, " ")), strings.Fields(c.is)) {
			t.Errorf("%.80q to %.80q: the parts make %q and %q", c.was, c.is, was, is)
		}
		if c.was != c.is && !slices.ContainsFunc(got, func(p DiffPart) bool { return p.Mark != "" }) {
			t.Errorf("%.80q to %.80q: nothing is marked", c.was, c.is)
		}
	}
	if WordDiff(strings.Repeat("a ", longestWords+1), strings.Repeat("b ", 2)) != nil {
		t.Error("a text that is too long is compared word by word")
	}
}

// TestAmount checks that a number keeps its value, and that its title has all digits.
func TestAmount(t *testing.T) {
	for in, want := range map[string]string{
		"3115000000.000000": "3,115,000,000", "-1234.500000": "-1,234.5", "0.000000": "0", "-0.250000": "-0.25", "22.891": "22.891", "0.05": "0.05",
		"1.5e20": "1.5e20", "123456789012345678901234.5": "123456789012345678901234.5", "100600": "100600", "–": "–",
	} {
		got := Amount(Cell{Text: in})
		if got.Text != want || got.Text != in && got.Title != in {
			t.Errorf("%s: got %q with the title %q, want %q", in, got.Text, got.Title, want)
		}
	}
}

// TestIndented checks that a payload keeps its numbers and texts, and that what is no JSON stays as it is.
func TestIndented(t *testing.T) {
	const text = `{"a":[1.50,1e2,{"b":"x, {y}: \\" z\\\\"}],"c":null}`
	const want = "{\n  \"a\": [\n    1.50,\n    1e2,\n    {\n      \"b\": \"x, {y}: \\\" z\\\\\"\n    }\n  ],\n  \"c\": null\n}"
	in := strings.ReplaceAll(text, `\\`, `\`)
	if got := Indented(in); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, odd := range []string{`{"a":`, "no JSON", `{"a":1}}`} {
		if got := Indented(odd); got != odd {
			t.Errorf("%q became %q", odd, got)
		}
	}
}

// TestEditOf checks that the difference of long texts shows where they differ, and that of short ones all.
func TestEditOf(t *testing.T) {
	same := strings.Repeat("word ", 60)
	for _, c := range []struct{ was, is, wantWas, wantIs string }{
		{"S+375", "S+350", "S+375", "S+350"},
		{"", "S+350", "", "S+350"},
		{same + "old end", same + "new end", "… old end", "… new end"},
		{same + "é", same + "è" + same, "… é", "… è" + same[:editShown-1] + "…"},
	} {
		if got := EditOf("margin", c.was, c.is); got.Name != "margin" || got.Was != c.wantWas || got.Is != c.wantIs {
			t.Errorf("%.20q and %.20q: got %q and %q, want %q and %q", c.was, c.is, got.Was, got.Is, c.wantWas, c.wantIs)
		}
	}
}

// TestEditOfSpace checks that a difference in white space alone has a name that says so.
func TestEditOfSpace(t *testing.T) {
	for is, want := range map[string]string{"S+375 ": "margin (white space)", "S+375": "margin", "S +375": "margin"} {
		if got := EditOf("margin", "S+375", is); got.Name != want {
			t.Errorf("%q: got %q, want %q", is, got.Name, want)
		}
	}
}

// TestWordsAreCut checks that a long text is cut, says so, and keeps the whole, and that another one is as it is.
func TestWordsAreCut(t *testing.T) {
	long := strings.Repeat("é", maxCell+1)
	if c := Words(long); !c.Cut || c.Title != long || utf8.RuneCountInString(c.Text) != maxCell {
		t.Errorf("got %+v", c)
	}
	if c := Words(long[:2*maxCell]); c.Cut || c.Title != "" || c.Text != long[:2*maxCell] {
		t.Errorf("got %+v", c)
	}
}
