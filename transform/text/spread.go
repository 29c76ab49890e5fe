package text

import "bytes"

// parseSpread reads a spread over a benchmark: T+95, MS flat, DBR 2.5% Feb-34+118, MS+105-110, 95bp over mid-swaps. If
// the text is a yield, the status says so, but the yield is not kept.
func parseSpread(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	if priced := s; string(priced.stage()) == string(stageFinal) {
		s = priced
	}
	v := s.spread(siblings.Currency, r)
	if plus := s; v == no && plus.char('+') {
		v = s.bareSpread(r)
	}
	if v == yes {
		var q remarks
		v = q.read(&s, &r.Main, basisPoints)
		if over := (benchmark{tenor: r.BenchmarkTenor}); r.Benchmark != nil {
			s.tenorNoted(&over)
			r.BenchmarkTenor = over.tenor
		}
		s.equivalent(siblings.Currency)
	}
	r.Basis = nil
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

// spread reads a benchmark, an optional security of it, and the spread over it; or the spread, and the benchmark after
// it.
func (s *scanner) spread(currency []byte, r *Reading) verdict {
	ahead := *s
	over, ok := ahead.benchmark(bonds, currency)
	if !ok {
		return s.spreadBefore(currency, r)
	}
	r.Reference = ahead.reference()
	v := ahead.over(&r.Main)
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

// equivalent skips the same price over another benchmark, in parentheses: MS+48 (B+75.6).
func (s *scanner) equivalent(currency []byte) {
	ahead := *s
	ahead.space()
	if !ahead.char('(') {
		return
	}
	if ahead.oneOf(equivalentWords...) {
		ahead.space()
	}
	var other Reading
	if ahead.spread(currency, &other) != yes || other.Benchmark == nil {
		return
	}
	ahead.noted(equivalentWords...)
	if ahead.char(')') {
		*s = ahead
	}
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

// spreadBefore reads a spread with the benchmark after it: 95bp over mid-swaps, flat to MS.
func (s *scanner) spreadBefore(currency []byte, r *Reading) verdict {
	ahead := *s
	found, v := ahead.span(decimal, basisPoints)
	flat := found.Range == exactly(whole(0)) && found.signed
	if v != yes || !found.unit && !flat {
		return no
	}
	ahead.space()
	if !ahead.oneOf("over", "above") && (!flat || !ahead.oneOf("to")) {
		return no
	}
	ahead.space()
	over, ok := ahead.benchmark(bonds, currency)
	if !ok {
		return no
	}
	over.set(r)
	r.Basis, r.Main = over.basis(), found.Range
	*s = ahead
	return yes
}

// over reads the spread after a benchmark: flat, or a sign and a number or range.
func (s *scanner) over(r *Range) verdict {
	s.space()
	found, v := s.span(decimal, basisPoints)
	if v == no || !found.signed {
		return no
	}
	*r = found.Range
	return v
}

// repeated reads the upper end of a range that repeats the benchmark: T+120 to T+125.
func (s *scanner) repeated(over *benchmark, currency []byte, r *Range) {
	ahead := *s
	if !r.Point.Set || !ahead.until() {
		return
	}
	again, ok := ahead.benchmark(bonds, currency)
	if !ok || again.kind != over.kind || !bytes.Equal(again.name, over.name) || !bytes.Equal(again.index, over.index) {
		return
	}
	var hi Range
	if ahead.over(&hi) != yes || !hi.Point.Set || hi.Point.less(r.Point) {
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

// reference reads the security of a benchmark, such as 2.5% Feb-34: an optional coupon, and the day or the month and
// year in which it is due. It returns the text as written; nil for none.
func (s *scanner) reference() []byte {
	ahead := *s
	if !ahead.char(' ') {
		return nil
	}
	start := ahead.rest
	coupon := ahead
	if _, ok := coupon.number(mixed); ok {
		coupon.unit(percent)
		if coupon.char(' ') {
			ahead = coupon
		}
	}
	if !ahead.referenceDate() {
		return nil
	}
	*s = ahead
	return start[:len(start)-len(ahead.rest)]
}

// referenceDate skips the date of a security: Feb-34, 15 Feb 2034, 02/34.
func (s *scanner) referenceDate() bool {
	if _, _, _, ok := s.writtenDay(); ok {
		return true
	}
	if _, _, ok := s.monthAndYear(); ok {
		return true
	}
	ahead := *s
	month, m := ahead.count()
	slash := ahead.char('/')
	_, y := ahead.count()
	if !slash || m == 0 || m > 2 || month < 1 || month > 12 || y != 2 && y != 4 {
		return false
	}
	*s = ahead
	return true
}
