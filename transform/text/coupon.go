package text

import "bytes"

// parseCoupon reads a coupon: 3.375%, 3.375, 4 7/8%, SOFR+85, 6.5% cash/7.25% PIK, zero. A number without a unit is in
// percent.
func parseCoupon(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	v := s.coupon(siblings.Currency, r)
	if v == yes && s.end() && yieldBounds.containAll(&r.Main) &&
		(!r.PIK.Set || yieldBounds.contain(r.PIK)) && (!r.Margin.Set || spreadBounds.contain(r.Margin)) {
		r.Status = statusOK
		return
	}
	*r = Reading{Status: unread(text, v)}
}

func (s *scanner) coupon(currency []byte, r *Reading) verdict {
	ahead := *s
	if ahead.oneOf("frn", "floating", "floater") {
		ahead.char(':')
		ahead.space()
	}
	if over, ok := ahead.benchmark(bonds, currency); ok {
		var margin Range
		if over.kind != floating && over.kind != unsettled || ahead.over(over.kind, &margin) != yes || !margin.Point.Set {
			return no
		}
		*s, r.Benchmark, r.Margin = ahead, over.name, margin.Point
		s.couponRemarks("frn", "floating")
		s.floorRemark()
		return yes
	}
	for s.oneOf(couponNames...) {
		s.char(':')
		s.space()
		s.oneOf("of", "at")
		s.space()
	}
	if s.oneOf("zero coupon bond", "zero-coupon bond", "zero coupon", "zero-coupon", "zero-cpn", "zcb", "z/c", "zero cpn", "zero", "nil", "zc") {
		r.Main = exactly(whole(0))
		return yes
	}
	allInKind := s.oneOf("pik")
	s.space()
	rate, inPercent, v := s.rate()
	if v != yes {
		return v
	}
	r.Main = exactly(rate)
	if named := *s; !inPercent && named.word("s") && named.end() { // 4 1/2s: the bonds with that coupon
		*s = named
	}
	if inPercent {
		if allInKind || s.noted("pik") { // all of it
			r.PIK, r.Main = r.Main.Point, Range{}
			return yes
		}
		if !s.payInKind(r) {
			return no
		}
	}
	s.couponRemarks("fixed", "fxd", "coupon", "cpn")
	s.reset(currency)
	s.conditionalStep()
	return yes
}

// floorRemark skips a floor of the index after a margin: (0% floor).
func (s *scanner) floorRemark() {
	var list remarkList
	if ahead, inside := list.next(*s); ahead.floor() && (!inside || ahead.char(')')) {
		*s = ahead
	}
}

// couponNames are words before a coupon that no column has.
var couponNames = []string{"periodic distribution rate", "distribution rate", "distribution", "dist. rate", "dist rate", "profit rate", "profit", "initial coupon", "initial cpn", "initial rate", "initial", "coupon", "cpn", "fixed rate", "fixed", "fxd", "kupon", "linker", "index-linked", "inflation-linked", "real", "il"}

// rate reads a rate in percent, as a number or in words, and whether it has the unit.
func (s *scanner) rate() (n Number, inPercent bool, v verdict) {
	if n, ok := s.spelledRate(); ok {
		return n, true, yes
	}
	negative, _ := s.sign()
	begin := s.rest
	n, ok := s.number(mixed)
	if !ok {
		return n, false, no
	}
	if comma := bytes.IndexByte(begin[:len(begin)-len(s.rest)], ','); comma >= 0 && len(begin)-len(s.rest)-comma > groupDigits { // 3,375%: row 22 of the dictionary
		return n, false, no
	}
	if unit := *s; !unit.unit(percent) && !bytes.ContainsAny(begin[:len(begin)-len(s.rest)], "0123456789") && (n.isMultipleOf(powers[scale]) || n.less(whole(1))) { // six, half: what?
		return n, false, no
	}
	written := spanned{Range: exactly(n), pointed: bytes.ContainsAny(begin[:len(begin)-len(s.rest)], ".,"), unit: s.unit(percent)}
	if written.mayMissPoint() {
		return n, false, ambiguous
	}
	return n.signed(negative), written.unit, yes
}

// reset skips the rate after the first call, which has no column: to first call, then MS+310, then reset.
func (s *scanner) reset(currency []byte) {
	ahead := *s
	ahead.untilDate()
	ahead.noted("to first call", "until first call", "to call", "to the first call", "until the first call", "fixed to first call", "to first reset date", "to first call date", "to first reset", "until first reset", "until the first reset")
	if without := ahead; without.noted("then reset", "then resets", "then resetting", "resetting", "reset", "then floating", "thereafter reset", "thereafter floating", "floating thereafter", "reset thereafter", "then float", "then frn") && without.end() {
		*s = without
		return
	}
	if !ahead.noted("then reset to", "then resets to", "then resetting to", "then", "thereafter", "resetting to", "resets to", "reset to", "reset", "stepping to") {
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

// untilDate skips the date up to which a rate is paid: to Jun-30.
func (s *scanner) untilDate() {
	ahead := *s
	ahead.char(',')
	ahead.space()
	if !ahead.oneOf("to", "until", "till", "fixed to", "fixed until") {
		return
	}
	ahead.space()
	var date Reading
	if ahead.dueAt(&date) {
		*s = ahead
	}
}

// stepConditions are the words of the condition under which a coupon steps up.
var stepConditions = []string{"spts", "spt", "kpis", "kpi", "targets", "target", "the", "a", "any", "each", "is", "are", "not", "met", "missed", "is missed", "sustainability", "rating", "downgrade", "below", "ig", "of", "change", "control", "trigger", "event", "triggered"}

// conditionalStep skips a step-up that happens only if a condition is met: + 12.5bp step-up if SPT missed. The coupon at issue
// is the one without it. A step-up without a condition stays unread: the column has no schedule.
func (s *scanner) conditionalStep() {
	ahead := *s
	ahead.char(',')
	ahead.space()
	inside := ahead.char('(')
	if ahead.char('+') || ahead.oneOf("plus", "with") {
		ahead.space()
	}
	stepping := ahead.oneOf("stepping up by", "stepping up", "steps up by", "steps up")
	ahead.space()
	if _, ok := ahead.number(decimal); !ok || !ahead.unit(basisPoints) && !ahead.unit(percent) {
		return
	}
	ahead.space()
	if !stepping && (!ahead.oneOf("coupon step-up", "step-up", "step up", "stepup") || !ahead.char(' ')) || !ahead.oneOf("if", "on", "upon", "in case of") {
		return
	}
	words := 0
	for ahead.space(); ahead.oneOf(stepConditions...); ahead.space() {
		words++
	}
	if words > 0 && (!inside || ahead.char(')')) {
		*s = ahead
	}
}

// couponKinds are words for kinds of coupons, and for a first period that is not whole. They say nothing that a column has.
var couponKinds = []string{"fixed-to-floating", "fixed to floating", "fixed-to-float", "fixed to float", "fixed-to-reset", "fixed to reset", "fix-to-float", "fxd-to-flt", "fxd/frn", "reset", "index-linked", "index linked", "inflation-linked", "inflation linked", "linker", "il", "real", "short first coupon", "long first coupon", "short first cpn", "long first cpn", "short first", "long first", "short 1st", "long 1st"}

// couponRemarks skips words for the coupon, and how often it is paid: the columns do not have that.
func (s *scanner) couponRemarks(words ...string) {
	for s.noted(couponKinds...) || s.noted(words...) || s.noted("p.a.", "p.a", "pa", "annual", "annually", "ann.", "ann", "semi-annual", "payable semi-annually", "payable semi annually", "payable annually", "payable quarterly", "semi-annually", "semi annually", "semi", "s.a.", "s.a", "sa", "s/a", "quarterly", "act/act", "act/360", "act/365", "30/360", "annual, act/act", "semi, 30/360", "annual act/act", "icma") {
		continue
	}
}

// togglesInKind reads the rate in kind after a slash: 9% / 9.75% PIK toggle. It is not less than the one in cash.
func (s *scanner) togglesInKind(r *Reading) bool {
	ahead := *s
	ahead.space()
	if !ahead.char('/') {
		return true
	}
	ahead.space()
	pik, ok := ahead.number(mixed)
	if !ok || !ahead.unit(percent) || !ahead.noted("pik toggle", "pik") || pik.less(r.Main.Point) {
		return true
	}
	r.PIK = pik
	return s.skipTo(ahead)
}

// payInKind reads the rest of a coupon that may be paid in kind, after the rate in cash. It returns false if the rest
// is incomplete.
func (s *scanner) payInKind(r *Reading) (ok bool) {
	if !s.noted("cash") {
		return s.togglesInKind(r)
	}
	s.space()
	if !s.char('/') && !s.char(',') && !s.char('+') && !s.oneOf("or", "plus", "and") {
		return false
	}
	s.space()
	if r.PIK, ok = s.number(mixed); !ok {
		return false
	}
	return s.unit(percent) && s.noted("pik")
}
