package text

// The qualities of a size.
var (
	qualityMin       = []byte("MIN")
	qualityMax       = []byte("MAX")
	qualityExpected  = []byte("EXPECTED")
	qualityWNG       = []byte("WNG")
	qualityBenchmark = []byte("BENCHMARK")
)

// The words of limits, before and after a size.
var (
	leastBefore = []string{"well in excess of", "far in excess of", "comfortably over", "comfortably above", "in excess of", "in exc. of", "in exc of", "excess of", "in xs of", "xs of", "xs", "more than", "at least", "no less than", "not less than", "just over", "well over", "well above", "well north of", "north of", "upwards of", "over", "above", "minimum of", "minimum", "min.", "min", "a minimum of", "greater than", "mind.", "mindestens", "mehr als", "über", "ueber", "au moins", "plus de", "al menos", "más de", "almeno", "oltre", "minst", "mer än"}
	mostBefore  = []string{"up to", "less than", "at most", "below", "under", "sub", "no more than", "not more than", "just under", "just shy of", "shy of", "almost", "nearly", "approaching", "maximum of", "maximum", "max.", "max", "a maximum of", "bis zu", "bis", "maximal", "jusqu'à", "jusqu'a", "hasta", "fino a", "inntil", "upp till", "op til", "capped at"}
	leastAfter  = []string{"-plus", "min.", "min", "minimum", "plus", "or more", "and up"}
	mostAfter   = []string{"max.", "max", "maximum", "or less"}
)

// qualifier is a remark before or after a size: that the size is a minimum, a maximum or approximate.
type qualifier struct{ least, most, about bool }

// before reads a qualifier before a size.
func (q *qualifier) before(s *scanner) {
	switch {
	case s.char('>'):
		s.char('=')
		q.least = true
	case s.char('<'):
		s.char('=')
		q.most = true
	case s.oneOf(leastBefore...):
		s.char('-') // min-500m: no minus
		q.least = true
	case s.oneOf(mostBefore...):
		s.char('-') // sub-5bp
		q.most = true
	case s.has("≥"):
		q.least = true
	case s.has("≤"):
		q.most = true
	default:
		q.about = s.about()
	}
	s.space()
}

// after reads a qualifier after a size. It returns false if there is none.
func (q *qualifier) after(s *scanner) bool {
	switch {
	case !s.sumNext() && s.char('+'), s.noted(leastAfter...):
		q.least = true
	case s.noted(mostAfter...):
		q.most = true
	case s.noted("area", "a", "approx.", "approximately", "approx", "or so"):
		q.about = true
	default:
		return false
	}
	return true
}

// sumNext reports whether a plus and another number are next: EUR500m + 50m.
func (s *scanner) sumNext() bool {
	next := *s
	if !next.char('+') || !next.char(' ') {
		return false
	}
	next.currency(nil)
	return !next.end() && isDigit(next.rest[0])
}

// apply turns a size into a minimum or maximum and returns its quality; nil for none. It is ambiguous if a range has
// such a limit, or a size has both.
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
