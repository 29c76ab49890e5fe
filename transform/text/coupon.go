package text

// parseCoupon reads a coupon: 3.375%, 3.375, 4 7/8%, SOFR+85, 6.5% cash/7.25% PIK, zero. A number without a unit is in
// percent.
func parseCoupon(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	if s.coupon(siblings.Currency, r) && s.end() && yieldBounds.containAll(&r.Main) &&
		(!r.PIK.Set || yieldBounds.contain(r.PIK)) && (!r.Margin.Set || spreadBounds.contain(r.Margin)) {
		r.Status = statusOK
		return
	}
	*r = Reading{Status: unread(text, no)}
}

func (s *scanner) coupon(currency []byte, r *Reading) bool {
	ahead := *s
	if over, ok := ahead.benchmark(bonds, currency); ok {
		var margin Range
		if over.kind != floating && over.kind != unsettled || ahead.over(over.kind, &margin) != yes || !margin.Point.Set {
			return false
		}
		*s, r.Benchmark, r.Margin = ahead, over.name, margin.Point
		s.couponRemarks("frn", "floating")
		return true
	}
	if s.oneOf("zero coupon", "zero-coupon", "zero cpn", "zero", "nil", "zc") {
		r.Main = exactly(whole(0))
		return true
	}
	allInKind := s.oneOf("pik")
	s.space()
	negative, _ := s.sign()
	rate, ok := s.number(mixed)
	if !ok {
		return false
	}
	r.Main = exactly(rate.signed(negative))
	if s.unit(percent) {
		if allInKind || s.noted("pik") { // all of it
			r.PIK, r.Main = r.Main.Point, Range{}
			return true
		}
		if !s.payInKind(r) {
			return false
		}
	}
	s.couponRemarks("fixed", "fxd", "coupon", "cpn")
	s.reset(currency)
	return true
}

// reset skips the rate after the first call, which has no column: to first call, then MS+310.
func (s *scanner) reset(currency []byte) {
	ahead := *s
	ahead.noted("to first call", "until first call", "to call", "to the first call", "until the first call", "fixed to first call")
	if !ahead.noted("then", "thereafter", "resetting to", "resets to", "reset to", "reset", "stepping to") {
		return
	}
	ahead.space()
	ahead.oneOf("at", "to")
	ahead.space()
	var after Reading
	if ahead.spread(currency, &after) == yes {
		*s = ahead
	}
}

// couponRemarks skips a word for the coupon, and how often it is paid: the columns do not have that.
func (s *scanner) couponRemarks(words ...string) {
	s.noted(words...)
	s.noted("p.a.", "p.a", "pa", "annual", "annually", "ann", "semi-annual", "semi-annually", "semi", "s.a.", "s.a", "sa", "s/a", "quarterly")
}

// payInKind reads the rest of a coupon that may be paid in kind, after the rate in cash. It returns false if the rest
// is incomplete.
func (s *scanner) payInKind(r *Reading) (ok bool) {
	if !s.noted("cash") {
		return true
	}
	s.space()
	if !s.char('/') && !s.char(',') && !s.oneOf("or") {
		return false
	}
	s.space()
	if r.PIK, ok = s.number(mixed); !ok {
		return false
	}
	return s.unit(percent) && s.noted("pik")
}
