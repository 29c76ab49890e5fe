package text

// parseSpread reads a spread over a benchmark: T+95, MS flat, DBR 2.5% Feb-34+118, MS+105-110. If the text is a yield,
// the status says so, but the yield is not kept.
func parseSpread(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	v := s.spread(siblings.Currency, r)
	if v == yes {
		s.plusMinus(&r.Main, basisPoints)
	}
	if v == yes && s.end() && spreadBounds.containAll(&r.Main) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{}
	y := scanner{text}
	if yield, w := y.yield(); w == yes && y.end() && yieldBounds.containAll(&yield) {
		r.Status = statusYield
		return
	}
	r.Status = unread(text, v)
}

// spread reads a benchmark, an optional security of it, and the spread over it.
func (s *scanner) spread(currency []byte, r *Reading) verdict {
	ahead := *s
	over, ok := ahead.benchmark(currency)
	if !ok {
		return no
	}
	r.Benchmark = over.name
	r.Reference = ahead.reference()
	v := ahead.over(&r.Main)
	if v == yes {
		*s = ahead
	}
	return v
}

// over reads the spread after a benchmark: flat, or a sign and a number or range.
func (s *scanner) over(r *Range) verdict {
	s.space()
	if s.word("flat") {
		*r = exactly(whole(0))
		return yes
	}
	negative, found := s.sign()
	if !found {
		return no
	}
	s.space()
	var v verdict
	*r, _, v = s.span(negative, decimal, basisPoints)
	return v
}

// reference reads the security of a benchmark, such as 2.5% Feb-34: an optional coupon, and the month and year in which
// it is due. It returns the text as written; nil for none.
func (s *scanner) reference() []byte {
	ahead := *s
	if !ahead.char(' ') {
		return nil
	}
	start := ahead.rest
	coupon := ahead
	if _, ok := coupon.number(mixed); ok && coupon.unit(percent) && coupon.char(' ') {
		ahead = coupon
	}
	if _, _, ok := ahead.monthAndYear(); !ok {
		return nil
	}
	*s = ahead
	return start[:len(start)-len(ahead.rest)]
}
