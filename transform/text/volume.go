package text

import "bytes"

// Words about a size, as desks write them.
var (
	expectedWords   = []string{"expected size", "expected", "exp.", "exp", "indicative size", "indicative", "initial size", "target size", "target"}
	wngWords        = []string{"wng", "will not grow", "will-not-grow", "won't grow", "no-grow", "no grow", "no growth", "not growing", "fixed size", "size fixed", "will not be upsized", "will not be increased", "no upsize", "capped"}
	increaseWords   = []string{"tap", "increase", "add-on", "reopening", "re-opening", "fungible tap", "fungible add-on", "aufstockung"}
	equivalentWords = []string{"equivalent", "equiv.", "equiv", "eq.", "eq", "-equivalent", "-equiv", "-eq"}
	resizedWords    = []string{"upsized to", "increased to", "downsized to", "raised to", "cut to", "set at", "upsized", "downsized", "size set at", "size", "deal size", "final size"}
	offeringWords   = []string{"144a/reg s", "144a / reg s", "144a/regs", "reg s/144a", "regs/144a", "144a", "reg s only", "reg s", "regs", "sec-registered", "sec registered", "sec reg", "green", "social", "fixed", "fxd", "frn", "dim sum", "formosa", "sukuk", "panda", "samurai", "kangaroo", "exact", "firm", "with increase option", "increase option", "may be increased", "can be increased", "upsize possible", "potential upsize", "upsize potential", "3(a)(2)", "3(a)2", "3a2", "subject to upsize", "debut", "inaugural", "sustainability", "sustainable"}
	benchmarkWords  = []string{"sub-bmk", "sub bmk", "sub-bench", "sub bench", "sub-benchmark-sized", "sub-benchmark", "sub benchmark", "benchmark-sized", "benchmark sized", "benchmark size", "benchmark", "bmk", "bench", "bmark"}
)

// movedWords say that a size has changed, or is settled: it is then no range.
var movedWords = []string{"upsized", "downsized", "increased", "launched", "final"}

// parseVolume reads a size: USD500m (expected), EUR500m WNG, USD300m-500m, GBP250m+, up to USD400m, EUR benchmark. A
// size without a currency gets that of the currency column.
func parseVolume(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	v := s.volume(siblings, r)
	if v == yes && r.Main.isRange() && saysAny(text, movedWords) { // EUR500m to EUR600m upsized: from the first to the second?
		v = ambiguous
	}
	if v == yes && s.end() && amountBounds.containAll(&r.Main) && (smallUnits[string(r.Currency)] || largeBounds.containAll(&r.Main)) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{}
	s = scanner{text}
	named, sign := s.currency(siblings.Currency)
	switch {
	case sign != yes:
		r.Status = unread(text, sign)
	case s.onlyBenchmark():
		r.chooseCurrency(named, siblings)
		r.Status, r.Quality = statusNoNumber, qualityBenchmark
	case named != nil && !s.end() && saysNothing(s.rest):
		r.chooseCurrency(named, siblings)
		r.Status = statusNoNumber
	default:
		r.Status = unread(text, v)
	}
}

func (s *scanner) volume(siblings Siblings, r *Reading) verdict {
	var q qualifier
	r.Increase, r.Equivalent = No, No
	resized := false
	s.tenorBefore()
	expected, wng := s.oneOf(expectedWords...), false
	if !expected && s.oneOf(increaseWords...) {
		r.Increase = Yes
		s.space()
		s.oneOf("of")
	} else if grown := *s; !expected && grown.oneOf("upsized", "downsized") && grown.anySize(siblings.Currency) { // upsized EUR250m: to it, or by it?
		return ambiguous
	} else if grown = *s; !expected && grown.oneOf("upsized by", "increased by", "downsized by") && grown.oneSize(siblings.Currency) && grown.has(" to ") { // to the new size
		*s, resized = grown, true
	} else if wng = !expected && !begins(s.rest, "capped at") && s.oneOf(wngWords...); !expected && !wng && !s.resized(&resized) && s.oneOf(equivalentWords...) {
		r.Equivalent = Yes
		s.space()
		s.oneOf("of", "to")
	}
	s.char(':')
	s.space()
	s.benchmarkSize(siblings.Currency)
	named, v := s.limitedSize(siblings.Currency, &q, r)
	if r.chooseCurrency(named, siblings); v != yes {
		return v
	}
	if r.Currency == nil {
		return no
	}
	s.upToMost(siblings.Currency, &q, r)
	var list remarkList
	for more := true; more; {
		ahead, inside := list.next(*s)
		switch {
		case ahead.oneOf(expectedWords...):
			expected = true
		case ahead.oneOf(wngWords...):
			wng = true
		case r.Increase == No && ahead.oneOf(increaseWords...):
			r.Increase = Yes
			ahead.increased()
		case r.Increase == Yes && ahead.lineAfter(siblings.Currency): // tap (to EUR1.3bn)
		case r.Equivalent == No && ahead.oneOf(equivalentWords...):
			r.Equivalent = Yes
		case inside && !list.open && ahead.inOther(siblings, r), ahead.retained(siblings.Currency, r), ahead.oversubscriptions(siblings.Currency, r), ahead.denominations(siblings.Currency, inside):
		case ahead.oneOf(offeringWords...), ahead.oneOf(benchmarkWords...), ahead.otherSize(siblings.Currency, r), inside && ahead.oneOf("total"), !s.addsWord() && q.after(&ahead):
		default:
			more = false
		}
		if more {
			list.take(s, ahead, inside)
		}
	}
	if list.open {
		return no
	}
	if (r.Increase == Yes || resized) && r.Main.isRange() { // from the size before to the one after, or by the first?
		return ambiguous
	}
	r.Quality, v = q.apply(&r.Main)
	switch {
	case v == yes && wng && q.least: // the text says that the size will not grow, and that it may be more
		return ambiguous
	case r.Quality == nil && wng:
		r.Quality = qualityWNG
	case r.Quality == nil && expected:
		r.Quality = qualityExpected
	}
	return v
}

// addsWord reports whether a plus between spaces and a word are next. What is added to the size has no number: EUR500m + FRN.
func (s *scanner) addsWord() bool {
	next := *s
	spaced := next.char(' ')
	if !next.char('+') || next.char(' ') && !spaced || next.end() || !isLetter(next.rest[0]) {
		return false
	}
	for _, words := range [][]string{leastAfter, expectedWords, benchmarkWords, equivalentWords, {"area", "a"}} {
		if next.oneOf(words...) {
			return false
		}
	}
	return true
}

// resized skips a word that the size has changed, and sets found.
func (s *scanner) resized(found *bool) bool {
	*found = s.oneOf(resizedWords...)
	return *found
}

// limitedSize reads a size with a limit or the word for an equivalent before it, or between it and its currency: CHF min 100m,
// USD-equiv 400m.
func (s *scanner) limitedSize(column []byte, q *qualifier, r *Reading) (currency []byte, v verdict) {
	q.before(s)
	if currency, v = s.currency(column); v != yes {
		return currency, v
	}
	if ahead := *s; currency != nil && *q == (qualifier{}) && !s.end() && !isDigit(s.rest[0]) {
		if r.Equivalent == No && ahead.oneOf(equivalentWords...) {
			r.Equivalent = Yes
			ahead.space()
		}
		q.before(&ahead)
		*s = ahead
	}
	return s.sizeIn(currency, column, &r.Main)
}

// upToMost reads the most that a size may be, after the least: min 500m, max 750m.
func (s *scanner) upToMost(column []byte, q *qualifier, r *Reading) {
	ahead := *s
	ahead.char(',')
	ahead.space()
	var most Range
	if !q.least || !r.Main.Point.Set || !ahead.oneOf("max.", "maximum", "max", "up to") {
		return
	}
	ahead.space()
	named, v := ahead.size(column, &most)
	if v == yes && most.Point.Set && r.Main.Lo.less(most.Hi) && (named == nil || string(named) == string(r.Currency)) {
		*s, r.Main, *q = ahead, Range{Lo: r.Main.Lo, Hi: most.Hi}, qualifier{}
	}
}

// tenorBefore skips the tenor of what has the size, before its currency: 5yr EUR500m.
func (s *scanner) tenorBefore() {
	ahead := *s
	if _, ok := ahead.years(); !ok || !ahead.char(' ') {
		return
	}
	size := ahead
	if named, v := size.currency(nil); v == yes && named != nil && !hasTranches(s.rest) {
		*s = ahead
	}
}

// oneSize skips a size that is no range.
func (s *scanner) oneSize(column []byte) bool {
	s.space()
	if _, v := s.currency(column); v != yes {
		return false
	}
	a, ok := s.amount()
	return ok && a.unit
}

// retained skips the part of a bond that the issuer keeps: + 50m retained, (incl. EUR250m retained). A part that the size includes is less
// than the size.
func (s *scanner) retained(column []byte, r *Reading) bool {
	ahead := *s
	included := false
	if !ahead.char('+') && !ahead.oneOf("plus") {
		if included = ahead.oneOf(includingWords...); !included {
			return false
		}
	}
	ahead.space()
	var part Range
	named, v := ahead.size(column, &part)
	if v != yes || included && (!part.Point.Set || !r.Main.Lo.Set || !part.Point.less(r.Main.Lo) || named != nil && string(named) != string(r.Currency)) {
		return false
	}
	ahead.space()
	return ahead.oneOf("retained", "to be retained", "held back", "retention") && s.skipTo(ahead)
}

// mostDenomination is the greatest smallest part of a bond that one can buy, in thousands.
const mostDenomination = 500

// denominations skips in which parts a bond is sold, in thousands: (100k+1k), denoms 100k+1k. Without parentheses or their word they are
// not read.
func (s *scanner) denominations(column []byte, inside bool) bool {
	ahead := *s
	if ahead.oneOf("denoms", "denom", "denominations") {
		inside = true
		ahead.space()
	}
	least, ok := ahead.denomination(column)
	ahead.space()
	if !ok || !inside || !ahead.char('+') && !ahead.char('/') && !ahead.has("x") {
		return false
	}
	ahead.space()
	step, ok := ahead.denomination(column)
	if !ok || step > least || least > mostDenomination {
		return false
	}
	ahead.space()
	ahead.oneOf("denoms", "denom", "denominations")
	return s.skipTo(ahead)
}

// denomination reads a number of thousands: EUR100k.
func (s *scanner) denomination(column []byte) (n int64, ok bool) {
	if _, v := s.currency(column); v != yes {
		return 0, false
	}
	n, digits := s.count()
	return n, digits > 0 && n > 0 && s.has("k")
}

// oversubscriptions reads by how much a size may grow if orders exceed it: + up to NZ$50m overs. The range is from the size to the sum.
func (s *scanner) oversubscriptions(column []byte, r *Reading) bool {
	ahead := *s
	if !ahead.char('+') && !ahead.oneOf("plus") || !r.Main.Point.Set || r.Main.Lo != r.Main.Hi {
		return false
	}
	ahead.space()
	ahead.oneOf("up to", "max", "max.")
	ahead.space()
	var more Range
	named, v := ahead.size(column, &more)
	if v != yes || !more.Point.Set || named != nil && string(named) != string(r.Currency) {
		return false
	}
	ahead.space()
	if !ahead.oneOf("overs", "oversubs", "oversubscriptions", "oversubscription", "over-subscriptions", "in overs", "of overs", "greenshoe", "green shoe", "upsize option") {
		return false
	}
	r.Main = Range{Lo: r.Main.Lo, Hi: r.Main.Lo.plus(more.Hi)}
	return s.skipTo(ahead)
}

// onlyBenchmark reads the words of a size without a number, to the end.
func (s *scanner) onlyBenchmark() bool {
	if !s.oneOf(benchmarkWords...) {
		return false
	}
	s.noted(expectedWords...)
	s.noted(wngWords...)
	return s.end()
}

// increased skips what an increase is of: the of 2031s after tap.
func (s *scanner) increased() {
	ahead := *s
	if !ahead.has(" of ") {
		return
	}
	for !ahead.end() && ahead.rest[0] != ',' && ahead.rest[0] != '(' && ahead.rest[0] != ')' && ahead.rest[0] != ';' {
		ahead.rest = ahead.rest[1:]
	}
	*s = ahead
}

// benchmarkSize skips the words of a size that a number explains: EUR benchmark (min EUR500m). The number is then the last
// of the text.
func (s *scanner) benchmarkSize(column []byte) {
	ahead := *s
	currency, v := ahead.currency(column)
	if v != yes || !ahead.oneOf(benchmarkWords...) {
		return
	}
	if size := ahead; size.has(", ") { // EUR benchmark, EUR1bn expected
		again, v := size.currency(column)
		if a, ok := size.amount(); ok && v == yes && again != nil && bytes.Equal(again, currency) && a.unit && a.power >= magnitudes[0].power {
			ahead.has(", ")
			*s = ahead
		}
		return
	}
	if !ahead.has(" (") {
		return
	}
	if n := len(ahead.rest); n > 0 && ahead.rest[n-1] == ')' {
		ahead.rest = ahead.rest[:n-1]
		if ahead.oneOf(expectedWords...) {
			ahead.space()
		}
		*s = ahead
	}
}

// otherSize skips another size in a remark, which has no column: the size before, or that of the complete line, which is not less than the size. The
// size that names no currency has that of the other one: 600m (from EUR500m).
func (s *scanner) otherSize(column []byte, r *Reading) bool {
	ahead := *s
	if !ahead.oneOf("upsized from", "downsized from", "increased from", "from", "for a total of", "total of", "total now", "total size", "total", "new total", "taking total to", "taking the line to", "outstanding", "o/s") {
		resized := ahead.oneOf("upsized", "downsized", "increased")
		return resized && !begins(ahead.rest, " to ") && s.skipTo(ahead) // EUR150m tap, upsized to EUR200m: the tap, or the line?
	}
	total := begins(s.rest, "total") || begins(s.rest, "for a total")
	ahead.char(':')
	ahead.space()
	var other Range
	named, v := ahead.size(column, &other)
	if v != yes || total && other.Lo.Set && r.Main.Lo.Set && other.Lo.less(r.Main.Lo) || r.Implied == Yes && named != nil && !bytes.Equal(named, r.Currency) {
		return false
	}
	if named != nil {
		r.Implied = No
	}
	return s.skipTo(ahead)
}

// inOther skips the same size in another currency than the column's, in parentheses: KRW300bn (USD215m), USD500m (EUR460m eq.).
func (s *scanner) inOther(siblings Siblings, r *Reading) bool {
	ahead := *s
	var other Range
	named, v := ahead.size(siblings.Currency, &other)
	if v != yes || named == nil || bytes.Equal(named, r.Currency) || r.Implied == Yes || !bytes.Equal(r.Currency, currencyOf(siblings.Currency)) || !other.Point.Set || !r.Main.Hi.Set {
		return false
	}
	if small := smallUnits[string(named)] || smallUnits[string(r.Currency)]; !small && (other.Point.times(mostCross).less(r.Main.Hi) || r.Main.Hi.times(mostCross).less(other.Point)) {
		return false
	}
	ahead.space()
	ahead.oneOf(equivalentWords...)
	return !ahead.end() && ahead.rest[0] == ')' && s.skipTo(ahead)
}

// mostCross is more than units of a currency that is not in smallUnits make one of another such currency.
const mostCross = 25

// lineAfter skips the size of the line after an increase: to EUR1.3bn.
func (s *scanner) lineAfter(column []byte) bool {
	ahead := *s
	return ahead.oneOf("to", "bringing the line to", "bringing total to", "taking it to") && ahead.anySize(column) && s.skipTo(ahead)
}

// anySize skips a size that has no column.
func (s *scanner) anySize(column []byte) bool {
	s.char(':')
	s.space()
	var size Range
	_, v := s.size(column, &size)
	return v == yes
}

// skipTo moves the scanner to a later place in the same text. It returns true.
func (s *scanner) skipTo(later scanner) bool {
	*s = later
	return true
}
