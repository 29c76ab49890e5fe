package text

// measures are what a yield is to: the worst call, maturity, or the first call.
var measures = []struct {
	words   []string
	measure []byte
}{
	{[]string{"ytw", "yield to worst", "yield-to-worst", "to worst"}, []byte("YTW")},
	{[]string{"ytm", "yield to maturity", "yield-to-maturity", "to maturity"}, []byte("YTM")},
	{[]string{"ytc", "yield to call", "yield-to-call", "to call"}, []byte("YTC")},
}

// parseYield reads a yield: 3.412%, -0.123%, 5.875, 7-7.25%, 7.25% (8.1% PIK), 4.25% YTW, 4.75% area. A number without a
// unit is in percent.
func parseYield(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	v := s.yieldText(r)
	if v == yes && s.end() && yieldBounds.containAll(&r.Main) && (!r.PIK.Set || yieldBounds.contain(r.PIK)) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{Status: unread(text, v)}
}

func (s *scanner) yieldText(r *Reading) verdict {
	s.measure(r)
	s.oneOf("yield")
	s.space()
	about := s.about()
	if s.has("- ") { // a dash or a minus?
		return ambiguous
	}
	found, v := s.span(mixed, percent)
	if v != yes {
		return v
	}
	r.Main = found.Range
	s.inKind(r)
	s.measure(r)
	s.noted("yield", "yld")
	s.noted("semi", "s.a.", "s.a", "sa", "annual", "ann")
	var q remarks
	if v = q.read(s, &r.Main, percent); v != yes {
		return v
	}
	s.measure(r)
	switch r.Quality = q.quality(); {
	case q.inRange: // talk of a price that is not set: this column has no quality for it
		return no
	case r.Quality == nil && about:
		r.Quality = qualityApproximate
	}
	return yes
}

// measure reads what a yield is to, if the text says so and no measure was read before.
func (s *scanner) measure(r *Reading) {
	for i := 0; r.Measure == nil && i < len(measures); i++ {
		if s.noted(measures[i].words...) {
			r.Measure = measures[i].measure
			s.char(':')
			s.space()
		}
	}
}

// yield reads a number or range in percent that has the unit.
func (s *scanner) yield() (Range, verdict) {
	found, v := s.span(mixed, percent)
	if v == yes && !found.unit {
		v = no
	}
	return found.Range, v
}

// inKind reads the yield for interest paid in kind, after another yield: (8.1% PIK).
func (s *scanner) inKind(r *Reading) {
	ahead := *s
	ahead.space()
	if !ahead.char('(') {
		return
	}
	n, ok := ahead.number(mixed)
	if ok && ahead.unit(percent) && ahead.noted("pik") && ahead.char(')') {
		*s, r.PIK = ahead, n
	}
}
