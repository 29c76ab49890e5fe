package text

import "bytes"

// parseSpread reads a spread over a benchmark: T+95, MS flat, DBR 2.5% Feb-34+118, MS+105-110, 95bp over mid-swaps, 5bp inside
// BTP Mar-35. If the text is a yield, the status says so, but the yield is not kept.
func parseSpread(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	s.finalStage()
	landed := len(s.rest) < len(text)
	v := s.spread(siblings.Currency, r)
	if plus := s; v == no && plus.char('+') {
		if v = s.bareSpread(r); v == yes && landed && r.Main.Hi.less(leastLanded) {
			v = ambiguous
		}
	}
	if v == yes {
		var q remarks
		v = q.read(&s, &r.Main, basisPoints)
		s.priceRemarks(siblings.Currency, r)
		if stage := s.stageAfter(); stage != nil && !isStage(stage, stageFinal) { // T+120 IPT: not the spread at pricing
			v = no
		}
	}
	r.Basis = nil
	if v == yes && s.end() && spreadBounds.containAll(&r.Main) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{}
	y := scanner{text}
	y.oneOf("yield", "yld")
	y.space()
	yield, w := y.yield()
	if y.noted("yield", "yld", "ytm", "ytw"); w == yes && y.end() && yieldBounds.containAll(&yield) {
		r.Status = statusYield
		return
	}
	r.Status = unread(text, v)
}

// spread reads a benchmark, an optional security of it, and the spread over it; or the spread, and the benchmark after
// it.
func (s *scanner) spread(currency []byte, r *Reading) verdict {
	ahead := *s
	over, ok := ahead.benchmark(bonds, currency)
	if !ok {
		return s.spreadBefore(currency, r)
	}
	r.Reference = ahead.reference(&over)
	dash := r.Reference != nil && begins(ahead.rest, " - ")
	worded := begins(ahead.rest, " minus") || begins(ahead.rest, " neg")
	v := ahead.over(over.kind, &r.Main)
	if v == yes && (dash || r.Main.Point.Set && !worded && !mostBelow.less(r.Main.Point)) { // T 4.125% 11/15/35 - 88, T - 95: a dash or a minus?
		v = ambiguous
	}
	if v == yes {
		ahead.repeated(&over, currency, &r.Main)
		ahead.tenorNoted(&over)
		over.set(r)
		r.Basis = over.basis()
		*s = ahead
	} else {
		r.Reference = nil
	}
	return v
}

// priceRemarks reads what may follow a spread besides its qualities: the benchmark's tenor or security, and skips
// the price over another benchmark, the price that the spread gives, and the floor of an index, which have no column.
func (s *scanner) priceRemarks(currency []byte, r *Reading) {
	if r.Benchmark != nil {
		over := benchmark{tenor: r.BenchmarkTenor}
		s.tenorNoted(&over)
		r.BenchmarkTenor = over.tenor
		s.referenceNoted(currency, r)
	}
	s.equivalent(currency, r)
	s.movedNoted(r)
	s.noted("incl. curve adj.", "incl. curve adjustment", "incl. curve", "including curve adjustment", "including curve", "curve adj.", "curve adjusted", "curve-adjusted", "interpolated")
	for {
		var list remarkList
		comma := len(s.rest) > 0 && s.rest[0] == ','
		ahead, inside := list.next(*s)
		known := ahead.reoffer(inside, comma) || comma && r.Index != nil && ahead.floaterPrice(r) || r.Index != nil && ahead.floor()
		if !known || inside && !ahead.char(')') {
			return
		}
		*s = ahead
	}
}

// movedNoted skips a number of basis points with a sign, in parentheses after a spread over a benchmark: how far it has moved, or a premium. T+87.5
// (-12.5bp).
func (s *scanner) movedNoted(r *Reading) {
	ahead := *s
	ahead.space()
	if r.Benchmark == nil || !ahead.char('(') || ahead.end() || ahead.rest[0] != '+' && ahead.rest[0] != '-' {
		return
	}
	if n, ok := ahead.signedNumber(decimal); ok && n.signed && ahead.unit(basisPoints) && ahead.char(')') {
		*s = ahead
	}
}

// reofferWords are words before the price that a spread gives.
var reofferWords = []string{"re-offer price", "reoffer price", "re-offer", "reoffer", "issue price", "offer price", "cash price", "price", "oid", "at", "ip"}

// reoffer skips the price that a spread gives: (re-offer 99.847). Without its words it is a price only after a comma, and
// with a point: 3mE+475, 99.5.
func (s *scanner) reoffer(inside, comma bool) bool {
	ahead := *s
	bare := ahead
	worded := ahead.oneOf(reofferWords...) || ahead.char('@')
	if worded && (bare.oneOf("re-offer", "reoffer")) && bare.mayBeSpread("reoffer") {
		return false
	}
	comma = ahead.char('/') || comma
	ahead.char(':')
	ahead.space()
	begin := ahead.rest
	n, ok := ahead.number(asPrice)
	pointed := bytes.IndexByte(begin[:len(begin)-len(ahead.rest)], '.') >= 0
	if !ok || !issueBounds.contain(n) || !pointed && !worded || !worded && !comma && !inside || ahead.unit(basisPoints) || ahead.dashNext() {
		return false
	}
	ahead.unit(percent)
	ahead.noted("re-offer", "reoffer", "oid", "oip", "issue price")
	return s.skipTo(ahead)
}

// leastPriced is the least margin next to which a number without a point may be an issue price, basis points.
var leastPriced = whole(200)

// floaterPrices are the issue prices of floaters that may have no point.
var floaterPrices = within(95, 100)

// floaterPrice skips the issue price of a floater after a comma, as a range, or as a number that is far from its margin: E+475-500, 98.5-99;
// E+450, 99.
func (s *scanner) floaterPrice(r *Reading) bool {
	ahead := *s
	found, v := ahead.span(asPrice, percent)
	if v != yes || found.unit || found.signed || r.Main.Lo.less(leastPriced) || !floaterPrices.containAll(&found.Range) || !ahead.end() {
		return false
	}
	return s.skipTo(ahead)
}

// referenceNoted reads the security of a benchmark after the spread: UKT+68 (UKT 4.5% Sep-34).
func (s *scanner) referenceNoted(currency []byte, r *Reading) {
	ahead := *s
	ahead.space()
	if r.Reference != nil || !ahead.char('(') {
		return
	}
	ahead.oneOf("vs", "over")
	ahead.space()
	over, ok := ahead.benchmark(bonds, currency)
	if !ok || !bytes.Equal(over.name, r.Benchmark) {
		return
	}
	if reference := ahead.reference(&over); reference != nil && ahead.char(')') {
		*s, r.Reference = ahead, reference
	}
}

// equivalent skips the same price over another benchmark, in parentheses: MS+48 (B+75.6).
func (s *scanner) equivalent(currency []byte, r *Reading) {
	ahead := *s
	ahead.space()
	if !ahead.char('(') {
		return
	}
	if ahead.oneOf(equivalentWords...) {
		ahead.space()
		ahead.oneOf("to")
		ahead.space()
	}
	var other Reading
	if isBare(r) || ahead.spread(currency, &other) != yes || other.Benchmark == nil || bytes.Equal(other.Benchmark, r.Benchmark) { // T+120 (T+135): which one?
		return
	}
	ahead.noted(equivalentWords...)
	if ahead.char(')') {
		*s = ahead
	}
}

// isBare reports whether a reading is a spread whose benchmark the text does not name. Next to another price it may be how far that has
// moved, or a premium: 25bp (MS+95).
func isBare(r *Reading) bool {
	return r.Main.Lo.Set && r.Benchmark == nil && isStage(r.Basis, basisSpread)
}

// basis returns what a price over the benchmark is; nil if the benchmark is not settled.
func (b *benchmark) basis() []byte {
	switch b.kind {
	case government, swap:
		return basisSpread
	case floating:
		return basisMargin
	}
	return nil
}

// spreadBefore reads a spread with the benchmark after it: 95bp over mid-swaps, 95-100 over mids, +120 vs mids, flat to MS, 5bp
// inside BTP Mar-35.
func (s *scanner) spreadBefore(currency []byte, r *Reading) verdict {
	ahead := *s
	found, v := ahead.span(decimal, basisPoints)
	if v != yes {
		return no
	}
	ahead.space()
	flat := found.Range == exactly(whole(0)) && found.signed
	below := !found.signed && ahead.oneOf("inside", "through", "below", "under", "unter")
	if !below && !ahead.oneOf("over", "above", "über", "ueber") && (!flat || !ahead.oneOf("to")) && (!found.signed || !ahead.oneOf("vs.", "vs", "versus")) {
		return no
	}
	ahead.space()
	if ahead.oneOf("the") {
		ahead.space()
	}
	over, ok := ahead.benchmark(bonds, currency)
	if !ok {
		return no
	}
	over.set(r)
	r.Reference = ahead.reference(&over)
	if r.Basis, r.Main = over.basis(), found.Range; below {
		r.Main = found.negated()
	}
	*s = ahead
	return yes
}

// over reads the spread after a benchmark: flat, or a sign and a number or range. 1.20% is 120 basis points. Over an index of
// floating rates a number below five with a point is read as the margins of loans are (see putMargin): 3mE+0.45.
func (s *scanner) over(kind benchmarkKind, r *Range) verdict {
	s.space()
	found, v := s.span(decimal, basisPoints)
	if v == no || !found.signed {
		return no
	}
	switch *r = found.Range; {
	case v != yes || found.unit: // in basis points, or not read
	case s.unit(percent):
		if *r = found.hundredfold(); kind == government && !found.Hi.less(whole(5)) { // B+ 8%: a rating and a yield?
			return ambiguous
		}
		v = s.upperPercent(r)
	case kind == floating && found.pointed && found.Hi.less(whole(10)):
		var margin Reading
		if v = margin.putMargin(&found); v == yes && !found.Hi.less(leastMargin) && margin.Main != found.Range { // SONIA+8.5
			v = ambiguous
		}
		if *r = margin.Main; v == yes && margin.Main != found.Range {
			v = s.upperPercent(r)
		}
	case kind != floating && found.pointed && found.Hi.less(whole(2)) && whole(0).less(found.Hi): // T+1.25: in percent?
		v = ambiguous
	}
	return v
}

// upperPercent reads the upper end of a range of spreads in percent, of which r is the lower one in basis points: MS+1.5%/1.75%. After a comma or in
// parentheses, or if it falls, it may be the yield, too. One that is too far away is the yield, and one with a word after it is what that says:
// both are left.
func (s *scanner) upperPercent(r *Range) verdict {
	ahead := *s
	joined := ahead.until()
	if !joined {
		ahead.char(',')
		ahead.space()
		ahead.char('(')
	}
	n, ok := ahead.signedNumber(mixed)
	if !ok || !ahead.unit(percent) || !r.Point.Set || ahead.isSaid(aboutEverything) {
		return yes
	}
	single := exactly(n.n)
	switch hi := single.hundredfold().Hi; {
	case !r.Lo.less(hi):
		return ambiguous
	case isTooWide(decimal, r.Lo, hi, true):
		return yes
	case !joined, begins(s.rest, " -") && !begins(s.rest, " - "), r.Lo.less(whole(0)) && !n.signed:
		return ambiguous
	default:
		*s, *r = ahead, Range{Lo: r.Lo, Hi: hi}
		return yes
	}
}

// isSaid reports whether the next word says that the number before it is about one of some topics: 1% floor, 3.5% yield.
func (s *scanner) isSaid(about topics) bool {
	next := *s
	next.space()
	for _, w := range remarkIndex.next(&next) {
		if word := next; remarkWords[w.row].at == last && remarkWords[w.row].about&about != 0 && word.word(w.word) {
			return true
		}
	}
	return false
}

// repeated reads the upper end of a range that repeats the benchmark: T+120 to T+125. At a slash they may be two tranches.
func (s *scanner) repeated(over *benchmark, currency []byte, r *Range) {
	ahead := *s
	if !r.Point.Set || ahead.slashNext() || !ahead.until() {
		return
	}
	again, ok := ahead.benchmark(bonds, currency)
	if !ok || again.tenor.Set && again.tenor != over.tenor || again.kind != over.kind || !bytes.Equal(again.name, over.name) || !bytes.Equal(again.index, over.index) {
		return
	}
	var hi Range
	if ahead.over(over.kind, &hi) != yes || !hi.Point.Set || !r.Point.less(hi.Point) || isTooWide(decimal, r.Point, hi.Point, false) {
		return
	}
	*s, *r = ahead, Range{Lo: r.Point, Hi: hi.Point}
}

// tenorNoted reads the benchmark's tenor after the spread: T+95 (10yr).
func (s *scanner) tenorNoted(over *benchmark) {
	ahead := *s
	ahead.space()
	if over.tenor.Set || !ahead.char('(') {
		return
	}
	if tenor, ok := ahead.years(); ok && ahead.char(')') {
		*s, over.tenor = ahead, tenor
	}
}

// reference reads the security of a benchmark, such as 2.5% Feb-34: an optional coupon, and the day, the month and year or
// the year in which it is due. A government's may have the number of its series instead: #366. It returns the text as
// written; nil for none.
func (s *scanner) reference(over *benchmark) []byte {
	ahead := *s
	if !ahead.char(' ') && !begins(ahead.rest, "#") {
		return nil
	}
	start := ahead.rest
	if over.kind == government && ahead.yearBefore() { // BTP 2033 + 8bp
		*s = ahead
		return start[:len(start)-len(ahead.rest)]
	}
	coupon, named := ahead, false
	if _, ok := coupon.number(mixed); ok {
		named = coupon.unit(percent)
		if coupon.char(' ') {
			ahead = coupon
			if ahead.oneOf("due") {
				ahead.space()
			}
		}
	}
	if !ahead.referenceDate() && (!named || !ahead.shortYear()) {
		if ahead = (scanner{start}); over.kind != government || !ahead.series(over) {
			return nil
		}
	}
	*s = ahead
	return start[:len(start)-len(ahead.rest)]
}

// series skips the number of a series of a government's securities: #366, three digits, or the two of an OLO's line.
func (s *scanner) series(over *benchmark) bool {
	ahead := *s
	marked := ahead.char('#')
	number, n := ahead.count()
	line := n == 2 && string(over.name) == "OLO" && number >= leastLine
	return (marked && n > 0 && n <= groupDigits || n == groupDigits || line) && !ahead.unit(basisPoints) && s.skipTo(ahead)
}

// shortYear skips a year of two digits after the coupon of a security: the 35 of 0 5/8% 35.
func (s *scanner) shortYear() bool {
	ahead := *s
	ahead.char('\'')
	_, n := ahead.count()
	next := ahead
	next.space()
	return n == 2 && (next.char('+') || next.char('-')) && s.skipTo(ahead)
}

// yearBefore skips the year in which a security is due, before the sign of the spread.
func (s *scanner) yearBefore() bool {
	ahead := *s
	year, n := ahead.count()
	next := ahead
	next.space()
	return n == 4 && century <= year && year < century+100 && (next.char('+') || next.char('-')) && s.skipTo(ahead)
}

// referenceDay skips the day of a security in digits, in either order of day and month: 11/15/35.
func (s *scanner) referenceDay() bool {
	ahead := *s
	first, a := ahead.count()
	slash1 := ahead.char('/')
	second, b := ahead.count()
	slash2 := ahead.char('/')
	_, y := ahead.count()
	if !slash1 || !slash2 || a == 0 || a > 2 || b == 0 || b > 2 || y != 2 && y != 4 || first < 1 || second < 1 {
		return false
	}
	return max(first, second) <= 31 && min(first, second) <= 12 && !begins(ahead.rest, "-") && s.skipTo(ahead)
}

// referenceDate skips the date of a security: Feb-34, 15 Feb 2034, 02/34, 11/15/35.
func (s *scanner) referenceDate() bool {
	if _, _, _, ok := s.writtenDay(); ok {
		return true
	}
	if _, _, ok := s.monthAndYear(); ok {
		return true
	}
	if s.referenceDay() {
		return true
	}
	ahead := *s
	month, m := ahead.count()
	if m == 4 && century <= month && month < century+100 {
		return s.skipTo(ahead)
	}
	slash := ahead.char('/')
	_, y := ahead.count()
	if !slash || m == 0 || m > 2 || month < 1 || month > 12 || y != 2 && y != 4 {
		return false
	}
	*s = ahead
	return true
}
