package text

import (
	"bytes"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// quarter is a quarter of a year in millionths of a month. It limits tenors in months to whole quarters: other months have
// no short decimal in years and stay unread.
const quarter = 3_000_000

// mostMonths is the greatest number before a bare m that is months. More of them are hardly a tenor: 750m is a size.
var mostMonths = whole(60)

// mostTenorMonths is the greatest number of months that is a tenor: a century.
const mostTenorMonths = 1_200

// bankYears are the numbers of days that are a year. Banks lend for 364 days, because a year or more needs more capital.
var bankYears = [...]Number{whole(364), whole(365)}

var (
	yearWords  = []string{"yr", "y", "yrs", "yr.", "year", "years", "j.", "j", "jahre", "jahren", "jahr", "ans", "år", "años", "anni"}
	monthWords = []string{"mo", "mos", "mth", "mths", "month", "months", "monate", "monaten", "monat", "mois"}
	dayWords   = []string{"day", "days", "d"}
)

// timeUnit is the unit of a tenor.
type timeUnit uint8

const (
	unnamed timeUnit = iota
	inYears
	inMonths
	inDays
)

// duration reads a time and returns it in years, with the unit of the text: 7yr, 5 1/2 years, 18 months, 364-day.
func (s *scanner) duration() (n Number, in timeUnit, ok bool) {
	ahead := *s
	if n, ok = ahead.spelled(); !ok {
		n, ok = ahead.number(mixed)
	}
	if read := s.rest[:len(s.rest)-len(ahead.rest)]; !ok || bytes.IndexByte(read, ',') >= 0 { // 5,7yr: two tenors?
		return n, unnamed, false
	}
	if sum, found := ahead.joinedMonths(n); found {
		return sum, inYears, s.skipTo(ahead)
	}
	if !ahead.char('-') {
		ahead.space()
	}
	switch {
	case ahead.oneOf(yearWords...):
		in = inYears
	case ahead.oneOf(monthWords...), !mostMonths.less(n) && ahead.word("m"):
		if whole(mostTenorMonths).less(n) || !n.isMultipleOf(quarter) {
			return n, unnamed, false
		}
		quarters := decimal128.FromU64(n.Millionths.LowBits() / quarter)
		n, in = Number{quarters.Mul(decimal128.FromI64(250_000)), true}, inMonths
	case ahead.oneOf(dayWords...):
		if n != bankYears[0] && n != bankYears[1] {
			return n, unnamed, false
		}
		n, in = whole(1), inDays
	default:
		return n, unnamed, false
	}
	*s = ahead
	if in == inYears {
		n = s.andMonths(n)
	}
	return n, in, true
}

// andMonths reads the months after years, and returns the sum: 6yrs 9mths.
func (s *scanner) andMonths(years Number) Number {
	ahead := *s
	ahead.space()
	if ahead.oneOf("and", "&") {
		ahead.space()
	}
	months, count := ahead.count()
	if !ahead.char('-') {
		ahead.space()
	}
	if count == 0 || months%3 != 0 || months == 0 || months >= 12 || !ahead.oneOf(monthWords...) {
		return years
	}
	*s = ahead
	return years.plus(Number{decimal128.FromI64(months / 3 * 250_000), true})
}

// joinedMonths reads the years and months of a tenor in one word, after its first number, and returns the sum: 6y6m. It ends the text or a
// part of it: after 5y3m may come an index of three months, or a call.
func (s *scanner) joinedMonths(years Number) (sum Number, ok bool) {
	ahead := *s
	if !ahead.has("y") {
		return sum, false
	}
	months, count := ahead.count()
	if count == 0 || months%3 != 0 || months == 0 || months >= 12 || !ahead.oneOf("m", "mo", "mth", "mths") || !years.isMultipleOf(powers[scale]) {
		return sum, false
	}
	if !ahead.end() && ahead.rest[0] != ')' && ahead.rest[0] != ',' && ahead.rest[0] != ';' {
		return sum, false
	}
	return years.plus(Number{decimal128.FromI64(months / 3 * 250_000), true}), s.skipTo(ahead)
}

// years reads a time in years: 5yr, 5y, 5.5-year.
func (s *scanner) years() (n Number, ok bool) {
	ahead := *s
	n, in, ok := ahead.duration()
	return n, ok && in == inYears && s.skipTo(ahead)
}

// tenor reads a time in years, months or days and returns it in years.
func (s *scanner) tenor() (n Number, ok bool) {
	n, _, ok = s.duration()
	return n, ok
}
