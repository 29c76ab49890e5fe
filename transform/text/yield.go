package text

// parseYield reads a yield: 3.412%, -0.123%, 5.875, 7-7.25%, 7.25% (8.1% PIK). The field implies the
// unit.
func parseYield(text []byte, _ Beside, r *Reading) {
	s := scanner{text}
	var v verdict
	if r.Main, _, v = s.percentage(); v == yes {
		s.inKind(r)
		if s.end() && yieldBounds.holdAll(&r.Main) && (!r.PIK.Set || yieldBounds.hold(r.PIK)) {
			r.Status = statusOf(&r.Main)
			return
		}
	}
	*r = Reading{Status: unread(text, v)}
}

// percentage reads a number or range that is or may be in percent.
func (s *scanner) percentage() (r Range, unitFound bool, v verdict) {
	negative, _ := s.sign()
	return s.span(negative, mixed, percent)
}

// yield reads a number or range that says that it is in percent.
func (s *scanner) yield() (Range, verdict) {
	r, unitFound, v := s.percentage()
	if v == yes && !unitFound {
		v = no
	}
	return r, v
}

// inKind reads the yield with interest paid in kind behind another: (8.1% PIK).
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
