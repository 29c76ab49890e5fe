package text

import "bytes"

// parseMargin reads a loan's margin: S+325, E+400-425, E+400 to E+425, S+CSA+350, Term SOFR+325, or 325bp over an index that
// the text does not name. An issue price may follow it: S+325/99.5. A grid is the range of its margins: 110-225bp grid.
func parseMargin(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	v := s.margin(siblings.Currency, r)
	if v == yes {
		v = s.afterMargin(r)
	}
	if begins(text, "- ") || v == yes && !mostBelow.less(r.Main.Lo) { // a dash, or a minus?
		v = ambiguous
	}
	if v == yes && bytes.Contains(text, []byte("/")) && r.Main.Point.Set && hasPart(text) && !r.Main.Point.isMultipleOf(powers[scale]) { // S+325 1/2: of a point of discount?
		v = ambiguous
	}
	if v == yes && s.end() && spreadBounds.containAll(&r.Main) && priceBounds.containAll(&r.Issue) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{Status: unread(text, v)}
}

// mostBelow is a spread or margin that is too far below its benchmark. 45 and more are usual above it: the sign before them may be a dash.
var mostBelow = whole(-45)

func (s *scanner) margin(currency []byte, r *Reading) (v verdict) {
	s.facility()
	called := begins(s.rest, "margin")
	if s.oneOf(marginWords...) {
		s.char(':')
		s.space()
		s.oneOf("of", "at")
		s.space()
	}
	if s.about() {
		r.Quality = qualityApproximate
	}
	begin := s.rest
	over, named := s.benchmark(loans, currency)
	if !named {
		return s.bareMargin(currency, called, r)
	}
	r.Benchmark, r.CSA = over.name, flag(s.adjusted())
	s.space()
	before := begin[:len(begin)-len(s.rest)]
	if v = s.marginSize(r); v == yes && r.Main.Point.Set {
		v = s.upperMargin(before, r)
	}
	return v
}

// facilityWords are names of a loan's tranches, which may be before its margin.
var facilityWords = []string{"revolver", "rcf", "term loan b", "term loan a", "term loan", "tlbs", "tlb", "tla", "tlc", "tl"}

// facility skips the names of tranches before their margin: TLB S+325, TLA/RCF E+225.
func (s *scanner) facility() {
	ahead := *s
	for ahead.oneOf(facilityWords...) {
		if number := ahead; number.char('-') {
			if _, n := number.count(); n == 1 {
				ahead = number
			}
		}
		if ahead.char(' ') && !ahead.end() {
			if ahead.rest[0] != '-' && ahead.rest[0] != '/' {
				*s = ahead
			}
			return
		}
		if !ahead.char('/') {
			return
		}
	}
}

// hasPart reports whether a text has a fraction after a number: 325 1/2.
func hasPart(text []byte) bool {
	for i := 1; i < len(text); i++ {
		s := scanner{text[i:]}
		if _, found := s.partOfPoint(); found && isDigit(text[i-1]) {
			return true
		}
	}
	return false
}

// ofOneTranche returns a function that takes no range from a text which names two tranches: TLA/RCF E+225/250.
func ofOneTranche(read Func) Func {
	return func(text []byte, siblings Siblings, r *Reading) {
		if read(text, siblings, r); isStatus(r, statusRange) && namesFacilities(text) && numbersAtSlash(text) {
			*r = Reading{Status: statusAmbiguous}
		}
	}
}

// numbersAtSlash reports whether a slash is between two numbers.
func numbersAtSlash(text []byte) bool {
	for i, c := range text {
		before, after := bytes.TrimRight(text[:i], " "), bytes.TrimLeft(text[i+1:], " ")
		if c == '/' && len(before) > 0 && len(after) > 0 && isDigit(before[len(before)-1]) && isDigit(after[0]) {
			return true
		}
	}
	return false
}

// namesFacilities reports whether a text names two tranches of a loan.
func namesFacilities(text []byte) bool {
	n := 0
	for i := range text {
		if i > 0 && (isLetter(text[i-1]) || isDigit(text[i-1])) {
			continue
		}
		if s := (scanner{text[i:]}); s.oneOf(facilityWords...) {
			n++
		}
	}
	return n > 1
}

// marginWords are names of a margin before it.
var marginWords = []string{"opening margin", "initial margin", "starting margin", "drawn margin", "launch margin", "margin grid", "pricing grid", "margin", "opening", "grid", "price talk", "talk", "guidance"}

// upperMargin reads the upper end of a range whose index is written twice: E+425 to E+450. before is what was before the lower
// end. Both indices are written the same. At a slash are two tranches rather than a range: they are not read. A range that falls
// is ambiguous.
func (s *scanner) upperMargin(before []byte, r *Reading) verdict {
	ahead := *s
	if ahead.slashNext() || !ahead.until() || len(ahead.rest) < len(before) || !bytes.EqualFold(ahead.rest[:len(before)], before) {
		return yes
	}
	ahead.rest = ahead.rest[len(before):]
	var upper Reading
	v := ahead.marginSize(&upper)
	switch {
	case v != yes || !upper.Main.Point.Set:
		return v
	case upper.Main.Point.less(r.Main.Point):
		return ambiguous
	}
	*s, r.Main = ahead, Range{Lo: r.Main.Lo, Hi: upper.Main.Hi}
	return yes
}

// marginSize reads the number or range after the index. A second number after a slash may be a margin or an issue price.
// It is a price if it says OID, if it is less than the margin, or if margins are not quoted so finely; then the margin is
// one number, and the price is left for afterMargin. If it may be either, the text is ambiguous. putMargin says what the unit
// of a margin without one is.
func (s *scanner) marginSize(r *Reading) verdict {
	ahead := *s
	first, ok := ahead.signedNumber(decimal)
	if !ok || !first.signed {
		return no
	}
	alone := spanned{Range: exactly(first.n), unit: ahead.unit(basisPoints), pointed: first.pointed}
	after := ahead
	after.space()
	if after.char('/') {
		after.space()
		if second, ok := after.number(decimal); ok && issueBounds.contain(second) && !after.unit(basisPoints) {
			v := r.putMargin(&alone)
			low := r.Main.Point.less(whole(200)) // E+125/95: drawn and undrawn?
			if v == yes && !after.noted("oid") && (low || !second.less(r.Main.Point)) && second.isMultipleOf(marginStep) || !second.less(whole(101)) {
				return ambiguous
			}
			*s = ahead
			return v
		}
	}
	if s.marginInPercent(r) {
		return yes
	}
	found, v := s.span(decimal, basisPoints)
	if v != yes {
		return v
	}
	if !found.unit && s.unit(percent) {
		return r.putPercent(&found)
	}
	if v = r.putMargin(&found); v == yes && r.Main != found.Range { // E+3.5/4%; in S+3.5/0% a floor is left
		s.upperPercent(&r.Main)
	}
	return v
}

// The bounds of margins that have no unit. leastMargin is the least margin in basis points, and leastWholeMargin the least
// one that has no point, or is no multiple of marginStep: S+6 may be 600. mostPercent is the greatest margin in percent.
var (
	leastMargin      = whole(5)
	leastWholeMargin = whole(10)
	mostPercent      = whole(15)
)

// putMargin sets a margin. Without a unit it is in basis points. But a margin with digits after a point is in percent if
// it is too small for basis points: E+4.25. If it may be either, or is neither, the text is ambiguous: E+12.5, E+4.
func (r *Reading) putMargin(found *spanned) verdict {
	if r.Main = found.Range; found.unit || found.Lo.isZero() && found.Hi.isZero() {
		return yes
	}
	inBP, inPercent := true, found.pointed
	for _, n := range []Number{found.Lo, found.Hi} {
		size := n.abs()
		least := leastMargin
		if !found.pointed || !size.isMultipleOf(marginStep) {
			least = leastWholeMargin
		}
		inBP = inBP && (n.isZero() || !size.less(least))
		inPercent = inPercent && !n.less(whole(0)) && !mostPercent.less(n)
	}
	switch {
	case inBP == inPercent:
		return ambiguous
	case inPercent:
		return r.putPercent(found)
	}
	return yes
}

// putPercent sets a margin in percent. Two numbers that are too far apart for a range are ambiguous: S+3.50 - 9.5%.
func (r *Reading) putPercent(found *spanned) verdict {
	if r.Main = found.hundredfold(); r.Main.isRange() && isTooWide(decimal, r.Main.Lo, r.Main.Hi, false) {
		return ambiguous
	}
	return yes
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
		if hi, fits := d.times(2); ok && fits && ahead.unit(percent) && n.less(hi) && !negative && !isTooWide(decimal, n, hi, true) {
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
		case r.CSA == No && (ahead.adjusted() || (comma || inside) && ahead.adjustedBy()):
			r.CSA = Yes
		case ahead.oneOf("no csa", "no cas", "ex csa", "w/o csa"):
		case ahead.oneOf("margin grid", "pricing grid", "grid", "drawn margin", "drawn", "pik", "payable in kind", "opening margin", "opening", "margin"), (comma || inside) && ahead.callTerms():
		case (comma || ahead.slashNext()) && ahead.floorAlone(), ahead.marginBefore(), (r.Benchmark != nil || comma || inside) && ahead.floor(), inside && ahead.otherTerms(), !r.Issue.Lo.Set && ahead.issue(comma, r):
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

// beforeWords are the words before the margin or price that was in place before this one.
var beforeWords = []string{"from", "fr.", "fr", "was", "vs", "vs.", "previously", "flexed from", "flexed down from", "flexed up from", "flexed in from", "flexed out from", "reverse flexed from", "reverse-flexed from", "tightened from", "widened from", "cut from", "reduced from", "revised from", "down from", "up from", "in from", "out from", "talk", "talk was", "talked at"}

// marginBefore skips the margin before this one: from E+450.
func (s *scanner) marginBefore() bool {
	ahead := *s
	if !ahead.oneOf(beforeWords...) {
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
	marked = marked || found.pointed && !found.signed && issueBounds.containAll(&found.Range)
	if v != yes || found.signed && !found.isPar() || found.mayBeCalled() || !found.Hi.less(whole(101)) || found.Lo.less(whole(80)) || !ahead.noted("oid") && (!marked || !issueBounds.containAll(&found.Range)) { // 50 OID: a discount
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
	named := ahead.oneOf("floor", "flr")
	if named {
		ahead.char(':')
		ahead.space()
	}
	if _, ok := ahead.number(decimal); !ok || !ahead.unit(percent) && !ahead.unit(basisPoints) || !named && !ahead.noted("floor", "flr") {
		return false
	}
	return s.skipTo(ahead)
}

// mostFloor is the greatest floor of an index, in percent, that is read without its word.
var mostFloor = whole(1)

// floorAlone skips a floor without its word, between the margin and the issue price: S+325, 0%, 99.5.
func (s *scanner) floorAlone() bool {
	ahead := *s
	ahead.space()
	ahead.char('/')
	ahead.space()
	n, ok := ahead.number(mixed)
	ok = ok && !mostFloor.less(n) && ahead.unit(percent)
	return ok && (ahead.end() || ahead.rest[0] == ',' || ahead.slashNext()) && s.skipTo(ahead)
}

// bareMargin reads a margin without an index before it: 325bp, or 325 over SOFR. The unit is required, except after the word margin or
// before an index: a bare number may be anything.
func (s *scanner) bareMargin(currency []byte, called bool, r *Reading) verdict {
	found, v := s.span(decimal, basisPoints)
	inPercent := v == yes && !found.unit && s.unit(percent)
	ahead := *s
	_, indexed := ahead.indexAfter(currency)
	if v == yes && !found.unit && !inPercent && (!called && !indexed || found.signed || found.pointed || found.Lo.less(leastWholeMargin)) {
		return no
	}
	r.Main, r.CSA = found.Range, No
	if inPercent {
		r.Main = found.hundredfold()
	}
	if over, ok := s.indexAfter(currency); ok {
		r.Benchmark = over.name
		return v
	}
	if inPercent { // 2.75%: a fixed rate?
		return no
	}
	return v
}

// indexAfter reads the index after a margin: 325bp over SOFR.
func (s *scanner) indexAfter(currency []byte) (over benchmark, ok bool) {
	ahead := *s
	ahead.noted("p.a.", "p.a", "pa", "per annum")
	ahead.space()
	if !ahead.oneOf("over", "above", "über", "ueber") {
		return over, false
	}
	ahead.space()
	if over, ok = ahead.benchmark(loans, currency); ok {
		*s = ahead
	}
	return over, ok
}

// adjusted skips +CSA or +CAS, a credit spread adjustment, and its size: +10bp CSA, +CSA (10bp).
func (s *scanner) adjusted() bool {
	ahead := *s
	ahead.space()
	if !ahead.char('+') && !ahead.oneOf("plus") {
		return false
	}
	ahead.space()
	if sized, size := ahead, ahead; sized.adjustment() {
		if n, ok := size.number(decimal); ok && mostAdjustment.less(n) { // S+350 CSA
			return false
		}
		ahead = sized
		ahead.space()
	}
	if !ahead.oneOf(adjustmentWords...) {
		return false
	}
	*s = ahead
	if ahead.space(); ahead.char('(') && ahead.adjustment() && ahead.char(')') {
		*s = ahead
	}
	return true
}

// mostAdjustment is the greatest plausible adjustment after a margin, in basis points: 99.5 CSA has a price.
var mostAdjustment = whole(50)

// adjustedBy skips an adjustment after the margin: 10bp CSA, 10/15/25 CSA.
func (s *scanner) adjustedBy() bool {
	ahead, size := *s, *s
	sized := ahead.adjustment()
	if first, ok := size.number(decimal); ok && (mostAdjustment.less(first) || first.isZero()) {
		return false
	}
	if sized {
		ahead.space()
	} else {
		ahead = *s
	}
	return ahead.oneOf(adjustmentWords...) && (sized || ahead.end() || ahead.rest[0] == ')' || ahead.rest[0] == ',') && s.skipTo(ahead)
}

// saysAdjustment returns what the remarks of a text say about an adjustment: S+350, CSA 10bp. It is unknown whether one is added to a margin that
// includes one, or if its size is that of something else: 99.5 CSA.
func saysAdjustment(text []byte) Flag {
	for i := range text {
		if i > 0 && (isLetter(text[i-1]) || isDigit(text[i-1]) || text[i-1] == '.' || text[i-1] == '+') { // S+350 CSA
			continue
		}
		s := scanner{text[i:]}
		none, included := s.oneOf("no", "zero"), s.oneOf("incl.", "incl", "including")
		s.space()
		size := s
		if sized := s; sized.adjustment() {
			sized.space()
			s = sized
		}
		if !s.oneOf(adjustmentWords...) {
			continue
		}
		n, ok := size.number(decimal)
		if !ok {
			s.char(':')
			s.space()
			s.oneOf("of")
			s.space()
			n, ok = s.number(decimal)
		}
		switch {
		case none, ok && n.isZero():
			return No
		case included, ok && mostAdjustment.less(n):
			return Unknown
		}
		return Yes
	}
	return No
}

// adjustmentWords are names of an adjustment of an index.
var adjustmentWords = []string{"csa", "cas", "credit spread adjustment", "credit adjustment spread"}

// adjustment skips the size of an adjustment, or its sizes by the length of the interest period: 10/15/25.
func (s *scanner) adjustment() bool {
	_, ok := s.number(decimal)
	for ok && s.char('/') {
		_, ok = s.number(decimal)
	}
	s.unit(basisPoints)
	return ok
}
