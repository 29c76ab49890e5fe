package text

// parseYield reads a yield: 3.412%, -0.123%, 5.875, 7-7.25%, 7.25% (8.1% PIK). A number without a unit is in percent.
func parseYield(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	var v verdict
	if r.Main, _, v = s.percentage(); v == yes {
		s.inKind(r)
		if s.end() && yieldBounds.containAll(&r.Main) && (!r.PIK.Set || yieldBounds.contain(r.PIK)) {
			r.Status = statusOf(&r.Main)
			return
		}
	}
	*r = Reading{Status: unread(text, v)}
}

// percentage reads a number or range in percent, with or without the unit.
func (s *scanner) percentage() (r Range, unitFound bool, v verdict) {
	negative, _ := s.sign()
	return s.span(negative, mixed, percent)
}

// yield reads a number or range in percent that has the unit.
func (s *scanner) yield() (Range, verdict) {
	r, unitFound, v := s.percentage()
	if v == yes && !unitFound {
		v = no
	}
	return r, v
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
