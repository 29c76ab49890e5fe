package lake_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/schemas/lake"
)

// TestDocsHelpers compares docs/generated/helper-columns.md with the columns and with the texts of testdata/parsing; with -update
// it writes the page.
func TestDocsHelpers(t *testing.T) {
	var b strings.Builder
	b.WriteString(helpersPreface)
	b.WriteString("| status | meaning |\n|---|---|\n")
	for _, status := range lake.ParseStatuses() {
		if statusMeanings[status] == "" {
			t.Errorf("status %s has no meaning", status)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", status, statusMeanings[status])
	}
	fmt.Fprintf(&b, "\n## Columns\n\nThe parsers have version %d.\n\n", lake.ParserVersion)
	b.WriteString(helpersTable())
	b.WriteString(parsersPreface)
	for _, p := range parserMeanings {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", p.parser, p.meaning)
		b.WriteString(parsingTable(t, p.parser))
	}
	for _, table := range lake.Tables() {
		for _, helper := range table.Helpers {
			if parser := helper.Parse.Parser; parser != "" && !strings.Contains(b.String(), "\n### "+string(parser)+"\n") {
				t.Errorf("%s.%s: the page does not tell what the parser %s reads", table.Name, helper.Name, parser)
			}
		}
	}
	testkit.Golden(t, "../../docs/generated/helper-columns.md", []byte(b.String()))
}

const helpersPreface = testkit.Generated + "# Helper columns\n\n" + `Some texts of the source hold numbers: spreads, yields, sizes, tenors. Helper columns hold what parsers
read in them, beside the text, which stays as it is. They are declared in ` + "`schemas/lake`" + `; the texts
below are those of ` + "`testdata/parsing`" + `.

- A text is read as a whole or not at all: never the first number found in it. What is not read is
  NULL, and the status says why.
- Units stand in the text, or the field implies them. Numbers are exact decimals; one that does not
  fit its column, or is not plausible, leaves the text ` + "`UNPARSED`" + `.
- A single number fills the point, lo and hi. A range fills lo and hi, and never the point. A minimum
  fills lo only, a maximum hi only: the status is ` + "`OK`, the quality `MIN` or `MAX`" + `.
- ` + "`x (+/-y)`" + ` has the point x, lo x−y and hi x+y, and the quality ` + "`PLUS_MINUS`; where the text also says\n  that it will price in range, `WPIR`" + `.
- Spreads and margins are positive over the benchmark. New issue premiums are positive over fair
  value; "5bp inside FV" is −5.
- A number that is not in the text follows from a declared rule: the unit (m, bn), x−y and x+y,
  fractions (7/8), flat = 0, par = 100, months as years where that is exact, and two-digit years,
  which are of this century.
- Spaces of all kinds, dashes and minus signs are each alike, and so are small and capital letters.
- ` + "`S+` is SOFR in USD and SONIA in GBP; in other currencies, and where there is none, the benchmark is\n  NULL and the number stays" + `.
- A size without a currency takes that of the currency column: ` + "`currency_implied` says so" + `.
- ` + "`parser_version` is the version of the parsers that read the row. When a parser changes, a replay\n  reads the texts anew; the texts themselves never change" + `.

A text that is NULL has the status NULL, and so have all its helper columns.

`

var statusMeanings = map[string]string{
	lake.ParsedOK:        "One number, or whatever else the text says in full.",
	lake.ParsedYield:     "A yield where a spread may stand. Price talk has columns for it; of a spread the status is all.",
	lake.ParsedRange:     "Lo and hi, and no point.",
	lake.ParsedVerbal:    "Words in place of a number: low 200s.",
	lake.ParsedNoNumber:  "The text says that there is no number, or none yet: TBC, n/a, benchmark, an empty text.",
	lake.ParsedAmbiguous: "More than one reading: MS-5-7, a range that falls, a time without an offset or a date.",
	lake.ParsedNot:       "Another text.",
}

// helpersTable lists the helper columns of all tables.
func helpersTable() string {
	var b strings.Builder
	b.WriteString("| table | no. | column | type | unit | positive means | text | status |\n|---|---:|---|---|---|---|---|---|\n")
	for _, table := range lake.Tables() {
		status := map[string]string{}
		for _, helper := range table.Helpers {
			if helper.Parse.Part == lake.PartStatus {
				status[helper.Parse.From] = "`" + helper.Name + "`"
			}
		}
		for _, helper := range table.Helpers {
			text := ""
			if helper.Parse.From != "" {
				text = "`" + helper.Parse.From + "`"
			}
			fmt.Fprintf(&b, "| [%s](tables/%s.md) | %d | `%s` | %s | %s | %s | %s | %s |\n",
				table.Name, table.Name, helper.Number, helper.Name, helper.Type.SQL(), helper.Unit, helper.Parse.Sign, text, status[helper.Parse.From])
		}
	}
	return b.String()
}

const parsersPreface = `
## What the parsers read

The tests read every text below. Of each reading the status comes first; ` + "`main`" + ` is the number that the
parser is for (bp, pct, amount or price), as one number, as ` + "`lo..hi`, as `lo..point..hi`, as `lo..` or as `..hi`" + `.
Beside a text may stand a currency or a date.
`

// parserMeanings contains the purpose of each parser, in the order of the page.
var parserMeanings = []struct {
	parser  lake.Parser
	meaning string
}{
	{lake.ParseSpread, "A spread over a benchmark, in basis points. A text without a benchmark is no spread."},
	{lake.ParseEvolution, "A step of price talk: a stage, where the text begins with one, and a spread or a yield. The stage is kept whatever follows it. Final guidance (FPG) is guidance: the price is not set."},
	{lake.ParseYield, "A yield, in percent."},
	{lake.ParseCoupon, "A fixed coupon in percent, or a floating one: its index and margin."},
	{lake.ParseNIP, "A new issue premium, in basis points."},
	{lake.ParseStructure, "The short code of a structure: tenor, first call, type of rate, form. What may be called has the form CALLABLE where the text names no other."},
	{lake.ParseVolume, "A size, in units of its currency."},
	{lake.ParseBooks, "Orders, in units of their currency, or how often they cover the size."},
	{lake.ParseMargin, "A loan's margin, in basis points. One without an index needs its unit: 325bp."},
	{lake.ParseOID, "An issue price of a loan, in percent of nominal, or an upfront fee in its place."},
	{lake.ParseMaturity, "When a loan is due: a day, a month, or a tenor. Months are given in years where they are whole quarters."},
	{lake.ParseLeverage, "Debt as a multiple of EBITDA: in all, or senior and in all. Net leverage is another figure and is not read."},
	{lake.ParsePricingTime, "A time of day with its offset, on the date beside it, as an instant in UTC."},
}

// parsingTable is a parser's file of texts as a table.
func parsingTable(t *testing.T, parser lake.Parser) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../testdata/parsing", string(parser)+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| text | beside | reading |\n|---|---|---|\n")
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			fmt.Fprintf(&b, "| **%s** | | |\n", heading)
			continue
		}
		cells := strings.Split(line, " | ")
		if len(cells) == 2 { // no value of another column: the cells are separated by " | | "
			cells = append(cells[:1], "", strings.TrimPrefix(cells[1], "| "))
		}
		if len(cells) != 3 {
			t.Fatalf("%s: got %q, want a text, what stands beside it, and a reading", parser, line)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", cells[0], cells[1], cells[2])
	}
	return b.String()
}
