package lake

import "slices"

// ParserVersion is the version of the parsers that fill the helper columns. It rises when a parser reads a text
// differently. SchemaVersion rises with it, so that the log shows which files need a replay.
const ParserVersion = 7

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
	ParseLeverage    Parser = "leverage"     // 5.2x, 4.5x/6.0x, 5-5.5x
	ParsePricingTime Parser = "pricing_time" // 14:35+01:00, with the date of another column

	ParseMoodys           Parser = "rating_moodys"             // (P)Baa2, Baa2 (neg)
	ParseStandardAndPoors Parser = "rating_standard_and_poors" // BBB+/Sta, AA- (stable)
	ParseFitch            Parser = "rating_fitch"              // BBB(EXP), A+/RWN

	// Composite is no parser of a text: it joins what the parsers of ratings have read in a row.
	Composite Parser = "composite"
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
	OfDeal bool   // With is a column of the deal's own table, Table.DealsTable, and not of the text's
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

	PartBenchmarkIndex = "benchmark_index"
	PartBenchmarkTenor = "benchmark_tenor_years"
	PartBasis          = "basis"
	PartMeasure        = "measure"
	PartRank           = "rank"
	PartLabel          = "label"
	PartIncrease       = "increase"
	PartEquivalent     = "equivalent"
	PartReconciled     = "reconciled"
	PartIncludesJLM    = "includes_jlm"
	PartOID            = "oid"
	PartOIDLo          = "oid_lo"
	PartOIDHi          = "oid_hi"
	PartExtendedYears  = "extended_years"
	PartNet            = "net"
	PartNetSenior      = "net_senior"
	PartSeniorLo       = "senior_lo"
	PartSeniorHi       = "senior_hi"
	PartTotalLo        = "total_lo"
	PartTotalHi        = "total_hi"
	PartNetLo          = "net_lo"
	PartNetHi          = "net_hi"
	PartNetSeniorLo    = "net_senior_lo"
	PartNetSeniorHi    = "net_senior_hi"
	PartGrade          = "grade"
	PartNotch          = "notch"
	PartOutlook        = "outlook"
	PartWatch          = "watch"

	PartCompositeNotch = "composite_notch"
	PartCompositeGrade = "composite_grade"
	PartCompositeRule  = "composite_rule"
	PartWorstNotch     = "worst_notch"
	PartIsInvestment   = "is_investment_grade"
	PartMatchesGrade   = "matches_grade"
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
	since  int // the schema version that added the column
}

const (
	bp      = "basis points"
	percent = "percent"
	years   = "years"
	units   = "units of the parsed currency"
	wider   = "over the benchmark"
)

var spreadParts = []outcome{
	{1, PartBenchmark, Text, "", "", "Benchmark of the spread: a government (UST, BUND, UKT, OAT …), G_SPREAD, MS for swaps of every kind, ASW, or the index of a floating rate (SOFR, EURIBOR …). NULL if the text does not settle it.", 2},
	{2, PartBP, Price, bp, wider, "Spread, if the text gives one number; NULL for a range.", 2},
	{3, PartLoBP, Price, bp, wider, "Lower end of the spread; the spread itself if the text gives one number.", 2},
	{4, PartHiBP, Price, bp, wider, "Upper end of the spread; the spread itself if the text gives one number.", 2},
	{5, PartReference, Text, "", "", "The benchmark's security as written, such as 2.5% Feb-34.", 2},
	{6, PartBenchmarkIndex, Text, "", "", "Rate index of the benchmark, if the text names one: SOFR of SOFR MS+60, and of SOFR+78.", 4},
	{7, PartBenchmarkTenor, Price, years, "", "Tenor of the benchmark, if the text names one: 5 of 5yr MS+95 and of CT5 +110.", 4},
}

var evolutionParts = []outcome{
	{1, PartStage, Text, "", "", "IPT, GUIDANCE, REVISED, FINAL, WHISPER or TALK: of the price that is read, or from the beginning of a text that is not. NULL if it names no stage.", 2},
	{2, PartBenchmark, Text, "", "", "Benchmark of the spread: a government (UST, BUND, UKT, OAT …), G_SPREAD, MS for swaps of every kind, ASW, or the index of a floating rate (SOFR, EURIBOR …). NULL if the text does not settle it.", 2},
	{3, PartBP, Price, bp, wider, "Spread, if the text gives one number; NULL for a range.", 2},
	{4, PartLoBP, Price, bp, wider, "Lower end of the spread; the spread itself if the text gives one number.", 2},
	{5, PartHiBP, Price, bp, wider, "Upper end of the spread; the spread itself if the text gives one number.", 2},
	{6, PartYieldPct, Price, percent, "", "Yield, if the text gives one number; NULL for a range.", 2},
	{7, PartYieldLoPct, Price, percent, "", "Lower end of the yield; the yield itself if the text gives one number.", 2},
	{8, PartYieldHiPct, Price, percent, "", "Upper end of the yield; the yield itself if the text gives one number.", 2},
	{9, PartQuality, Text, "", "", "AREA, WPIR (will price in range) or PLUS_MINUS; NULL if none applies.", 2},
	{10, PartBenchmarkIndex, Text, "", "", "Rate index of the benchmark, if the text names one: SOFR of SOFR MS+60, and of SOFR+78.", 4},
	{11, PartBenchmarkTenor, Price, years, "", "Tenor of the benchmark, if the text names one: 5 of 5yr MS+95 and of CT5 +110.", 4},
	{12, PartBasis, Text, "", "", "What the talk is in: SPREAD, MARGIN (over an index of floating rates) or YIELD; NULL if no number was read.", 4},
}

var nipParts = []outcome{
	{1, PartBP, Price, bp, "new issue premium: over fair value; negative is inside it", "Premium, if the text gives one number; NULL for a range.", 2},
	{2, PartLoBP, Price, bp, "over fair value", "Lower end of the premium; the premium itself if the text gives one number.", 2},
	{3, PartHiBP, Price, bp, "over fair value", "Upper end of the premium; the premium itself if the text gives one number.", 2},
	{4, PartQuality, Text, "", "", "APPROXIMATE if the text says about, MIN or MAX of a limit; NULL otherwise.", 2},
}

var yieldParts = []outcome{
	{1, PartPct, Price, percent, "", "Yield, if the text gives one number; NULL for a range.", 2},
	{2, PartLoPct, Price, percent, "", "Lower end of the yield; the yield itself if the text gives one number.", 2},
	{3, PartHiPct, Price, percent, "", "Upper end of the yield; the yield itself if the text gives one number.", 2},
	{4, PartPIKPct, Price, percent, "", "Yield if interest is paid in kind.", 2},
	{5, PartQuality, Text, "", "", "AREA, APPROXIMATE, PLUS_MINUS, MIN or MAX; NULL if none applies.", 4},
	{6, PartMeasure, Text, "", "", "YTW (to worst), YTM (to maturity) or YTC (to call), if the text says so.", 4},
}

var couponParts = []outcome{
	{1, PartPct, Price, percent, "", "Rate of the coupon. Of a PIK toggle: the rate if paid in cash.", 2},
	{2, PartPIKPct, Price, percent, "", "Rate of the coupon if interest is paid in kind; of 9% cash + 2% PIK the part that is paid in kind besides the cash.", 2},
	{3, PartIndex, Text, "", "", "Index of a floating coupon: SOFR, EURIBOR or another.", 2},
	{4, PartMarginBP, Price, bp, "over the index", "Margin of a floating coupon.", 2},
}

var structureParts = []outcome{
	{1, PartTenorYears, Price, years, "", "Years to maturity; NULL for a perpetual.", 2},
	{2, PartTenorQuality, Text, "", "", "LONG or SHORT, as in long 5yr; NULL if neither.", 2},
	{3, PartCallYears, Price, years, "", "Years to the first call: the NC in 10NC5.", 2},
	{4, PartPerpetual, Bool, "", "", "Whether the text says perpetual.", 2},
	{5, PartRateType, Text, "", "", "FIXED, FLOATING, FIXED_TO_FLOATING or ZERO; NULL if the text does not say.", 2},
	{6, PartForm, Text, "", "", "CALLABLE, AMORTISING or SINKER; NULL if the text does not say.", 2},
	{7, PartWillNotGrow, Bool, "", "", "Whether the text says that the size will not grow.", 2},
	{8, PartRank, Text, "", "", "Rank, if the text names one: COVERED, FIRST_LIEN, SECOND_LIEN, SENIOR_SECURED, SENIOR_PREFERRED, SENIOR, SENIOR_UNSECURED, SENIOR_NON_PREFERRED, SENIOR_SUBORDINATED, SUBORDINATED, JUNIOR_SUBORDINATED, T2, RT1, AT1, T1 or HYBRID.", 4},
	{9, PartLabel, Text, "", "", "Label, if the text names one: GREEN, SOCIAL, SUSTAINABILITY, SUSTAINABILITY_LINKED, BLUE or TRANSITION.", 4},
}

var volumeParts = []outcome{
	{1, PartAmount, Money, units, "", "Size, if the text gives one number; NULL for a range, a minimum or a maximum.", 2},
	{2, PartLo, Money, units, "", "Lower end or minimum of the size; the size itself if the text gives one number.", 2},
	{3, PartHi, Money, units, "", "Upper end or maximum of the size; the size itself if the text gives one number.", 2},
	{4, PartCurrency, Text, "", "", "Currency that the text names; if it names none, the currency column's.", 2},
	{5, PartImplied, Bool, "", "", "Whether the currency came from the currency column.", 2},
	{6, PartQuality, Text, "", "", "EXPECTED, WNG (will not grow), MIN, MAX, AREA or BENCHMARK; NULL if none applies.", 2},
	{7, PartIncrease, Bool, "", "", "Whether the text says that the size is that of an increase (tap).", 4},
	{8, PartEquivalent, Bool, "", "", "Whether the text says that the size is an equivalent, converted from other currencies.", 4},
}

var booksParts = []outcome{
	{1, PartAmount, Money, units, "", "Orders, if the text gives one number; NULL for a minimum.", 2},
	{2, PartLo, Money, units, "", "Lower end or minimum of the orders; the orders themselves if the text gives one number.", 2},
	{3, PartHi, Money, units, "", "Upper end or maximum of the orders; the orders themselves if the text gives one number.", 2},
	{4, PartCurrency, Text, "", "", "Currency that the text names; if it names none, the currency column's.", 2},
	{5, PartImplied, Bool, "", "", "Whether the currency came from the currency column.", 2},
	{6, PartQuality, Text, "", "", "MIN, MAX or AREA; NULL if none applies.", 2},
	{7, PartJLMAmount, Money, units, "", "Orders of the joint lead managers; they are part of the orders.", 2},
	{8, PartCover, Price, "times the size", "", "Orders as a multiple of the size, if the text says that.", 2},
	{9, PartEquivalent, Bool, "", "", "Whether the text says that the orders are an equivalent, converted from other currencies.", 4},
	{10, PartReconciled, Bool, "", "", "Whether the orders are reconciled; NULL if the text does not say.", 4},
	{11, PartIncludesJLM, Bool, "", "", "Whether the orders include those of the joint lead managers; NULL if the text does not say.", 4},
}

var marginParts = []outcome{
	{1, PartBenchmark, Text, "", "", "Benchmark of the margin: SOFR, SONIA, EURIBOR, LIBOR or another. NULL if the text names none, or a letter that the currency does not settle: S+ in EUR.", 2},
	{2, PartBP, Price, bp, "over the benchmark", "Margin, if the text gives one number; NULL for a range.", 2},
	{3, PartLoBP, Price, bp, "over the benchmark", "Lower end of the margin; the margin itself if the text gives one number.", 2},
	{4, PartHiBP, Price, bp, "over the benchmark", "Upper end of the margin; the margin itself if the text gives one number.", 2},
	{5, PartCSA, Bool, "", "", "Whether a credit spread adjustment is added. NULL if the margin includes one.", 2},
	{6, PartQuality, Text, "", "", "AREA or APPROXIMATE; NULL if neither applies.", 4},
	{7, PartOID, Price, "percent of nominal", "", "Issue price after the margin, if the text gives one number: 99.5 of S+325/99.5.", 4},
	{8, PartOIDLo, Price, "percent of nominal", "", "Lower end of that price; the price itself if the text gives one number.", 4},
	{9, PartOIDHi, Price, "percent of nominal", "", "Upper end of that price; the price itself if the text gives one number.", 4},
}

var oidParts = []outcome{
	{1, PartPrice, Price, "percent of nominal", "", "Issue price, if the text gives one number; NULL for a range.", 2},
	{2, PartLo, Price, "percent of nominal", "", "Lower end of the price; the price itself if the text gives one number.", 2},
	{3, PartHi, Price, "percent of nominal", "", "Upper end of the price; the price itself if the text gives one number.", 2},
	{4, PartFeePct, Price, percent, "", "Upfront fee, if the text gives one instead of a price.", 2},
	{5, PartQuality, Text, "", "", "AREA, APPROXIMATE, MIN or MAX; NULL if none applies.", 4},
}

var maturityParts = []outcome{
	{1, PartDate, Date, "", "", "Day of maturity, if the text is a full date.", 2},
	{2, PartYear, Int32, "", "", "Year of maturity, if the text names a date, a month or a year.", 2},
	{3, PartMonth, Int32, "", "", "Month of maturity, from 1, if the text names a date or a month.", 2},
	{4, PartTenorYears, Price, years, "", "Years to maturity, if the text is a tenor.", 2},
	{5, PartExtendedYears, Price, years, "", "Years to maturity with all options to extend: 7 of 5yr (5+1+1).", 4},
}

var leverageParts = []outcome{
	{1, PartSenior, Price, "times EBITDA", "", "Senior or senior secured leverage, if the text gives one number for it; NULL for a range. Gross, or not said to be net.", 2},
	{2, PartTotal, Price, "times EBITDA", "", "Total leverage, also if the text gives only one figure; NULL for a range. Gross, or not said to be net.", 2},
	{3, PartNet, Price, "times EBITDA", "", "Net leverage: total debt less cash; NULL for a range.", 4},
	{4, PartNetSenior, Price, "times EBITDA", "", "Net senior leverage; NULL for a range.", 4},
	{5, PartQuality, Text, "", "", "APPROXIMATE, MIN or MAX; NULL if none applies.", 4},
	{6, PartSeniorLo, Price, "times EBITDA", "", "Lower end of the senior leverage; the leverage itself if the text gives one number.", 5},
	{7, PartSeniorHi, Price, "times EBITDA", "", "Upper end of the senior leverage; the leverage itself if the text gives one number.", 5},
	{8, PartTotalLo, Price, "times EBITDA", "", "Lower end of the total leverage; the leverage itself if the text gives one number.", 5},
	{9, PartTotalHi, Price, "times EBITDA", "", "Upper end of the total leverage; the leverage itself if the text gives one number.", 5},
	{10, PartNetLo, Price, "times EBITDA", "", "Lower end of the net leverage; the leverage itself if the text gives one number.", 5},
	{11, PartNetHi, Price, "times EBITDA", "", "Upper end of the net leverage; the leverage itself if the text gives one number.", 5},
	{12, PartNetSeniorLo, Price, "times EBITDA", "", "Lower end of the net senior leverage; the leverage itself if the text gives one number.", 5},
	{13, PartNetSeniorHi, Price, "times EBITDA", "", "Upper end of the net senior leverage; the leverage itself if the text gives one number.", 5},
}

var pricingTimeParts = []outcome{
	{1, PartInstant, Timestamp, "", "", "When the deal priced, in UTC: its pricing date, and its time with the offset in the text.", 2},
}

var ratingParts = []outcome{
	{1, PartGrade, Text, "", "", "Rating in the agency's scale, without outlook and marks: Baa2, BBB+, CCC-.", 4},
	{2, PartNotch, Int32, "", "", "Place of the rating, from 1 (Aaa, AAA) to 22 (default). 10 is the last of investment grade.", 4},
	{3, PartOutlook, Text, "", "", "POSITIVE, STABLE, NEGATIVE or DEVELOPING, if the text names an outlook.", 4},
	{4, PartWatch, Text, "", "", "POSITIVE, NEGATIVE or DEVELOPING, if the rating is under review for a change in that direction; UNKNOWN if the text names no direction.", 4},
}

// compositeParts are read from the ratings of three agencies, and compared with a column of the grade.
var compositeParts = []outcome{
	{1, PartCompositeNotch, Int32, "", "", "One notch of all agencies, from 1 to 22: of three the middle one, of two the worse one, or the only one. NULL if no agency has a rating, or if a text was not read that could change it.", 4},
	{2, PartCompositeGrade, Text, "", "", "That notch in the scale of Standard & Poor's.", 4},
	{3, PartCompositeRule, Text, "", "", "How the notch was chosen: MEDIAN of three ratings, WORST of two, or ONLY one. UNREAD if an agency's text is there and was not read; a notch next to that is of two equal ratings, which no third one changes.", 4},
	{4, PartWorstNotch, Int32, "", "", "The worst notch of the agencies, from 1 to 22; NULL if a text was not read.", 4},
	{5, PartIsInvestment, Bool, "", "", "Whether the composite notch is investment grade: 10 or better.", 4},
	{6, PartMatchesGrade, Bool, "", "", "Whether that agrees with the grade column; NULL if either says nothing.", 4},
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
			Number: base + o.offset, Name: from + "_" + o.part, Type: o.typ, Unit: o.unit, Doc: o.doc, Since: o.since,
			Parse: Parse{Parser: parser, From: from, With: with, Part: o.part, Sign: o.sign},
		})
	}
	return append(columns, Column{
		Number: base + 19, Name: from + "_" + PartStatus, Type: Text, Since: parts[0].since,
		Doc:   "How the text of " + from + " was read: OK, OK_YIELD, RANGE, VERBAL, NO_NUMBER, AMBIGUOUS or UNPARSED; NULL if there is no text.",
		Parse: Parse{Parser: parser, From: from, With: with, Part: PartStatus},
	})
}

// readWithDeal makes the columns of a text be read with a column of the deal's own table.
func readWithDeal(columns []Column, with string) []Column {
	for i := range columns {
		columns[i].Parse.With, columns[i].Parse.OfDeal = with, true
	}
	return columns
}

// ratings returns the helper columns of the ratings of three agencies: those of each, and their composite. They take four
// blocks from the given one on. prefix is the common start of the text columns' names, grade the column that the composite
// is compared with; "" for none.
func ratings(block int32, prefix, grade string) []Column {
	var columns []Column
	for i, agency := range agencies {
		columns = append(columns, helpers(block+int32(i), agency.parser, prefix+agency.suffix, "", ratingParts)...)
	}
	for _, o := range compositeParts {
		if o.part == PartMatchesGrade && grade == "" {
			continue
		}
		columns = append(columns, Column{
			Number: 1000 + 20*(block+int32(len(agencies))) + o.offset, Name: prefix + "_" + o.part, Type: o.typ, Doc: o.doc, Since: o.since,
			Parse: Parse{Parser: Composite, From: prefix, With: grade, Part: o.part},
		})
	}
	return columns
}

// agencies are the agencies whose ratings deals have: the end of the names of their columns, and the parser of their
// scale.
var agencies = []struct {
	suffix string
	parser Parser
}{{"_moodys", ParseMoodys}, {"_standard_and_poors", ParseStandardAndPoors}, {"_fitch", ParseFitch}}

// RatingColumns returns the names of the text columns of the three agencies. The caller owns the slice.
func RatingColumns(prefix string) []string {
	names := make([]string, len(agencies))
	for i, agency := range agencies {
		names[i] = prefix + agency.suffix
	}
	return names
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

// StatusesSince returns the schema version from which on files have the status of each text that a parser reads; 0 for a table
// without such texts. In these files a text that is not NULL has a status.
func (t *Table) StatusesSince() (version int) {
	for i := range t.Helpers {
		if t.Helpers[i].Parse.Part == PartStatus {
			version = max(version, t.Helpers[i].Since)
		}
	}
	return version
}

// ParsedText is a text column that a parser reads, and the column with the status of each reading.
type ParsedText struct{ Text, Status string }

// ParsedTexts returns the table's text columns that a parser reads, in the order of their helper columns.
func (t *Table) ParsedTexts() (all []ParsedText) {
	for i := range t.Helpers {
		if c := &t.Helpers[i]; c.Parse.Part == PartStatus {
			all = append(all, ParsedText{c.Parse.From, c.Name})
		}
	}
	return all
}

// IsComposite reports whether the column joins the ratings of several text columns. Its Parse.From is then the common
// start of their names.
func (c *Column) IsComposite() bool { return c.Parse.Parser == Composite }

// withoutReference are the parts of a spread without the benchmark's security, for texts that do not name one.
var withoutReference = []string{PartBenchmark, PartBP, PartLoBP, PartHiBP, PartBenchmarkIndex, PartBenchmarkTenor}

// renamed changes the name of one column. By default the name is made of text column and part.
func renamed(columns []Column, from, to string) []Column {
	for i := range columns {
		if columns[i].Name == from {
			columns[i].Name = to
		}
	}
	return columns
}
