package text

import "bytes"

// measures are what a yield is to: the worst call, maturity, or the first call.
var measures = []struct {
	words   []string
	measure []byte
}{
	{[]string{"ytw", "yield to worst", "yield-to-worst", "to worst"}, []byte("YTW")},
	{[]string{"ytm", "yield to maturity", "yield-to-maturity", "to maturity"}, []byte("YTM")},
	{[]string{"ytc", "yield to call", "yield-to-call", "to call"}, []byte("YTC")},
}

// parseYield reads a yield: 3.412%, -0.123%, 5.875, 7-7.25%, 7.25% (8.1% PIK), 4.25% YTW, 4.75% area, >12%, seven per cent. A
// number without a unit is in percent. Of the stages only the final one is read: the column is the yield at pricing.
func parseYield(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	v := s.yieldText(r)
	if v == yes && s.end() && yieldBounds.containAll(&r.Main) && (!r.PIK.Set || yieldBounds.contain(r.PIK)) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{Status: unread(text, v)}
}

func (s *scanner) yieldText(r *Reading) verdict {
	spread := (&scanner{s.rest}).oneOf(spreadWords...)
	before := len(s.rest)
	s.finalStage()
	final := len(s.rest) < before
	s.priceToYield()
	if s.oneOf(yieldKinds...) {
		s.space()
	}
	s.measure(r)
	if life := *s; life.tenorOf() {
		*s = life
	}
	s.oneOf(yieldNames...)
	s.char(':')
	s.space()
	var limit qualifier
	limit.named(s)
	if s.has("- ") { // a dash or a minus?
		return ambiguous
	}
	if rate, ok := s.spelledRate(); ok {
		r.Main = exactly(rate)
	} else {
		begin := s.rest
		found, v := s.span(mixed, percent)
		if v != yes {
			return v
		}
		if !found.unit && (spread || !bytes.ContainsAny(begin[:len(begin)-len(s.rest)], "0123456789")) { // spread fixed 5.9; six: what?
			return no
		}
		if r.Main = found.Range; found.mayMissPoint() || final && r.Main.isRange() && hasRates(begin) {
			return ambiguous
		}
	}
	s.inKind(r)
	limit.ofYield(s)
	s.ish(&limit)
	s.measure(r)
	s.noted("yield", "yld", "all-in", "all in", "real", "cash", "nominal")
	if s.noted("or so") {
		limit.about = true
	}
	s.horizon()
	if s.noted("semi", "s.a.", "s.a", "sa", "annual", "ann") && r.Main.isRange() && r.Main.Hi.minus(r.Main.Lo).less(quarterPoint) { // 4.5% - 4.4% s.a.
		return ambiguous
	}
	var q remarks
	if v := q.read(s, &r.Main, percent); v != yes {
		return v
	}
	s.measure(r)
	switch r.Quality = q.quality(); {
	case q.inRange: // talk of a price that is not set: this column has no quality for it
		return no
	case limit.least || limit.most:
		if r.Quality != nil || limit.about {
			return no
		}
		var v verdict
		r.Quality, v = limit.apply(&r.Main)
		return v
	case r.Quality == nil && limit.about:
		r.Quality = qualityApproximate
	}
	return yes
}

// hasRates reports whether a text has two rates. After a final stage they may be the coupon and the yield: priced 7.125% / 7.25%.
func hasRates(text []byte) bool {
	before, _, _ := bytes.Cut(text, []byte("(")) // 7.25-7.5% (8% PIK)
	return bytes.Count(before, []byte("%")) > 1
}

// tenorOf skips the life to which a yield is computed, before its word: 3yr yield.
func (s *scanner) tenorOf() bool {
	_, ok := s.years()
	s.space()
	return ok && (begins(s.rest, "yield") || begins(s.rest, "yld"))
}

// yieldNames are words for a yield before it.
var yieldNames = []string{"yields", "yield", "ylds", "yld", "rendite", "rendement", "rendimiento", "rendimento"}

// yieldKinds are words before a yield that no column has.
var yieldKinds = []string{"profit rate", "profit", "real", "nominal", "re-offer", "reoffer", "implied", "gross", "all-in", "all in", "indicative", "initial", "to yield", "rendite", "ro", "annual", "semi-annual"}

// priceToYield skips the price or the coupon before the yield: par to yield 9.375%, 6.75% to yield 6.875%, 99.563 / 4.412%.
func (s *scanner) priceToYield() {
	ahead := *s
	if n, ok := ahead.number(asPrice); ok && issueBounds.contain(n) && ahead.slashNext() {
		ahead.space()
		ahead.char('/')
		ahead.space()
		if rate := ahead; rate.isRateNext() {
			*s = ahead
			return
		}
	}
	ahead = *s
	if n, ok := ahead.signedNumber(asPrice); ok && (ahead.unit(percent) || priceBounds.contain(n.n)) && ahead.char(' ') && ahead.oneOf("to yield", "yielding", "to yld") {
		ahead.space()
		*s = ahead
	}
}

// isRateNext reports whether a number in percent is next, and nothing else.
func (s *scanner) isRateNext() bool {
	next := *s
	_, ok := next.number(mixed)
	return ok && next.unit(percent) && next.end()
}

// named reads a qualifier and a word such as of, which follow the name of a number: of at least, at least, at.
func (q *qualifier) named(s *scanner) {
	if q.before(s); s.oneOf("of", "at", "is") {
		s.space()
		q.before(s)
	}
}

// ofYield reads that a yield is a limit, after it: 12%+, 12% or more. +/- is no limit.
func (q *qualifier) ofYield(s *scanner) {
	if begins(s.rest, "+/-") || begins(s.rest, "+-") {
		return
	}
	switch {
	case s.char('+'), s.noted(leastAfter...):
		q.least = true
	case s.noted(mostAfter...):
		q.most = true
	}
}

// doubtfulRate is the least rate, in percent, that is ambiguous as an integer without a unit: 45 may be 4.5 without its point.
var doubtfulRate = whole(20)

// mayMissPoint reports whether a rate may be one whose point is missing.
func (r *spanned) mayMissPoint() bool {
	return !r.unit && !r.pointed && r.Point.Set && !r.Point.less(doubtfulRate) && yieldBounds.contain(r.Point) && r.Point.isMultipleOf(powers[scale])
}

// spelledRate reads a rate in words: seven per cent.
func (s *scanner) spelledRate() (n Number, ok bool) {
	ahead := *s
	n, ok = ahead.spelled()
	return n, ok && ahead.unit(percent) && s.skipTo(ahead)
}

// horizon skips the life to which the yield of a loan is computed, which has no column: yield to 3yr, (4yr).
func (s *scanner) horizon() {
	ahead := *s
	ahead.space()
	inside := ahead.char('(')
	named := ahead.oneOf("yield to", "yld to", "to")
	ahead.space()
	ahead.oneOf("a")
	ahead.space()
	if _, ok := ahead.tenor(); !ok || !inside && !named {
		return
	}
	ahead.space()
	ahead.oneOf("average life", "avg life", "life", "yield")
	if !inside || ahead.char(')') {
		*s = ahead
	}
}

// measure reads what a yield is to, if the text says so and no measure was read before.
func (s *scanner) measure(r *Reading) {
	for i := 0; r.Measure == nil && i < len(measures); i++ {
		if s.noted(measures[i].words...) {
			r.Measure = measures[i].measure
			s.char(':')
			s.space()
		}
	}
}

// yield reads a number or range in percent that has the unit.
func (s *scanner) yield() (Range, verdict) {
	s.priceToYield()
	found, v := s.span(mixed, percent)
	if v == yes && !found.unit {
		v = no
	}
	return found.Range, v
}

// inKind reads the yield for interest paid in kind, after another yield: (8.1% PIK).
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
