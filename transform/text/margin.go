package text

// parseMargin reads a loan's margin: S+325, E+400-425, S+CSA+350, Term SOFR+325, or 325bp over an index that the text does
// not name. An issue price may follow it: S+325/99.5.
func parseMargin(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	v := s.margin(siblings.Currency, r)
	if v == yes {
		v = s.afterMargin(r)
	}
	if v == yes && s.end() && spreadBounds.containAll(&r.Main) && priceBounds.containAll(&r.Issue) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{Status: unread(text, v)}
}

func (s *scanner) margin(currency []byte, r *Reading) (v verdict) {
	if s.about() {
		r.Quality = qualityApproximate
	}
	over, named := s.benchmark(loans, currency)
	if !named {
		return s.bareMargin(currency, r)
	}
	r.Benchmark, r.CSA = over.name, flag(s.adjusted())
	s.space()
	return s.marginSize(r)
}

// marginSize reads the number or range after the index. A second number after a slash may be a margin or an issue price.
// It is a price if it says OID, if it is less than the margin, or if margins are not quoted so finely; then the margin is
// one number, and the price is left for afterMargin. If it may be either, the text is ambiguous.
func (s *scanner) marginSize(r *Reading) verdict {
	ahead := *s
	first, ok := ahead.signedNumber(decimal)
	if !ok || !first.signed {
		return no
	}
	ahead.unit(basisPoints)
	after := ahead
	after.space()
	if after.char('/') {
		after.space()
		if second, ok := after.number(decimal); ok && issueBounds.contain(second) && !after.unit(basisPoints) {
			if !after.noted("oid") && !second.less(first.n) && second.isMultipleOf(marginStep) {
				return ambiguous
			}
			*s, r.Main = ahead, exactly(first.n)
			return yes
		}
	}
	if s.marginInPercent(r) {
		return yes
	}
	found, v := s.span(decimal, basisPoints)
	r.Main = found.Range
	return v
}

// marginInPercent reads a margin that is written in percent: +1.50%.
func (s *scanner) marginInPercent(r *Reading) bool {
	ahead := *s
	negative, signed := ahead.sign()
	ahead.space()
	d, ok := ahead.digits()
	if !ok || !signed || !ahead.unit(percent) {
		return false
	}
	n, ok := d.times(2)
	if !ok {
		return false
	}
	*s, r.Main = ahead, exactly(n.signed(negative))
	if ahead.until() {
		d, ok := ahead.digits()
		if hi, fits := d.times(2); ok && fits && ahead.unit(percent) && n.less(hi) && !negative {
			*s, r.Main = ahead, Range{Lo: n, Hi: hi}
		}
	}
	return true
}

// marginStep is the finest step in which margins are quoted, in millionths of a basis point.
const marginStep = 2_500_000

// afterMargin reads what may follow a margin: area, the issue price, and terms that have no column, such as a floor of the
// index.
func (s *scanner) afterMargin(r *Reading) verdict {
	var list remarkList
	for !s.end() {
		comma := s.rest[0] == ','
		ahead, inside := list.next(*s)
		switch {
		case ahead.oneOf("area", "a"):
			r.Quality = qualityArea
		case r.CSA == No && ahead.adjusted():
			r.CSA = Yes
		case ahead.marginBefore(), ahead.floor(), inside && ahead.otherTerms(), !r.Issue.Lo.Set && ahead.issue(comma, r):
		default:
			return no
		}
		list.take(s, ahead, inside)
	}
	if list.open {
		return no
	}
	return yes
}

// marginBefore skips the margin before this one: from E+450.
func (s *scanner) marginBefore() bool {
	ahead := *s
	if !ahead.oneOf("from", "was", "vs", "vs.") {
		return false
	}
	ahead.space()
	ahead.benchmark(loans, nil)
	ahead.space()
	_, v := ahead.span(decimal, basisPoints)
	return v == yes && s.skipTo(ahead)
}

// issue reads the issue price after a margin: /99.5, @ 99, 99-99.5 OID. marked says that a comma was before it.
func (s *scanner) issue(marked bool, r *Reading) bool {
	ahead := *s
	marked = ahead.char('/') || ahead.char('@') || ahead.oneOf("at") || marked
	ahead.space()
	marked = ahead.oneOf("oid") || marked
	ahead.space()
	found, v := ahead.span(asPrice, percent)
	if v != yes || found.signed && !found.isPar() || !ahead.noted("oid") && !marked {
		return false
	}
	r.Issue = found.Range
	return s.skipTo(ahead)
}

// otherTerms skips a remark about terms that have no column, up to a comma or the end of the parentheses: 25bp step-down at
// IPO.
func (s *scanner) otherTerms() bool {
	ahead := *s
	known := false
	for !ahead.end() && ahead.rest[0] != ')' && ahead.rest[0] != ',' {
		known = known || ahead.oneOf(termWords...)
		if word := ahead.letters(); len(word) == 0 && !ahead.end() && ahead.rest[0] != ')' && ahead.rest[0] != ',' {
			ahead.rest = ahead.rest[1:]
		}
	}
	return known && s.skipTo(ahead)
}

// termWords are terms of a loan besides its margin and price. A remark with one of them is not about the margin at launch.
var termWords = []string{"step-downs", "step-down", "step downs", "step down", "stepdowns", "stepdown", "step-ups", "step-up", "step up", "ratchet", "soft call", "call protection", "grid", "sll", "esg", "kpi"}

// floor skips a floor of the index: 0% floor, floor 0%.
func (s *scanner) floor() bool {
	ahead := *s
	ahead.oneOf("with", "w/")
	ahead.space()
	named := ahead.oneOf("floor")
	if named {
		ahead.char(':')
		ahead.space()
	}
	if _, ok := ahead.number(decimal); !ok || !ahead.unit(percent) && !ahead.unit(basisPoints) || !named && !ahead.noted("floor") {
		return false
	}
	return s.skipTo(ahead)
}

// bareMargin reads a margin without an index before it: 325bp, or 325bp over SOFR. The unit is required: a bare number
// may be anything.
func (s *scanner) bareMargin(currency []byte, r *Reading) verdict {
	found, v := s.span(decimal, basisPoints)
	if v == yes && !found.unit {
		return no
	}
	r.Main, r.CSA = found.Range, No
	ahead := *s
	ahead.space()
	if ahead.oneOf("over", "above") {
		ahead.space()
		if over, ok := ahead.benchmark(loans, currency); ok {
			*s, r.Benchmark = ahead, over.name
		}
	}
	return v
}

// adjusted skips +CSA, a credit spread adjustment, and its size: +10bp CSA, +CSA (10bp).
func (s *scanner) adjusted() bool {
	ahead := *s
	ahead.space()
	if !ahead.char('+') {
		return false
	}
	ahead.space()
	if sized := ahead; sized.adjustment() {
		ahead = sized
		ahead.space()
	}
	if !ahead.word("csa") {
		return false
	}
	*s = ahead
	if ahead.space(); ahead.char('(') && ahead.adjustment() && ahead.char(')') {
		*s = ahead
	}
	return true
}

// adjustment skips the size of an adjustment.
func (s *scanner) adjustment() bool {
	_, ok := s.number(decimal)
	return ok && s.unit(basisPoints)
}
