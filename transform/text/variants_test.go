package text_test

import (
	"strings"
	"testing"

	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// spellings are other ways to write a text that mean the same. Each returns the text unchanged if it does not apply.
var spellings = []struct {
	name    string
	respell func(string) string
}{
	{"lower case", strings.ToLower},
	{"upper case", strings.ToUpper},
	{"spaces around", func(s string) string { return "\u00a0 " + s + " \t" }},
	{"wide spaces", func(s string) string { return strings.ReplaceAll(s, " ", " \u2009 ") }},
	{"en dashes", strings.NewReplacer("+/-", "±", "-", "–").Replace},
	{"minus signs", strings.NewReplacer("-", "−").Replace},
	{"bps", respelt(words{"bp": "bps"})},
	{"basis points", respelt(words{"bp": " basis points", "bps": " basis points"})},
	{"years", respelt(words{"yr": " years"})},
	{"year", respelt(words{"yr": "-year"})},
	{"y", respelt(words{"yr": "y"})},
	{"million", respelt(words{"m": " million"})},
	{"billion", respelt(words{"bn": " billion"})},
	{"plus", overSwaps("MS plus ")},
	{"mid-swaps", overSwaps("mid-swaps +")},
	{"spaced plus", overSwaps("MS + ")},
}

// overSwaps returns a function that replaces MS+. SMS+ and TMS+ stay.
func overSwaps(by string) func(string) string {
	return func(s string) string {
		return strings.NewReplacer("SMS+", "SMS+", "TMS+", "TMS+", "MS+", by).Replace(s)
	}
}

// words are units after a number, by the spelling that they replace.
type words map[string]string

// respelt returns a function that replaces units after a digit.
func respelt(units words) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for i := 0; i < len(s); {
			end := i
			for end < len(s) && ('a' <= s[end] && s[end] <= 'z' || 'A' <= s[end] && s[end] <= 'Z') {
				end++
			}
			if to, ok := units[s[i:end]]; ok && i > 0 && '0' <= s[i-1] && s[i-1] <= '9' {
				b.WriteString(to)
			} else {
				end = max(end, i+1)
				b.WriteString(s[i:end])
			}
			i = end
		}
		return b.String()
	}
}

// skipped are the parsers for which a spelling means something else: a bare m of a tenor is no million, and the case of a
// time zone matters.
func skipped(parser lake.Parser, spelling string) bool {
	switch spelling {
	case "million":
		return parser != lake.ParseVolume && parser != lake.ParseBooks
	case "lower case":
		return parser == lake.ParsePricingTime
	case "minus signs", "en dashes":
		return false
	}
	return false
}

// TestOtherSpellings reads each text of testdata/parsing in other spellings, and wants the same reading.
func TestOtherSpellings(t *testing.T) {
	for _, parser := range text.Parsers() {
		for _, c := range casesOf(t, parser) {
			if c.isComment() {
				continue
			}
			siblings := siblingsOf(c.sibling)
			first := parse(parser, c.text, siblings)
			want := strings.ToLower(render(&first))
			for _, spelling := range spellings {
				respelt := spelling.respell(c.text)
				if skipped(parser, spelling.name) || respelt == c.text {
					continue
				}
				again := parse(parser, respelt, siblings)
				if got := strings.ToLower(render(&again)); got != want {
					t.Errorf("%s %q in %s, %q:\n got %s\nwant %s", parser, c.text, spelling.name, respelt, got, want)
				}
			}
		}
	}
}
