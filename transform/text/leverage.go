package text

// parseLeverage reads multiples of debt: 5.2x total, or 4.5x/6.0x senior and total.
func parseLeverage(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	v := s.multiples(r)
	if v == yes && s.end() && leverageBounds.contain(r.Total) && (!r.Senior.Set || leverageBounds.contain(r.Senior)) {
		r.Status = statusOK
		return
	}
	*r = Reading{Status: unread(text, v)}
}

func (s *scanner) multiples(r *Reading) verdict {
	first, ok := s.number(decimal)
	if !ok {
		return no
	}
	times := s.has("x")
	s.space()
	if !s.char('/') {
		r.Total = first
		if !times {
			return no
		}
		return yes
	}
	s.space()
	second, ok := s.number(decimal)
	switch {
	case !ok || !s.has("x"):
		return no
	case second.less(first): // senior debt is a part of all debt
		return ambiguous
	}
	r.Senior, r.Total = first, second
	return yes
}
