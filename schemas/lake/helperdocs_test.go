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
			if parser := helper.Parse.Parser; parser != "" && !helper.IsComposite() && !strings.Contains(b.String(), "\n### "+string(parser)+"\n") {
				t.Errorf("%s.%s: the page does not say what the parser %s reads", table.Name, helper.Name, parser)
			}
		}
	}
	testkit.Golden(t, "../../docs/generated/helper-columns.md", []byte(b.String()))
}

const helpersPreface = testkit.Generated + "# Helper columns\n\n" + `A helper column contains a number or a code that a parser read in a text. It is next to the text, and
the text stays as received. For example, the text ` + "`MS+95` of `spread` gives `spread_benchmark` = `MS`\nand `spread_bp`" + ` = 95.

The columns are declared in ` + "`schemas/lake/helpers.go`" + `. The texts below are those of
` + "`testdata/parsing`" + `, which the tests read.

- A text is read completely or not at all. The first number in it is never read alone. If a text is
  not read, its helper columns are NULL and its status says why.
- A text of more than 1,000 bytes, without double spaces, is ` + "`UNPARSED`" + `, whatever it says.
- A single number fills the point, lo and hi. A range fills lo and hi, and never the point. A minimum
  fills only lo, a maximum only hi; the status is then ` + "`OK`, and the quality is `MIN` or `MAX`" + `.
- ` + "`x (+/-y)` has the point x, lo x−y, hi x+y and the quality `PLUS_MINUS`. If the text also says that\n  the deal will price in range, the quality is `WPIR`" + `.
- Around a spread, y is in basis points. Around a yield, ` + "`bp` and `%`" + ` say what it is; without a unit it is in
  basis points from 1 to 100, and the text is ambiguous otherwise.
  Around a price, y is in points up to two: ` + "`98 (+/-0.5)`" + `.
- The text names the unit, or the field implies it. Numbers are exact decimals. A number that does
  not fit its column, or is not plausible, leaves the text ` + "`UNPARSED`" + `.
- Spreads and margins are positive over the benchmark. New-issue premiums are positive over fair
  value; "5bp inside FV" is −5.
- A number that is not in the text follows from a rule. The rules are: the unit (m, bn), x−y and x+y,
  fractions (7/8), flat = 0, par = 100, basis points as percent, percent as basis points, two-digit years in this century, months
  as years if that is exact, and options to extend as a sum.
- A bare ` + "`m`" + ` after a number is months up to 60. More of them are not read: 750m may be a size.
- A range that falls (7.25-7%) is read, unless its second number may be short for a longer one (105-10),
  it is written like a quote (238/235), or ` + "`to`" + ` or a sign is between (` + "`20 to 12bp`, `T+150 / +125`" + `), which may be a move.
  A falling range of issue prices is read with ` + "`to`, too (`OID 99.5 to 99`, `par to 99.5`)" + `: their talk begins at either end. So is one of spreads or
  premiums that ends at zero or below (` + "`MS-5 to -7`, `flat to -5`" + `): it is written by size, away from zero or to it.
- The ends of a range differ. One of yields is at most 2 wide, one of prices 5. One of spreads and premiums is at most 20 wide, or ends
  at three times its begin and 20, or if it falls or has a slash, at one and a half times: ` + "`T+95 / 2031`, `S+350 - 100`" + ` and
  ` + "`4.5% / 10`" + ` are ambiguous. A size is at most four times another one in a range if both have a unit.
- Two yields that both have their sign are a range only if both are in eighths or in steps of five basis points: ` + "`4.5% / 4.61%`" + ` may be a coupon
  and a yield. At a slash they are at least 0.10 apart, because ` + "`4.5% / 4.55%`" + ` may be one yield in two conventions. After a final stage they are none: ` + "`priced 7.125% / 7.25%`" + `.
- A second spread with digits after a point may be a price if the first has none: ` + "`T+98 - 99.5`" + `. Two spreads at a slash whose second has a sign may be
  two tranches, if they are more than ten apart or on both sides of zero: ` + "`+95/+115`, `+3/-2`" + `. They are ambiguous.
- Points and spaces group digits if there are two or more of them: ` + "`EUR 1.250.000.000`, `NOK 1 250 000 000`" + `. One space does, next to the
  currency, before a unit of a million: ` + "`SEK 1 500m`" + `.
- Commas group digits: 1,025. ` + "`1,250bn`" + ` is ambiguous, because that comma may be a decimal one.
- A point in a size is a decimal one. If three digits follow it, it may group digits: ` + "`EUR1.500m`" + ` is ambiguous, because it may
  be 1,500m. Except if a size without the point is not plausible, as in ` + "`EUR947.625m` and `USD1.375bn`" + `: more than 100bn,
  or more than 1,000trn in currencies of which fifty or more make a dollar, such as JPY and IDR. Such sizes are not read.
- ` + "`3/4bn` and `3/4%`" + ` are ambiguous: a fraction, or a range from 3 to 4. So are all sizes at a slash, which may be two
  tranches. In basis points halves, thirds, quarters and eighths are: ` + "`1/2bp`, `T+7/8`" + `, but not ` + "`MS+15/16`" + `. After a whole
  number they are its part: ` + "`MS+62 1/2` is 62.5. `T+9/16%`" + ` is ambiguous: a part of a percent, or a spread and a yield.
- ` + "`T+140/144A`" + ` is ambiguous: Rule 144A, or an area to 144. ` + "`T+140 / 144A / Reg S`" + ` is 140.
- A loan margin without a unit is in basis points from 10 on: ` + "`E+425`, `E+62.5`" + `. With digits after a point it is in percent
  below 5, and below 10 if it is no multiple of 2.5, because margins are not quoted so finely: ` + "`E+4.25`" + ` is 425. Other
  margins up to 15 with digits after a point may be either, and those below 10 without them, too: ` + "`E+7.5`, `E+12.5` and `E+6`" + `
  are ambiguous. Both ends of a range have one unit.
- Of ` + "`net 4x / 5x` and `3.5x / 4.0x incl. leases`" + ` the second figure may be net, too, or the same debt counted in another way: they are ambiguous.
- The plus of ` + "`EUR2bn+ incl. 150m JLM`" + ` makes the orders a minimum; that of ` + "`EUR2bn + 150m JLM`" + ` adds the leads' orders, which are not in the 2bn.
- A range of leverage is at most 1 wide. ` + "`4.5x-6x`" + ` is ambiguous, because it may be senior and total.
- Leverage without an x is read from 1 to 12, if it has a point or its figure a name: ` + "`4.5`, `Snr 4`" + `.
- A discount from par gives the price: ` + "`1pt OID` is 99, `50c discount` 99.5, `no OID`" + ` 100. ` + "`1pt`" + ` alone may be a fee, and is
  ambiguous.
- The yield and the spread of a priced deal are read with a word of the final stage (` + "`Final 7.5%`" + `), not with one of an earlier stage
  before or after them (` + "`T+120 IPT`" + `). Margins and issue prices of loans are read at each stage.
- A coupon or yield of 20 or more without a unit and a point is ambiguous: 45 may be 4.5.
- A coupon's step-up is dropped if the text names its condition. Talk of a coupon (` + "`4.5% area`" + `) is not read: it has no column.
- Numbers in words are read up to 999, with eighths: ` + "`five years`, `six and a half percent`, `one hundred and five`, `half a yard`" + `.
  A coupon or a yield in words needs its unit, or a part of one: ` + "`six` is not read" + `.
- A loan for 364 days has a tenor of one year. An option to extend has the unit of the tenor: ` + "`12m + 6m`" + `. Without any, both are
  years if the tenor is at most ten and each option at most two: ` + "`5+1+1`, but not `12+6+6` or `1yr+6+6`" + `.
  An option is at most three years, and not longer than what is before it, or a year: ` + "`5yr + 7yr` and `2yr + 3yr`" + ` may be two tranches.
  In ` + "`5yr, extension options 6+6`" + ` only the tenor is read: the options may be months.
- A tenor and a date, each with its word, are both read: ` + "`5yr, maturity 2031`. `5yr / maturity 84 months`" + ` contradicts itself, and is not read.
- Of a quarter or a half (` + "`Q2 2031`" + `) only the year is read. A loan that is extended is due at its new date: ` + "`A&E to 2031`" + `.
  From when it may be called is dropped: ` + "`Mar-33 (call Mar-28)`" + `.
- A second number of 90 to 102 after a margin and a slash is an issue price if it says so, if it is less
  than the margin, or if it is no multiple of 2.5. Otherwise the text is ambiguous.
- Before a price the time of day, the structure and ` + "`144A/RegS`" + ` need no separator: ` + "`10:05 IPT MS+90a`, `11NC6 T2 MS+205`" + `. After it a
  move or a premium in parentheses is dropped, if the price names its benchmark: ` + "`T+87.5 (-12.5bp)`. `7.625% (+12.5bp)`" + ` is not read.
- Words about other things than the columns are read and dropped: a floor of the index, the number of
  accounts, the talk before (` + "`from T+155`" + `). A remark before or after the main part is dropped only if its word says what it
  is about, and as few are dropped as can be: ` + "`MS+72-75, size 500`, `E+45, util fee 10/20`, `2.8x net, 45% LTV`, `T+110 (-15 from IPT)`" + `. A word between two
  numbers is about the first if it may be: ` + "`50bp floor 325bp` and `EUR3bn books EUR500m`" + ` are not read.
- A number after a stage is no step if it may be something else: an issue price after a spread (` + "`T+95, priced at 99.875`, `T+95, priced at 92`" + `), a size
  (` + "`books EUR3bn, launched EUR500m`" + `), how far the price has moved (` + "`S+350, tightened 25bp`" + `), a price after the pricing (` + "`priced MS+95, now MS+92`" + `),
  a discount (` + "`OID 50`, `100 OID`" + `), or another tranche (` + "`5yr T+95, 10yr priced T+110`, `TLB S+350, Rev S+300`" + `). Coupons have no steps.
- Talk and guidance after a price without a stage, and further from the result, may be what it was talked at: ` + "`MS+98, guidance MS+100`, `99.75, talk 99-99.5`" + ` are not
  read. The range of ` + "`7.25%, wide end of talk 7-7.25%`" + ` is no step either, and only a size is ` + "`upsized to`" + ` a number.
- Final guidance follows revised guidance; in the other order, and talk after guidance, without a final price they are not read. A loan is launched at its first step, a bond at its last one: ` + "`launched at S+350, flexed to S+325`" + ` is 325.
- Of several steps of one price the latest counts: ` + "`T+160a > T+130a > T+125`, `from 6.5x to 5.8x`, `2.95% (from 3.4%)`" + `. If each step
  has its stage, the last stage counts: ` + "`15-20 at IPT, 2 at landing`, `$12.5bn peak / $9.8bn final`" + `. A step that is only a number has the
  benchmark of the step before, and is at most a third more and not less than a third of it. Each step must be readable, and about the same benchmark, tenor and currency; two steps of one
  stage may be two tranches, and are not read. In parentheses, a stage is of an earlier price if it ranks before that of the price outside;
  ` + "`T+60 (revised T+55)` and `T+275 (FG 265)`" + ` are not read.
  The stage after an earlier price is not that of the later one: ` + "`MS+95 from MS+120 IPTs`" + ` has none.
- A spread without a benchmark below 20 after a word of the final stage may be a premium: ` + "`landed +5bp`" + ` is ambiguous.
  ` + "`MS+95, reoffer 93` and `S+350, all-in 325`" + ` are not read.
- ` + "`landed tight end`" + ` is the lower end of the range of the step before. Its stage, and that of a step that is only a number, is that of the step's
  word: ` + "`guidance MS+95-100, final 95` is `FINAL`" + `.
- All kinds of space count as equal. So do all dashes and minus signs, and small and capital letters. Square brackets are
  dropped, ` + "`½` is `1/2`" + `. So are characters without a width, except the soft hyphen.
- A comma before one or two digits is a decimal one in sizes, prices and percentages (` + "`EUR1,5bn`, `99,5`" + `). In spreads it may separate
  two: there it is one if a unit follows and one digit or quarters are after it (` + "`61,3bp`" + `), or percent (` + "`0,60%`" + `). A yield, a price or
  a multiple with three digits after a comma is below a thousand, so that the comma is a decimal one: ` + "`4,375%`" + `. A coupon with three is
  not read.
- A spread over an index of floating rates that has a point and is below five is read as a margin is: ` + "`3mE+0.45`" + ` is 45 bp. From
  five to ten it is ambiguous: ` + "`SONIA+8.5`" + `. So is one below two over a government's bonds or swaps: ` + "`T+1.25`" + `.
- Two numbers in percent after one benchmark are a range, as far as its ends may be that far apart: ` + "`MS+1.5%/1.75%`, `3mE+0.45/0.50%`" + `. After a
  comma or in parentheses, or if it is not more, the second may be a yield: ` + "`MS+1.5%, 1.75%`" + ` is ambiguous. The yield is dropped if it is too
  far away for a range: ` + "`MS+1.5%/3.75%`" + `.
- The sign of ` + "`E-425` and `T - 95`" + ` may be a dash: a margin or a spread of 45 or more below its benchmark is ambiguous.
- ` + "`margin_csa` is true for `S+350, CSA 10bp`, false for `no CSA` and `0bp CSA`, and NULL for `S+350 incl. 10bp CSA`" + `, whose margin has the
  adjustment already, and for one of more than 50 basis points, which may be another price.
- A size that may be short for another one, as in ` + "`EUR5-600m` and `EUR1.25-50bn`" + `, makes the text ambiguous.
- The end of a range may give the decimals of its first number alone: ` + "`5.25-50%` is 5.25 to 5.50, `99.25-50` is 99.25 to 99.50" + `. It is read so if
  the range as written is not plausible; if it is plausible, too, the text is ambiguous. So are ` + "`7.75-00%` and `T+95-05`" + `, whose end has
  passed the next integer.
- ` + "`MSEK 600` is SEK 600m, a `crore` ten million, a `lakh` a hundred thousand, and `pb` is bp. `mil` is a million, but\n  ambiguous next to the real and the peso" + `.
- ` + "`upsized EUR250m`" + ` is ambiguous: to it, or by it. ` + "`EUR500m, capped at 400` and `EUR1.5bn across tranches`" + ` are not read, nor is
  ` + "`EUR500m 4x covered`" + ` as orders, which gives a size of less than 200m. In ` + "`EUR150m tap, upsized to EUR200m`" + ` the second size may be that
  of the tap, or of the line: it is not read.
- Orders of several tranches together are not read: ` + "`EUR5bn combined`, `EUR5bn across both tranches`" + `. Orders at their peak are a maximum.
- A book is not read if a final number is a quarter of the orders before it or less, and not called orders: ` + "`EUR5bn, final EUR500m`" + ` may have the deal's size. Nor is a
  size with a smaller one at the launch: ` + "`EUR500m, launch size EUR400m`" + `. Leverage at opening or closing that falls later, and a later figure after a final stage, are not read.
- A dash before the word of an outlook may be a separator: ` + "`BBB-Stable`" + ` is ambiguous.
- The number after a ratchet or a grid is not the margin: ` + "`E+400 ratchet down to 325`" + ` is 400. Neither is the later number before one: ` + "`E+400 down to E+350 (ratchet)`" + `
  is not read.
- ` + "`S+` is SOFR in USD and SONIA in GBP. In other currencies, and without a currency, the benchmark is\n  NULL and the number is kept" + `. ` + "`N+`" + ` is NIBOR in NOK.
- Of a bond, ` + "`G+` is gilts in GBP and without a currency, and the G-spread next to any other. `B+`" + ` is Bunds, except
  in AUD and NZD. Of a loan, ` + "`B+`" + ` is BBSW in AUD and BKBM in NZD; other letters of bonds are not settled.
- The talk of a priced bond (` + "`value` of `bond_priced_price_evolution`" + `) is read with the currency of its deal, as are the
  texts of ` + "`bond_priced_deals`" + `. Parsers before version 3 read it without a currency: a replay reads it again.
- ` + "`G+T+62.5`" + ` is a G-spread over Treasuries, next to any currency.
- Swaps of every kind have the benchmark MS; an index that the text names is in ` + "`benchmark_index`" + `.
- A premium in percent is of yield: ` + "`0.05%`" + ` is 5. The sign of ` + "`minus 2-4`" + ` counts for both ends, except where 2/3 may be a fraction.
- ` + "`NZ$100m + up to NZ$50m overs`" + ` is a range to the sum. What the issuer keeps does not change the size as written:
  ` + "`GBP250m + 50m retained` is 250m, `EUR750m (incl. EUR250m retained)`" + ` 750m.
- ` + "`par less 1/4`" + ` is 99.75, ` + "`99h`" + ` 99.5. ` + "`97.5c`" + ` is a price.
- ` + "`$`" + ` is USD, except next to another dollar or peso: then the text is ambiguous. ` + "`¥`" + ` is the currency column's
  JPY, CNY or CNH, and so is a ` + "`Y`" + ` before a digit.
- A size without a currency takes that of the currency column, and ` + "`currency_implied`" + ` is true. If the text names it at another step,
  it is that one, and not implied: ` + "`EUR500m, now 600m`" + `.
- ` + "`parser_version` is the version of the parsers that read the row. After a parser changes, a replay\n  reads the texts again. The texts themselves never change" + `.

If a text is NULL, its status and all its helper columns are NULL.

`

var statusMeanings = map[string]string{
	lake.ParsedOK:        "One number, or the complete meaning of the text.",
	lake.ParsedYield:     "A yield instead of a spread. Price talk has columns for it; for a spread only the status says so.",
	lake.ParsedRange:     "Lo and hi, and no point.",
	lake.ParsedVerbal:    "Words instead of a number: low 200s.",
	lake.ParsedNoNumber:  "The text says that there is no number, or none yet: TBC, n/a, benchmark, an empty text.",
	lake.ParsedAmbiguous: "The text can be read in more than one way: MS-5-7, 105-10, a time without an offset or a date.",
	lake.ParsedNot:       "Any other text.",
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
			if helper.IsComposite() {
				text = "`" + strings.Join(lake.RatingColumns(helper.Parse.From), "`, `") + "`"
			} else if helper.Parse.From != "" {
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

The tests read every text below. A reading begins with its status. ` + "`main`" + ` is the number that the parser
is for (bp, pct, amount or price), written as one number, ` + "`lo..hi`, `lo..point..hi`, `lo..` or `..hi`" + `. The
column *with* is the value of another column that helps to read the text: a currency or a date.
`

// parserMeanings contains the purpose of each parser, in the order of the page.
var parserMeanings = []struct {
	parser  lake.Parser
	meaning string
}{
	{lake.ParseSpread, "A spread over a benchmark, in basis points. A text without a benchmark is a spread only if it has a plus."},
	{lake.ParseEvolution, "A step of price talk: a spread or a yield, and its stage. A stage at the beginning is read even if the rest is not. Final guidance (FPG) is guidance, because the price is not set; at the launch it is. A spread without a benchmark has a plus or its unit."},
	{lake.ParseYield, "A yield, in percent."},
	{lake.ParseCoupon, "A fixed coupon in percent, or a floating one: its index and margin."},
	{lake.ParseNIP, "A new issue premium, in basis points."},
	{lake.ParseStructure, "The short code of a structure: tenor, first call, type of rate, form, rank, label. If the text gives a first call and no other form, the form is CALLABLE."},
	{lake.ParseVolume, "A size, in units of its currency."},
	{lake.ParseBooks, "Orders, in units of their currency or as a multiple of the size."},
	{lake.ParseMargin, "A loan's margin, in basis points, and an issue price after it. A margin without an index must have its unit: 325bp."},
	{lake.ParseOID, "A loan's issue price in percent of nominal, or its upfront fee."},
	{lake.ParseMaturity, "When a loan is due: a day, a month, a year, or a tenor with its options to extend. A tenor in months is read as years if it is a whole number of quarters."},
	{lake.ParseLeverage, "Debt as a multiple of EBITDA: total, or senior and total; net leverage is another figure, with its own columns."},
	{lake.ParsePricingTime, "A time of day with its offset, as an instant in UTC. The date is that of the pricing date."},
	{lake.ParseMoodys, "A rating in the scale of Moody's, with its outlook or review. Its notch is its place from 1 (Aaa) to 22 (default)."},
	{lake.ParseStandardAndPoors, "A rating in the scale of Standard & Poor's, with its outlook or review."},
	{lake.ParseFitch, "A rating in the scale of Fitch, with its outlook or review."},
}

// parsingTable is a parser's file of texts as a table.
func parsingTable(t *testing.T, parser lake.Parser) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../testdata/parsing", string(parser)+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| text | with | reading |\n|---|---|---|\n")
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
			t.Fatalf("%s: got %q, want a text, the value of another column, and a reading", parser, line)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", cells[0], cells[1], cells[2])
	}
	return b.String()
}
