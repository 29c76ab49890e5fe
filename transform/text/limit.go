package text

// The qualities of a size.
var (
	qualityMin       = []byte("MIN")
	qualityMax       = []byte("MAX")
	qualityExpected  = []byte("EXPECTED")
	qualityWNG       = []byte("WNG")
	qualityBenchmark = []byte("BENCHMARK")
)

// qualifier is what stands around a size: that it is a minimum, a maximum or about right.
type qualifier struct{ least, most, about bool }

// before reads a qualifier in front of a size.
func (q *qualifier) before(s *scanner) {
	switch {
	case s.char('>'), s.oneOf("in excess of", "more than", "at least", "over", "above", "minimum of", "minimum", "min.", "min"):
		s.char('=')
		q.least = true
	case s.char('<'), s.oneOf("up to", "less than", "at most", "below", "maximum of", "maximum", "max.", "max"):
		s.char('=')
		q.most = true
	default:
		q.about = s.about()
	}
	s.space()
}

// behind reads a qualifier behind a size; it says whether there was one.
func (q *qualifier) behind(s *scanner) bool {
	switch {
	case s.char('+'), s.noted("min", "minimum"):
		q.least = true
	case s.noted("max", "maximum"):
		q.most = true
	case s.noted("area"):
		q.about = true
	default:
		return false
	}
	return true
}

// allBehind reads all qualifiers behind a size.
func (q *qualifier) allBehind(s *scanner) {
	for more := true; more; {
		more = q.behind(s)
	}
}

// apply makes a minimum or maximum of a size and gives its quality; nil for none. A range has no
// minimum, and nothing is both.
func (q *qualifier) apply(r *Range) (quality []byte, v verdict) {
	switch {
	case q.least && q.most, (q.least || q.most) && r.isRange():
		return nil, ambiguous
	case q.least:
		*r = Range{Lo: r.Lo}
		return qualityMin, yes
	case q.most:
		*r = Range{Hi: r.Hi}
		return qualityMax, yes
	case q.about:
		return qualityArea, yes
	}
	return nil, yes
}
