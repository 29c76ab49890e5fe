package text_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dealflow/internal/testkit"
	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

const casesDir = "../../testdata/parsing"

// testCase is a line of a file in testdata/parsing: the text as written there, and the value of its sibling.
type testCase struct {
	written, text, sibling string
}

// casesOf returns the lines of a parser's file. A comment has only its written form.
func casesOf(t testing.TB, parser lake.Parser) []testCase {
	t.Helper()
	data, err := os.ReadFile(casesPath(parser))
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		c := testCase{written: line}
		if !strings.HasPrefix(line, "#") {
			cells := append(strings.Split(line, "|"), "")
			c.written, c.sibling = strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1])
			c.text = c.written
			if text, err := strconv.Unquote(c.written); err == nil {
				c.text = text
			}
		}
		cases = append(cases, c)
	}
	return cases
}

func casesPath(parser lake.Parser) string {
	return filepath.Join(casesDir, string(parser)+".txt")
}

func (c *testCase) isComment() bool { return strings.HasPrefix(c.written, "#") }

// siblingsOf parses the value of a sibling column: a date, else a currency.
func siblingsOf(written string) text.Siblings {
	if written == "" {
		return text.Siblings{}
	}
	if _, err := time.Parse(time.DateOnly, written); err == nil {
		return day(written)
	}
	return currency(written)
}

// TestCases reads the texts of testdata/parsing; with -update it writes the readings.
func TestCases(t *testing.T) {
	for _, parser := range text.Parsers() {
		t.Run(string(parser), func(t *testing.T) {
			var b strings.Builder
			for _, c := range casesOf(t, parser) {
				b.WriteString(c.written)
				if !c.isComment() {
					r := parse(parser, c.text, siblingsOf(c.sibling))
					b.WriteString(" | " + c.sibling + strings.Repeat(" ", min(1, len(c.sibling))) + "| " + render(&r))
				}
				b.WriteString("\n")
			}
			testkit.Golden(t, casesPath(parser), []byte(b.String()))
		})
	}
}

// TestEveryParserIsKnown compares the parsers with those that columns name, and wants a file of cases for each.
func TestEveryParserIsKnown(t *testing.T) {
	for _, table := range lake.Tables() {
		for _, helper := range table.Helpers {
			if !helper.IsParserVersion() && !helper.IsComposite() && text.Parser(helper.Parse.Parser) == nil {
				t.Errorf("%s.%s: no parser %q", table.Name, helper.Name, helper.Parse.Parser)
			}
		}
	}
	files, err := filepath.Glob(casesDir + "/*.txt")
	if err != nil || len(files) != len(text.Parsers()) {
		t.Errorf("got files %v %v, want one for each of %v", files, err, text.Parsers())
	}
}

// TestLongTexts reads texts of the greatest length that is read, and longer ones, which have the status UNPARSED whatever they say.
func TestLongTexts(t *testing.T) {
	const most = 1000
	price := "T+95bp" + strings.Repeat(", today", 142)
	for _, parser := range text.Parsers() {
		for n, want := range map[int]string{most: lake.ParsedNoNumber, most + 1: lake.ParsedNot} {
			if r := parse(parser, strings.Repeat("-", n), text.Siblings{}); string(r.Status) != want {
				t.Errorf("%s: %d dashes: got %s, want %s", parser, n, render(&r), want)
			}
		}
	}
	if r := parse(lake.ParseSpread, price, text.Siblings{}); len(price) != most || render(&r) != "OK benchmark=UST main=95" {
		t.Errorf("%d bytes: got %s", len(price), render(&r))
	}
}

// TestIncludedAdjustment reads margins that say whether an adjustment is added, and ones that include it: whether more is added is unknown.
func TestIncludedAdjustment(t *testing.T) {
	for written, want := range map[string]text.Flag{
		"S+350, CSA 10bp": text.Yes, "S+350, no CSA": text.No, "S+350": text.No, "S+350 incl. 10bp CSA": text.Unknown, "S+350 including CSA": text.Unknown, "S+350, 99.5 CSA": text.Unknown,
	} {
		if r := parse(lake.ParseMargin, written, currency("USD")); r.CSA != want || string(r.Status) != lake.ParsedOK {
			t.Errorf("%s: got %d, want %d: %s", written, r.CSA, want, render(&r))
		}
	}
}
