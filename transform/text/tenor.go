package text

import "github.com/apache/arrow/go/v17/arrow/decimal128"

// monthsPerQuarter limits tenors in months to whole quarters of a year: other months have no short decimal in years and
// stay unread.
const monthsPerQuarter = 3

// mostMonths is the greatest number before a bare m that is months. More of them are hardly a tenor: 750m is a size.
const mostMonths = 60

// years reads a time in years: 5yr, 5y, 5.5-year.
func (s *scanner) years() (n Number, ok bool) {
	ahead := *s
	d, ok := ahead.digits()
	if !ok || d.comma { // 5,7yr: two tenors?
		return n, false
	}
	if !ahead.char('-') {
		ahead.space()
	}
	if !ahead.oneOf(yearWords...) {
		return n, false
	}
	if n, ok = d.times(0); ok {
		*s = ahead
	}
	return n, ok
}

var (
	yearWords  = []string{"yr", "y", "yrs", "yr.", "year", "years"}
	monthWords = []string{"mo", "mos", "mth", "mths", "month", "months"}
)

// tenor reads a time in years or months and returns it in years: 7yr, 5.5 years, 18 months.
func (s *scanner) tenor() (n Number, ok bool) {
	ahead := *s
	d, ok := ahead.digits()
	if !ok || d.comma { // 5,7yr: two tenors?
		return n, false
	}
	if !ahead.char('-') {
		ahead.space()
	}
	switch {
	case ahead.oneOf(yearWords...):
		n, ok = d.times(0)
	case d.fraction == 0 && d.mantissa%monthsPerQuarter == 0 && (ahead.oneOf(monthWords...) || d.mantissa <= mostMonths && ahead.word("m")):
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
