package text

import (
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"dealflow/schemas/lake"
)

// Reading is the result of a parser. If the text does not name a part, or the parser has no such part, a text is nil, a
// number is not set and a flag is Unknown. Texts are shared constants or parts of the input: do not modify them.
type Reading struct {
	Status []byte // one of lake.ParseStatuses
	Failed bool   // the parser has a fault: it broke off, and the text is UNPARSED

	Main    Range  // the parser's main value: a spread, premium, yield, size or price
	Yield   Range  // a yield given instead of a spread, percent
	PIK     Number // yield or rate if interest is paid in kind, percent
	Margin  Number // of a floating coupon, basis points
	Fee     Number // percent
	JLM     Number // orders of the joint lead managers, units of the currency
	Cover   Number // times the size
	Tenor   Number // years
	Call    Number // years
	Date    Integer
	Year    Integer
	Month   Integer
	Instant Integer // microseconds since 1970-01-01T00:00:00Z
	Notch   Integer // of a rating: 1 is the best

	Issue          Range  // issue price after a margin, percent of nominal
	BenchmarkTenor Number // years
	Extended       Number // years, with all options to extend

	Senior    Range // times
	Total     Range // times
	Net       Range // times
	NetSenior Range // times

	Benchmark []byte
	Reference []byte
	Stage     []byte
	Quality   []byte
	RateType  []byte
	Form      []byte
	Length    []byte // LONG or SHORT, of a tenor
	Currency  []byte
	Index     []byte // rate index of the benchmark
	Basis     []byte // what price talk is in: SPREAD, MARGIN or YIELD
	Measure   []byte // what a yield is to: YTW, YTM or YTC
	Rank      []byte
	Label     []byte
	Grade     []byte // a rating in its agency's scale
	Outlook   []byte
	Watch     []byte

	Bullet bool // of a structure: it is repaid at once, at the end

	Composite Composite // of the ratings of a row: no parser sets it

	CSA, Perpetual, WillNotGrow, Implied Flag
	Increase, Equivalent                 Flag // of a size
	Reconciled, IncludesJLM              Flag // of orders
}

// Number is a decimal in millionths, the scale of all columns that parsers fill.
type Number struct {
	Millionths decimal128.Num
	Set        bool
}

// Integer is an integer that may be unset.
type Integer struct {
	Value int64
	Set   bool
}

// Flag is yes, no or unknown.
type Flag uint8

// The flags.
const (
	Unknown Flag = iota
	No
	Yes
)

func flag(yes bool) Flag {
	if yes {
		return Yes
	}
	return No
}

// Range is one number, or an interval. A single number sets all three fields, an interval only Lo and Hi, a minimum
// only Lo, a maximum only Hi. Lo ≤ Point ≤ Hi if they are set.
type Range struct{ Point, Lo, Hi Number }

// exactly returns the range of a single number.
func exactly(n Number) Range { return Range{n, n, n} }

// hundredfold returns a range in percent as basis points.
func (r *Range) hundredfold() Range {
	times := func(n Number) Number { return Number{n.Millionths.Mul(hundred), n.Set} }
	return Range{times(r.Point), times(r.Lo), times(r.Hi)}
}

// isRange reports whether the range is an interval: two ends and no point.
func (r *Range) isRange() bool { return r.Lo.Set && r.Hi.Set && !r.Point.Set }

// The statuses as cells contain them.
var (
	statusOK        = []byte(lake.ParsedOK)
	statusYield     = []byte(lake.ParsedYield)
	statusRange     = []byte(lake.ParsedRange)
	statusVerbal    = []byte(lake.ParsedVerbal)
	statusNoNumber  = []byte(lake.ParsedNoNumber)
	statusAmbiguous = []byte(lake.ParsedAmbiguous)
	statusUnparsed  = []byte(lake.ParsedNot)
)

// statusOf returns the status of a text that was read: RANGE for an interval, else OK.
func statusOf(r *Range) []byte {
	if r.isRange() {
		return statusRange
	}
	return statusOK
}

// verdict is the result of a part of a grammar.
type verdict uint8

const (
	no        verdict = iota // the text is something else
	yes                      // read
	ambiguous                // the text has more than one reading
)
