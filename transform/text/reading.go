package text

import (
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"dealflow/schemas/lake"
)

// Reading is what a parser makes of a text. Texts are nil, numbers not set and flags unknown where the
// text does not say, or where the parser has no such part. Texts are shared constants or parts of the
// input: nobody changes them.
type Reading struct {
	Status []byte // one of lake.ParseStatuses

	Main    Range  // what the parser is for: a spread, premium, yield, size, price
	Yield   Range  // where a spread might stand, percent
	PIK     Number // yield or rate if interest is paid in kind, percent
	Margin  Number // of a floating coupon, basis points
	Fee     Number // percent
	JLM     Number // orders of the joint lead managers, units of the currency
	Cover   Number // times the size
	Tenor   Number // years
	Call    Number // years
	Senior  Number // times
	Total   Number // times
	Date    Integer
	Year    Integer
	Month   Integer
	Instant Integer // microseconds since 1970-01-01T00:00:00Z

	Benchmark []byte
	Reference []byte
	Stage     []byte
	Quality   []byte
	RateType  []byte
	Form      []byte
	Length    []byte // LONG or SHORT, of a tenor
	Currency  []byte

	CSA, Perpetual, WillNotGrow, Implied Flag
}

// Number is a decimal in millionths, the scale of all columns that parsers fill.
type Number struct {
	Millionths decimal128.Num
	Set        bool
}

// Integer is a whole number.
type Integer struct {
	Value int64
	Set   bool
}

// Flag is a yes or no, or neither.
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

// Range is one number or what lies between two: a single number fills all three, a range only Lo and
// Hi, a minimum only Lo, a maximum only Hi. Lo ≤ Point ≤ Hi where they are set.
type Range struct{ Point, Lo, Hi Number }

// exactly is the range of a single number.
func exactly(n Number) Range { return Range{n, n, n} }

// isRange says whether there are two ends and no point.
func (r *Range) isRange() bool { return r.Lo.Set && r.Hi.Set && !r.Point.Set }

// The statuses as cells hold them.
var (
	statusOK        = []byte(lake.ParsedOK)
	statusYield     = []byte(lake.ParsedYield)
	statusRange     = []byte(lake.ParsedRange)
	statusVerbal    = []byte(lake.ParsedVerbal)
	statusNoNumber  = []byte(lake.ParsedNoNumber)
	statusAmbiguous = []byte(lake.ParsedAmbiguous)
	statusUnparsed  = []byte(lake.ParsedNot)
)

// statusOf is the status of a text that was read: RANGE for two ends, else OK.
func statusOf(r *Range) []byte {
	if r.isRange() {
		return statusRange
	}
	return statusOK
}

// verdict is how a part of a grammar ended.
type verdict uint8

const (
	no        verdict = iota // the text is something else
	yes                      // read
	ambiguous                // the text has more than one reading
)
