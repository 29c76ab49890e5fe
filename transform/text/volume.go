package text

// Words about a size, as desks write them.
var (
	expectedWords   = []string{"expected", "exp.", "exp"}
	wngWords        = []string{"wng", "will not grow", "will-not-grow", "won't grow", "no-grow", "no grow", "no growth", "not growing"}
	increaseWords   = []string{"tap", "increase", "add-on", "reopening", "re-opening", "fungible tap"}
	equivalentWords = []string{"equivalent", "equiv.", "equiv", "eq.", "eq", "-equivalent", "-equiv", "-eq"}
	benchmarkWords  = []string{"benchmark-sized", "benchmark sized", "benchmark size", "benchmark", "bmk", "bench", "bmark"}
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
	case s.oneOf(benchmarkWords...) && s.end():
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
	before := *s
	expected, wng := s.oneOf(expectedWords...), false
	if s.oneOf(increaseWords...) {
		r.Increase = Yes
		s.space()
		s.oneOf("of")
	}
	if len(s.rest) < len(before.rest) {
		s.char(':')
		s.space()
	}
	q.before(s)
	named, v := s.size(siblings.Currency, &r.Main)
	if r.chooseCurrency(named, siblings); v != yes {
		return v
	}
	if r.Currency == nil {
		return no
	}
	for more := true; more; {
		switch {
		case s.noted(expectedWords...):
			expected = true
		case s.noted(wngWords...):
			wng = true
		case r.Increase == No && s.noted(increaseWords...):
			r.Increase = Yes
		case r.Equivalent == No && s.noted(equivalentWords...):
			r.Equivalent = Yes
		default:
			more = q.after(s)
		}
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
