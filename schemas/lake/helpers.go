package lake

import "slices"

// ParserVersion is the version of the parsers that fill the helper columns. It rises when a parser reads a text
// differently. SchemaVersion rises with it, so that the log shows which files need a replay.
const ParserVersion = 1

// Parser names a parser of free text. Each text column with helpers has one.
type Parser string

// The parsers. docs/generated/helper-columns.md says what each reads.
const (
	ParseSpread      Parser = "spread"       // T+95, MS flat, DBR 2.5% Feb-34+118
	ParseEvolution   Parser = "evolution"    // IPTs MS+130 area, 7.00-7.25%
	ParseYield       Parser = "yield"        // 3.412%, 7.25% (8.1% PIK)
	ParseCoupon      Parser = "coupon"       // 4 7/8%, SOFR+85
	ParseNIP         Parser = "nip"          // 3-5, 5bp inside FV, flat
	ParseStructure   Parser = "structure"    // 10NC5, 5yr FXD, PNC5.25
	ParseVolume      Parser = "volume"       // EUR500m WNG, USD300m-500m
	ParseBooks       Parser = "books"        // in excess of EUR3.2bn (incl. 150m JLM)
	ParseMargin      Parser = "margin"       // S+CSA+350, E+400-425, 325bp
	ParseOID         Parser = "oid"          // 99-99.5, par, 0.5% UF
	ParseMaturity    Parser = "maturity"     // 2031-02-15, Feb-31, 7yr
	ParseLeverage    Parser = "leverage"     // 5.2x, 4.5x/6.0x
	ParsePricingTime Parser = "pricing_time" // 14:35+01:00, with the date of another column
)

// The statuses of a parsed text. A NULL text has none.
const (
	ParsedOK        = "OK"        // one number, or the complete meaning of the text
	ParsedYield     = "OK_YIELD"  // a yield instead of a spread
	ParsedRange     = "RANGE"     // from lo to hi: no point value
	ParsedVerbal    = "VERBAL"    // words instead of a number: low 200s
	ParsedNoNumber  = "NO_NUMBER" // the text says that there is no number, or none yet: TBC, benchmark, Undisclosed
	ParsedAmbiguous = "AMBIGUOUS" // the text can be read in more than one way: MS-5-7
	ParsedNot       = "UNPARSED"  // any other text
)

// ParseStatuses returns the statuses. The caller owns the slice.
func ParseStatuses() []string {
	return []string{ParsedOK, ParsedYield, ParsedRange, ParsedVerbal, ParsedNoNumber, ParsedAmbiguous, ParsedNot}
}

// Parse says how a helper column is read from a text column of its table. It is zero for a column that is not a helper.
type Parse struct {
	Parser Parser
	From   string // name of the text column
	With   string // name of the column that helps to read the text: the currency or the pricing date; "" for none
	Part   string // the part of the parser's reading that the column contains
	Sign   string // the meaning of a positive number; "" if that is obvious
}

// The parts of a parser's reading.
const (
	PartStatus        = "status"
	PartBenchmark     = "benchmark"
	PartReference     = "reference"
	PartCSA           = "csa"
	PartBP            = "bp"
	PartLoBP          = "lo_bp"
	PartHiBP          = "hi_bp"
	PartPct           = "pct"
	PartLoPct         = "lo_pct"
	PartHiPct         = "hi_pct"
	PartYieldPct      = "yield_pct"
	PartYieldLoPct    = "yield_lo_pct"
	PartYieldHiPct    = "yield_hi_pct"
	PartPIKPct        = "pik_pct"
	PartStage         = "stage"
	PartQuality       = "quality"
	PartIndex         = "index"
	PartMarginBP      = "margin_bp"
	PartTenorYears    = "tenor_years"
	PartTenorQuality  = "tenor_quality"
	PartCallYears     = "call_years"
	PartPerpetual     = "perpetual"
	PartRateType      = "rate_type"
	PartForm          = "form"
	PartWillNotGrow   = "will_not_grow"
	PartAmount        = "amount"
	PartLo            = "lo"
	PartHi            = "hi"
	PartCurrency      = "currency"
	PartImplied       = "currency_implied"
	PartJLMAmount     = "jlm_amount"
	PartCover         = "cover"
	PartPrice         = "price"
	PartFeePct        = "fee_pct"
	PartDate          = "date"
	PartYear          = "year"
	PartMonth         = "month"
	PartSenior        = "senior"
	PartTotal         = "total"
	PartInstant       = "ts_utc"
	partParserVersion = "parser_version"
)

// outcome declares the helper column for one part of a parser's reading. offset is its number within the block of its
// text column, and never changes.
type outcome struct {
	offset int32
	part   string
	typ    Type
	unit   string
	sign   string
	doc    string
}

const (
	bp      = "basis points"
	percent = "percent"
	years   = "years"
	units   = "units of the parsed currency"
	wider   = "over the benchmark"
)

var spreadParts = []outcome{
	{1, PartBenchmark, Text, "", "", "Benchmark of the spread: UST, BUND, UKT, OAT, MS, EURIBOR, SOFR, SONIA, SARON, BBSW, LIBOR or another."},
	{2, PartBP, Price, bp, wider, "Spread, if the text gives one number; NULL for a range."},
	{3, PartLoBP, Price, bp, wider, "Lower end of the spread; the spread itself if the text gives one number."},
	{4, PartHiBP, Price, bp, wider, "Upper end of the spread; the spread itself if the text gives one number."},
	{5, PartReference, Text, "", "", "The benchmark's security as written, such as 2.5% Feb-34."},
}

var evolutionParts = []outcome{
	{1, PartStage, Text, "", "", "IPT, GUIDANCE, REVISED, FINAL, WHISPER or TALK, from the beginning of the text; NULL if it names no stage."},
	{2, PartBenchmark, Text, "", "", "Benchmark of the spread: UST, BUND, UKT, OAT, MS, EURIBOR, SOFR, SONIA, SARON, BBSW, LIBOR or another."},
	{3, PartBP, Price, bp, wider, "Spread, if the text gives one number; NULL for a range."},
	{4, PartLoBP, Price, bp, wider, "Lower end of the spread; the spread itself if the text gives one number."},
	{5, PartHiBP, Price, bp, wider, "Upper end of the spread; the spread itself if the text gives one number."},
	{6, PartYieldPct, Price, percent, "", "Yield, if the text gives one number; NULL for a range."},
	{7, PartYieldLoPct, Price, percent, "", "Lower end of the yield; the yield itself if the text gives one number."},
	{8, PartYieldHiPct, Price, percent, "", "Upper end of the yield; the yield itself if the text gives one number."},
	{9, PartQuality, Text, "", "", "AREA, WPIR (will price in range) or PLUS_MINUS; NULL if none applies."},
}

var nipParts = []outcome{
	{1, PartBP, Price, bp, "new issue premium: over fair value; negative is inside it", "Premium, if the text gives one number; NULL for a range."},
	{2, PartLoBP, Price, bp, "over fair value", "Lower end of the premium; the premium itself if the text gives one number."},
	{3, PartHiBP, Price, bp, "over fair value", "Upper end of the premium; the premium itself if the text gives one number."},
	{4, PartQuality, Text, "", "", "APPROXIMATE if the text says about; NULL otherwise."},
}

var yieldParts = []outcome{
	{1, PartPct, Price, percent, "", "Yield, if the text gives one number; NULL for a range."},
	{2, PartLoPct, Price, percent, "", "Lower end of the yield; the yield itself if the text gives one number."},
	{3, PartHiPct, Price, percent, "", "Upper end of the yield; the yield itself if the text gives one number."},
	{4, PartPIKPct, Price, percent, "", "Yield if interest is paid in kind."},
}

var couponParts = []outcome{
	{1, PartPct, Price, percent, "", "Rate of the coupon. Of a PIK toggle: the rate if paid in cash."},
	{2, PartPIKPct, Price, percent, "", "Rate of the coupon if interest is paid in kind."},
	{3, PartIndex, Text, "", "", "Index of a floating coupon: SOFR, EURIBOR or another."},
	{4, PartMarginBP, Price, bp, "over the index", "Margin of a floating coupon."},
}

var structureParts = []outcome{
	{1, PartTenorYears, Price, years, "", "Years to maturity; NULL for a perpetual."},
	{2, PartTenorQuality, Text, "", "", "LONG or SHORT, as in long 5yr; NULL if neither."},
	{3, PartCallYears, Price, years, "", "Years to the first call: the NC in 10NC5."},
	{4, PartPerpetual, Bool, "", "", "Whether the text says perpetual."},
	{5, PartRateType, Text, "", "", "FIXED, FLOATING, FIXED_TO_FLOATING or ZERO; NULL if the text does not say."},
	{6, PartForm, Text, "", "", "CALLABLE, AMORTISING or SINKER; NULL if the text does not say."},
	{7, PartWillNotGrow, Bool, "", "", "Whether the text says that the size will not grow."},
}

var volumeParts = []outcome{
	{1, PartAmount, Money, units, "", "Size, if the text gives one number; NULL for a range, a minimum or a maximum."},
	{2, PartLo, Money, units, "", "Lower end or minimum of the size; the size itself if the text gives one number."},
	{3, PartHi, Money, units, "", "Upper end or maximum of the size; the size itself if the text gives one number."},
	{4, PartCurrency, Text, "", "", "Currency that the text names; if it names none, the currency column's."},
	{5, PartImplied, Bool, "", "", "Whether the currency came from the currency column."},
	{6, PartQuality, Text, "", "", "EXPECTED, WNG (will not grow), MIN, MAX, AREA or BENCHMARK; NULL if none applies."},
}

var booksParts = []outcome{
	{1, PartAmount, Money, units, "", "Orders, if the text gives one number; NULL for a minimum."},
	{2, PartLo, Money, units, "", "Lower end or minimum of the orders; the orders themselves if the text gives one number."},
	{3, PartHi, Money, units, "", "Upper end or maximum of the orders; the orders themselves if the text gives one number."},
	{4, PartCurrency, Text, "", "", "Currency that the text names; if it names none, the currency column's."},
	{5, PartImplied, Bool, "", "", "Whether the currency came from the currency column."},
	{6, PartQuality, Text, "", "", "MIN, MAX or AREA; NULL if none applies."},
	{7, PartJLMAmount, Money, units, "", "Orders of the joint lead managers; they are part of the orders."},
	{8, PartCover, Price, "times the size", "", "Orders as a multiple of the size, if the text says that and no amount."},
}

var marginParts = []outcome{
	{1, PartBenchmark, Text, "", "", "Benchmark of the margin: SOFR, SONIA, EURIBOR, LIBOR or another. NULL if the text names none, or writes S+ in a currency other than USD and GBP."},
	{2, PartBP, Price, bp, "over the benchmark", "Margin, if the text gives one number; NULL for a range."},
	{3, PartLoBP, Price, bp, "over the benchmark", "Lower end of the margin; the margin itself if the text gives one number."},
	{4, PartHiBP, Price, bp, "over the benchmark", "Upper end of the margin; the margin itself if the text gives one number."},
	{5, PartCSA, Bool, "", "", "Whether a credit spread adjustment is added."},
}

var oidParts = []outcome{
	{1, PartPrice, Price, "percent of nominal", "", "Issue price, if the text gives one number; NULL for a range."},
	{2, PartLo, Price, "percent of nominal", "", "Lower end of the price; the price itself if the text gives one number."},
	{3, PartHi, Price, "percent of nominal", "", "Upper end of the price; the price itself if the text gives one number."},
	{4, PartFeePct, Price, percent, "", "Upfront fee, if the text gives one instead of a price."},
}

var maturityParts = []outcome{
	{1, PartDate, Date, "", "", "Day of maturity, if the text is a full date."},
	{2, PartYear, Int32, "", "", "Year of maturity, if the text names a date or a month."},
	{3, PartMonth, Int32, "", "", "Month of maturity, from 1, if the text names a date or a month."},
	{4, PartTenorYears, Price, years, "", "Years to maturity, if the text is a tenor."},
}

var leverageParts = []outcome{
	{1, PartSenior, Price, "times EBITDA", "", "Senior leverage, if the text gives senior and total leverage."},
	{2, PartTotal, Price, "times EBITDA", "", "Total leverage, also if the text gives only one figure."},
}

var pricingTimeParts = []outcome{
	{1, PartInstant, Timestamp, "", "", "When the deal priced, in UTC: its pricing date, and its time with the offset in the text."},
}

// helpers returns the helper columns of a text column. Each text column has a block of twenty numbers, which begins at
// 1000+20·block; the last one is its status.
func helpers(block int32, parser Parser, from, with string, parts []outcome, only ...string) []Column {
	base := 1000 + 20*block
	var columns []Column
	for _, o := range parts {
		if len(only) > 0 && !slices.Contains(only, o.part) {
			continue
		}
		columns = append(columns, Column{
			Number: base + o.offset, Name: from + "_" + o.part, Type: o.typ, Unit: o.unit, Doc: o.doc, Since: 2,
			Parse: Parse{Parser: parser, From: from, With: with, Part: o.part, Sign: o.sign},
		})
	}
	return append(columns, Column{
		Number: base + 19, Name: from + "_" + PartStatus, Type: Text, Since: 2,
		Doc:   "How the text of " + from + " was read: OK, OK_YIELD, RANGE, VERBAL, NO_NUMBER, AMBIGUOUS or UNPARSED; NULL if there is no text.",
		Parse: Parse{Parser: parser, From: from, With: with, Part: PartStatus},
	})
}

// helperColumns joins the helpers of a table's text columns. The last column is the version of the parsers.
func helperColumns(groups ...[]Column) []Column {
	return append(slices.Concat(groups...), Column{
		Number: 1000, Name: partParserVersion, Type: Int32, Since: 2,
		Doc:   "Version of the parsers that read the row's texts.",
		Parse: Parse{Part: partParserVersion},
	})
}

// IsHelper reports whether a parser fills the column from a text.
func (c *Column) IsHelper() bool { return c.Parse != Parse{} }

// IsParserVersion reports whether the column contains the version of the parsers.
func (c *Column) IsParserVersion() bool { return c.Parse.Part == partParserVersion }

// withoutReference are the parts of a spread without the benchmark's security, for texts that do not name one.
var withoutReference = []string{PartBenchmark, PartBP, PartLoBP, PartHiBP}

// renamed changes the name of one column. By default the name is made of text column and part.
func renamed(columns []Column, from, to string) []Column {
	for i := range columns {
		if columns[i].Name == from {
			columns[i].Name = to
		}
	}
	return columns
}
