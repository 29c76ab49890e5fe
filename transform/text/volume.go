package text

// Words about a size, as desks write them.
var (
	expectedWords   = []string{"expected size", "expected", "exp.", "exp", "indicative size", "indicative", "initial size", "target size", "target"}
	wngWords        = []string{"wng", "will not grow", "will-not-grow", "won't grow", "no-grow", "no grow", "no growth", "not growing", "fixed size", "size fixed", "capped"}
	increaseWords   = []string{"tap", "increase", "add-on", "reopening", "re-opening", "fungible tap"}
	equivalentWords = []string{"equivalent", "equiv.", "equiv", "eq.", "eq", "-equivalent", "-equiv", "-eq"}
	resizedWords    = []string{"upsized to", "increased to", "downsized to", "raised to", "cut to", "set at", "upsized", "downsized", "size set at", "size", "deal size", "final size"}
	offeringWords   = []string{"144a/reg s", "144a / reg s", "144a/regs", "reg s/144a", "regs/144a", "144a", "reg s only", "reg s", "regs", "sec-registered", "sec registered", "sec reg", "green", "social", "fixed", "fxd", "frn", "dim sum", "formosa", "sukuk", "panda", "samurai", "kangaroo"}
	benchmarkWords  = []string{"sub-benchmark-sized", "sub-benchmark", "sub benchmark", "benchmark-sized", "benchmark sized", "benchmark size", "benchmark", "bmk", "bench", "bmark"}
)

// parseVolume reads a size: USD500m (expected), EUR500m WNG, USD300m-500m, GBP250m+, up to USD400m, EUR benchmark. A
// size without a currency gets that of the currency column.
func parseVolume(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	v := s.volume(siblings, r)
	if v == yes && s.end() && amountBounds.containAll(&r.Main) {
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
	expected, wng := s.oneOf(expectedWords...), false
	if !expected && s.oneOf(increaseWords...) {
		r.Increase = Yes
		s.space()
		s.oneOf("of")
	} else if wng = !expected && s.oneOf(wngWords...); !expected && !wng && !s.oneOf(resizedWords...) && s.oneOf(equivalentWords...) {
		r.Equivalent = Yes
	}
	s.char(':')
	s.space()
	s.benchmarkSize(siblings.Currency)
	q.before(s)
	named, v := s.size(siblings.Currency, &r.Main)
	if r.chooseCurrency(named, siblings); v != yes {
		return v
	}
	if r.Currency == nil {
		return no
	}
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
		case r.Increase == Yes && inside && ahead.lineAfter(siblings.Currency): // tap (to EUR1.3bn)
		case r.Equivalent == No && ahead.oneOf(equivalentWords...):
			r.Equivalent = Yes
		case ahead.oneOf(offeringWords...), ahead.otherSize(siblings.Currency), q.after(&ahead):
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
	if r.Increase == Yes && r.Main.isRange() { // from the size before to the one after?
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
	if _, v := ahead.currency(column); v != yes || !ahead.oneOf(benchmarkWords...) || !ahead.has(" (") {
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

// otherSize skips another size in a remark, which has no column: the size before, or that of the complete line.
func (s *scanner) otherSize(column []byte) bool {
	ahead := *s
	if !ahead.oneOf("upsized from", "downsized from", "increased from", "from", "for a total of", "total of", "total now", "total size", "total", "new total", "taking total to", "taking the line to", "outstanding") {
		return ahead.oneOf("upsized", "downsized", "increased") && s.skipTo(ahead)
	}
	return ahead.anySize(column) && s.skipTo(ahead)
}

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
