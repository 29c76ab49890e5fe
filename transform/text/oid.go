package text

import "github.com/apache/arrow/go/v17/arrow/decimal128"

// parseOID reads the issue price of a loan, 99.5, 99-99.5, par, 99.5 OID, 99 area, or the discount from par, 1pt OID, 50c
// discount, no OID, or an upfront fee instead of it, 0.5% UF, 50bp UF. A price without a unit is in percent of nominal.
func parseOID(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	if s.fee(r) && s.end() && feeBounds.contain(r.Fee) {
		r.Status = statusOK
		return
	}
	*r, s = Reading{}, scanner{text}
	v := s.discount(r)
	if v == no {
		*r, s = Reading{}, scanner{text}
		v = s.issuePrice(siblings, r)
	}
	if v == yes && s.end() && priceBounds.containAll(&r.Main) {
		r.Status = statusOf(&r.Main)
		return
	}
	var sold Reading
	if parseMargin(text, siblings, &sold); isStatus(&sold, statusOK) && sold.Benchmark != nil && sold.Issue.Point.Set { // S+350/99.5
		*r = Reading{Main: sold.Issue, Status: statusOK}
		return
	}
	*r = Reading{Status: unread(text, v)}
}

// The words of a discount, its units, and those of a call protection.
var (
	discountWords = []string{"oid", "discount", "original issue discount", "off"}
	noneWords     = []string{"no", "zero", "nil", "without"}
	pointWords    = []string{"pts", "pts.", "pt", "pt.", "points", "point"}
	centWords     = []string{"cents", "cent", "c"}
	callWords     = []string{"sc", "soft call", "soft-call", "softcall", "hard call", "hard-call", "call protection", "prepayment premium", "prepayment protection", "repricing protection", "non-call", "non call"}
)

// discount reads a discount from par, and returns the price: 1pt OID, 1-1.5 points OID, 50c discount, OID of 1%, no OID. Points
// that the text does not call a discount may be a fee: they are ambiguous.
func (s *scanner) discount(r *Reading) verdict {
	if v := s.parLess(r); v != no {
		return v
	}
	if ahead := *s; ahead.oneOf(noneWords...) {
		ahead.space()
		if !ahead.oneOf(discountWords...) {
			return no
		}
		*s, r.Main = ahead, exactly(whole(100))
		return s.afterPrice(&qualifier{}, r)
	}
	named := s.oneOf(discountWords...)
	if named {
		s.char(':')
		s.space()
		s.oneOf("of", "at")
		s.space()
	}
	var q qualifier
	q.before(s)
	point := *s
	found, v := s.span(mixed, percent)
	if part, ok := point.properFraction(); ok && v == ambiguous && point.char(' ') && (begins(point.rest, "pt ") || begins(point.rest, "point ")) { // 1/2 pt OID
		*s, found, v = point, spanned{Range: exactly(part), pointed: true}, yes
	}
	if v != yes || found.signed {
		return no
	}
	inPoints := true
	s.char('-')
	s.space()
	switch {
	case found.unit:
		inPoints = false
	case s.oneOf(pointWords...):
	case s.oneOf(centWords...):
		if issueBounds.contain(found.Hi) { // 99c OID: a price?
			if s.noted("on the dollar", "in the dollar"); named || !found.pointed || !s.end() {
				return ambiguous
			}
			r.Main = found.Range
			return yes
		}
		inPoints, found.Range = false, found.hundredth()
	case s.unit(basisPoints):
		inPoints, found.Range = false, found.hundredth()
	default:
		return no
	}
	if !named && (found.unit && begins(s.rest, ",") || !s.noted(discountWords...)) { // 9.5%, OID talk 98.5-99
		if inPoints && s.end() {
			return ambiguous
		}
		return no
	}
	if !feeBounds.containAll(&found.Range) || !found.Lo.Set {
		return no
	}
	r.Main = Range{Lo: whole(100).minus(found.Hi), Hi: whole(100).minus(found.Lo)}
	if found.Point.Set {
		r.Main.Point = r.Main.Lo
	}
	if v = s.afterPrice(&q, r); !r.Main.Lo.Set || !r.Main.Hi.Set { // a limit of a discount is none of a price
		return no
	}
	return v
}

// parLess reads a discount from par: par less 1/4, par minus 50c, par - 1/2.
func (s *scanner) parLess(r *Reading) verdict {
	ahead := *s
	if !ahead.oneOf("par") {
		return no
	}
	ahead.space()
	if !ahead.char('-') && !ahead.oneOf("less", "minus") {
		return no
	}
	ahead.space()
	by, ok := ahead.properFraction()
	if !ok {
		by, ok = ahead.number(mixed)
	}
	ahead.space()
	if discount := exactly(by); ok && ahead.oneOf(centWords...) {
		discount = discount.hundredth()
		by = discount.Lo
	} else if ok {
		ahead.oneOf("of a")
		ahead.space()
		ahead.oneOf(pointWords...)
	}
	if !ok || !by.Set || !feeBounds.contain(by) {
		return no
	}
	if mostBarePoints.less(by) { // par - 10: points, or cents?
		return ambiguous
	}
	*s, r.Main = ahead, exactly(whole(100).minus(by))
	return s.afterPrice(&qualifier{}, r)
}

// mostBarePoints is the greatest discount from par that is read without its unit or a word for a discount.
var mostBarePoints = whole(5)

// properFraction reads a fraction less than one without a number before it: 1/4.
func (s *scanner) properFraction() (n Number, ok bool) {
	ahead := *s
	if n, ok = ahead.fractionHere(); ok {
		*s = ahead
	}
	return n, ok
}

// fee reads a fee that is paid up front, in percent or basis points.
func (s *scanner) fee(r *Reading) bool {
	named := s.oneOf(feeWords...)
	if named {
		s.char(':')
		s.space()
		s.oneOf("of")
		s.space()
	}
	d, ok := s.digits()
	if !ok {
		return false
	}
	if s.unit(basisPoints) {
		r.Fee, ok = d.times(-2)
	} else if r.Fee, ok = d.times(0); !s.unit(percent) && !s.points() {
		return false
	}
	if !ok || !s.noted(feeWords...) && !named {
		return false
	}
	s.noted(feeRemarks...)
	return true
}

var feeWords = []string{"flat fee", "all-in fee", "skim", "uf", "u/f", "participation fees", "participation fee", "part. fee", "part fee", "arrangement fee", "arr. fee", "arr fee", "underwriting fee", "upfront fees", "upfront fee", "upfront", "up-front fee", "up-front", "fees", "fee"}

// feeRemarks are remarks after a fee: it is paid once, or is that of the greatest commitment.
var feeRemarks = []string{"flat", "flat fee", "one-off", "once", "mla", "for mlas", "mlas", "top ticket", "for top ticket", "for the top ticket", "all tickets", "upfront", "at closing"}

// points skips the unit of a fee or a discount: 1pt, 1.5 points.
func (s *scanner) points() bool {
	ahead := *s
	ahead.space()
	return ahead.oneOf(pointWords...) && s.skipTo(ahead)
}

// marginWithPrice skips the margin before the price at which the loan is sold: S+300 @ 99.5.
func (s *scanner) marginWithPrice(currency []byte) {
	ahead := *s
	var sold Reading
	if ahead.margin(currency, &sold) != yes || sold.Benchmark == nil {
		return
	}
	if ahead.space(); ahead.char('@') || ahead.oneOf("at") {
		ahead.space()
		*s = ahead
	}
}

func (s *scanner) issuePrice(siblings Siblings, r *Reading) verdict {
	s.marginWithPrice(siblings.Currency)
	begin := s.rest
	s.oidWord()
	s.space()
	s.oneOf("talk", "guidance")
	s.char(':')
	s.space()
	var q qualifier
	q.named(s)
	found, v := s.span(asPrice, percent)
	if v != yes {
		return v
	}
	if found.signed && !found.isPar() {
		return no
	}
	if found.Point == whole(100) && !found.pointed && !found.unit && saysAny(begin, discountWords[:1]) && !found.signed { // 100 OID: par, or a discount of 100 basis points?
		return ambiguous
	}
	if found.mayBeCalled() || !found.Lo.less(whole(20)) && found.Hi.less(whole(80)) { // OID 50: a discount of 50 cents?
		return ambiguous
	}
	if found.unit {
		s.noted("of par", "of face", "of nominal", "of face value")
	}
	r.Main = found.Range
	around, v := s.aroundPrice(&r.Main)
	if v == ambiguous {
		return ambiguous
	}
	if v = s.afterPrice(&q, r); around {
		if q.least || q.most {
			return ambiguous
		}
		r.Quality = qualityPlusMinus
	}
	return v
}

// mostPriceWidth is the greatest plausible width around a price, in points.
var mostPriceWidth = whole(2)

// aroundPrice reads (+/-0.5) after a price, and widens the range by it. A width is in points: one in basis points, or a wide one, is ambiguous.
func (s *scanner) aroundPrice(r *Range) (found bool, v verdict) {
	ahead := *s
	ahead.noted("area", "a")
	ahead.char(',')
	ahead.space()
	inside := ahead.char('(')
	if !ahead.has("+/-") && !ahead.has("+-") || !r.Point.Set || r.Lo != r.Hi {
		return false, no
	}
	ahead.space()
	by, ok := ahead.number(mixed)
	inPoints := ahead.points() || ahead.unit(percent)
	if !ok || inside && !ahead.char(')') {
		return false, ambiguous
	}
	if by.isZero() || mostPriceWidth.less(by) || !inPoints && !ahead.end() && ahead.unit(basisPoints) {
		return false, ambiguous
	}
	r.Lo, r.Hi = r.Point.minus(by), r.Point.plus(by)
	return s.skipTo(ahead), yes
}

// feeAdded reads an upfront fee that a lender gets in addition to the price: par + 25bp fee.
func (s *scanner) feeAdded(r *Reading) bool {
	ahead := *s
	ahead.space()
	if r.Fee.Set || !ahead.char('+') && !ahead.oneOf("plus") {
		return false
	}
	ahead.space()
	var added Reading
	if !ahead.fee(&added) || !feeBounds.contain(added.Fee) {
		return false
	}
	r.Fee = added.Fee
	return s.skipTo(ahead)
}

// afterPrice reads what may follow a price: its name, that it is a limit, the price before it, and the call protection, which
// has no column.
func (s *scanner) afterPrice(q *qualifier, r *Reading) (v verdict) {
	for more := true; more; {
		more = s.priceBefore() || s.noted("oid", "no oid", "issue price", "price", "px") || s.noted("repricing") || s.marginNoted() || s.feeAdded(r) || q.after(s) || s.callRemark() || s.yieldRemark()
	}
	r.Quality, v = q.apply(&r.Main)
	return v
}

// marginNoted skips the margin at which the loan is sold, in parentheses after the price: 98 (S+475).
func (s *scanner) marginNoted() bool {
	ahead := *s
	ahead.space()
	if !ahead.char('(') {
		return false
	}
	var sold Reading
	return ahead.margin(nil, &sold) == yes && ahead.char(')') && s.skipTo(ahead)
}

// callRemark skips a remark about the call protection: / 101 soft call 6m, (102/101 call protection).
func (s *scanner) callRemark() bool {
	ahead := *s
	ahead.space()
	inside := ahead.char('(')
	if !inside && !ahead.char(',') && !ahead.char('/') && !ahead.char(';') && !ahead.oneOf("with", "and") {
		return false
	}
	ahead.space()
	return ahead.callTerms() && (!inside || ahead.char(')')) && s.skipTo(ahead)
}

// yieldRemark skips the yield that a price gives, with its word: (yld 8.9%).
func (s *scanner) yieldRemark() bool {
	ahead := *s
	comma := ahead.char(',')
	ahead.space()
	inside := ahead.char('(')
	if !comma && !inside || !ahead.oneOf("yield", "yld", "ytm", "ytw", "3yr yield", "4yr yield") {
		return false
	}
	ahead.space()
	_, ok := ahead.number(mixed)
	return ok && ahead.unit(percent) && (!inside || ahead.char(')')) && s.skipTo(ahead)
}

// callTerms skips the terms of a call protection: what it costs to repay a loan early, and for how long. The prices are more
// than par: 101 soft call for 6 months, 102/101 call protection.
func (s *scanner) callTerms() bool {
	ahead := *s
	known := false
	for !ahead.end() && ahead.rest[0] != ')' && ahead.rest[0] != ',' && ahead.rest[0] != ';' {
		switch {
		case ahead.oneOf(callWords...):
			known = true
		case ahead.char(' '), ahead.char('/'), ahead.oneOf("for", "at", "no", "with", "first"):
		default:
			if _, ok := ahead.tenor(); ok {
				continue
			}
			price, ok := ahead.number(decimal)
			if ahead.unit(percent); !ok || !callBounds.contain(price) {
				return false
			}
		}
	}
	if life := ahead; life.char(',') { // 101 soft call, 6m
		if life.space(); life.tenorAlone() {
			ahead = life
		}
	}
	return known && s.skipTo(ahead)
}

// priceBefore skips the price before this one: from 98.5.
func (s *scanner) priceBefore() bool {
	ahead := *s
	ahead.space()
	inside := ahead.char('(')
	if !ahead.oneOf(beforeWords...) {
		return false
	}
	ahead.space()
	_, v := ahead.span(asPrice, percent)
	return v == yes && (!inside || ahead.char(')')) && s.skipTo(ahead)
}

// oidWord skips the name of the price before it: OID 99.
func (s *scanner) oidWord() {
	if s.oneOf("oid", "issue price", "issue px", "iss. px", "px", "re-offer price", "reoffer price", "price", "sold", "issued", "offered") {
		s.char(':')
		s.space()
	}
	s.char('@')
}

// mayBeCalled reports whether the second of two numbers may be the price of a call protection rather than the end of a range:
// 99/101.
func (r *spanned) mayBeCalled() bool {
	return r.isRange() && !whole(100).less(r.Lo) && !r.Hi.less(whole(101))
}

// isPar reports whether the first number was the word par, which counts as signed.
func (r *spanned) isPar() bool { return r.Lo == whole(100) || r.Hi == whole(100) }

// hundredth returns a range in cents or basis points as percent. It is exact: numbers have no more than four digits after the
// point, else the range is not set.
func (r *Range) hundredth() Range {
	if r.Lo.Millionths.LowBits()%100 != 0 || r.Hi.Millionths.LowBits()%100 != 0 || !centBounds.containAll(r) {
		return Range{}
	}
	divided := func(n Number) Number {
		return Number{decimal128.FromU64(n.Millionths.LowBits() / 100), n.Set}
	}
	return Range{divided(r.Point), divided(r.Lo), divided(r.Hi)}
}
