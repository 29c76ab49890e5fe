package text

// parseMargin reads a loan's margin: S+325, E+400-425, S+CSA+350, or 325bp over an index that the text does not name.
func parseMargin(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	v := s.margin(siblings.Currency, r)
	if v == yes && s.end() && spreadBounds.containAll(&r.Main) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{Status: unread(text, v)}
}

func (s *scanner) margin(currency []byte, r *Reading) verdict {
	over, named := s.benchmark(currency)
	if !named {
		return s.bareMargin(r)
	}
	r.Benchmark, r.CSA = over.name, flag(s.adjusted())
	return s.over(&r.Main)
}

// bareMargin reads a margin without an index. The unit is required: a bare number may be anything.
func (s *scanner) bareMargin(r *Reading) (v verdict) {
	var unitFound bool
	r.Main, unitFound, v = s.span(false, decimal, basisPoints)
	if v == yes && !unitFound {
		return no
	}
	r.CSA = No
	return v
}

// adjusted skips +CSA, a credit spread adjustment.
func (s *scanner) adjusted() bool {
	ahead := *s
	ahead.space()
	if !ahead.char('+') {
		return false
	}
	ahead.space()
	if !ahead.word("csa") {
		return false
	}
	*s = ahead
	return true
}
