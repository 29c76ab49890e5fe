package text

import "github.com/apache/arrow/go/v17/arrow/decimal128"

// monthsPerQuarter limits tenors in months to whole quarters of a year: other months have no short decimal in years and
// stay unread.
const monthsPerQuarter = 3

// tenor reads a time in years or months and returns it in years: 7yr, 5.5 years, 18 months.
func (s *scanner) tenor() (n Number, ok bool) {
	ahead := *s
	d, ok := ahead.digits()
	if !ok {
		return n, false
	}
	if !ahead.char('-') {
		ahead.space()
	}
	switch {
	case ahead.oneOf("yr", "y", "yrs", "year", "years"):
		n, ok = d.times(0)
	case ahead.oneOf("m", "mo", "mth", "mths", "month", "months") && d.fraction == 0 && d.mantissa%monthsPerQuarter == 0:
		quarters := decimal128.FromU64(d.mantissa / monthsPerQuarter)
		n = Number{quarters.Mul(decimal128.FromI64(250_000)), true}
	default:
		return n, false
	}
	if ok {
		*s = ahead
	}
	return n, ok
}
