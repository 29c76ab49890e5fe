package text

import (
	"bytes"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// unit is the unit of a number.
type unit uint8

const (
	basisPoints unit = iota // bp or bps
	percent                 // %
)

var basisPointWords = []string{"bp", "bps", "bp.", "bps.", "bpts", "basispunkte", "basispunkten", "basis points", "basis point", "b.p.", "pb", "pbs"}

// unit skips a unit, if it is next.
func (s *scanner) unit(u unit) bool {
	ahead := *s
	ahead.space()
	if u == basisPoints && !ahead.oneOf(basisPointWords...) || u == percent && !ahead.char('%') && !ahead.oneOf("pct", "percent", "per cent") {
		return false
	}
	*s = ahead
	return true
}

// until skips the sign or word between the two ends of a range.
func (s *scanner) until() bool {
	ahead := *s
	ahead.space()
	if !ahead.char('-') && !ahead.char('/') && !ahead.oneOf("to") {
		return false
	}
	ahead.space()
	*s = ahead
	return true
}

// slashNext reports whether a slash is next, perhaps after a space.
func (s *scanner) slashNext() bool {
	next := *s
	next.space()
	return next.char('/')
}

// signedNumber is a number with its sign, as one end of a range or alone.
type signedNumber struct {
	n        Number
	signed   bool // the text has a sign, or a word that needs none: flat, par
	negative bool
	worded   bool // the sign is a word, which counts for both ends of a range
	digits   int  // before the point
	decimals int  // after the point
	zero     bool // the first digit is a 0 before others
	pointed  bool // it has digits after a point, or a part in words
	comma    bool // it has a decimal comma
	part     bool // it has a part of a basis point
}

// signedNumber reads a number with an optional sign. flat is 0.
func (s *scanner) signedNumber(as notation) (b signedNumber, ok bool) {
	ahead := *s
	if as == decimal && ahead.oneOf("flat") {
		*s = ahead
		return signedNumber{n: whole(0), signed: true}, true
	}
	b.worded = begins(ahead.rest, "neg") || begins(ahead.rest, "minus")
	b.negative, b.signed = ahead.sign()
	if b.signed {
		ahead.space()
	}
	if as == asPrice && ahead.oneOf("par") {
		*s = ahead
		return signedNumber{n: whole(100), signed: true}, !b.signed
	}
	for n := 0; n < len(ahead.rest) && isDigit(ahead.rest[n]); n++ {
		b.digits++
	}
	begin := ahead.rest
	b.zero = b.digits > 1 && begin[0] == '0'
	if b.n, b.comma, ok = ahead.anyNumber(as); ok {
		read := begin[:len(begin)-len(ahead.rest)]
		point := bytes.IndexByte(read, '.')
		if point >= 0 {
			b.decimals = len(read) - point - 1
		}
		b.pointed = point >= 0 || b.digits == 0 && !b.n.isMultipleOf(powers[scale])
		if as == decimal && !b.pointed && !b.comma && b.digits > 0 {
			if part, found := ahead.partOfPoint(); found {
				b.n, b.pointed, b.part = b.n.plus(part), true, true
			}
		}
		b.n = b.n.signed(b.negative)
		*s = ahead
	}
	return b, ok
}

// partOfPoint reads the part of a basis point after a whole number: the 1/2 of MS+62 1/2. A tenor or a percentage after it is another number's.
func (s *scanner) partOfPoint() (n Number, ok bool) {
	ahead := *s
	if !ahead.char(' ') {
		return n, false
	}
	if n, ok = ahead.fractionHere(); !ok || !n.isMultipleOf(powers[scale]/8) || !ahead.end() && (isDigit(ahead.rest[0]) || isLetter(ahead.rest[0]) && !begins(ahead.rest, "b") || ahead.rest[0] == '.' || ahead.rest[0] == '/') {
		return n, false
	}
	if after := ahead; after.unit(percent) {
		return n, false
	}
	after := ahead
	if after.space(); after.oneOf(yearWords...) {
		return n, false
	}
	return n, s.skipTo(ahead)
}

// spanned is a number or a range, and how it is written.
type spanned struct {
	Range
	unit    bool // a unit follows one of the numbers
	signed  bool // the first number has a sign
	pointed bool // one of the numbers has a point
}

// span reads a number or a range. A range is ambiguous if its first number is negative and its second has no sign
// (MS-5-7), or if it falls and the second number may be short for a longer one (105-10 for 105-110), or if it falls at a
// slash: 238/235 may be the two sides of a quote. A falling range whose second number has a sign is read. 3/4 percent may be a
// fraction. Of 5.25-50% the second number is 5.50.
//
// In basis points 1.025 is ambiguous: a point between groups of three digits is usual in some countries, and thousandths
// of a basis point are not.
func (s *scanner) span(as notation, after unit) (r spanned, v verdict) {
	begin := s.rest
	first, ok := s.signedNumber(as)
	if !ok {
		return r, no
	}
	r.signed, r.pointed = first.signed, first.pointed
	if read := begin[:len(begin)-len(s.rest)]; after == basisPoints && first.digits == 1 && len(read) > 4 && read[len(read)-4] == '.' && read[len(read)-5] != '0' {
		return r, ambiguous
	}
	r.unit = s.unit(after)
	ahead := *s
	slash, dash := ahead.slashNext(), (&scanner{ahead.rest}).char('-')
	bySign := slash || ahead.dashNext()
	apart := begins(ahead.rest, " -") && !begins(ahead.rest, " - ")
	between := ahead
	between.space()
	worded := between.oneOf("to")
	spacedDash := begins(ahead.rest, " -")
	spaced := begins(ahead.rest, " ")
	second, isRange := signedNumber{}, ahead.until()
	if isRange {
		second, isRange = ahead.signedNumber(as)
		if gives := ahead; slash && after == basisPoints && gives.unit(percent) && !(&scanner{s.rest}).unit(percent) { // T+168/5.75%: the yield
			if as == decimal && !first.pointed && !second.signed && isFraction(first.n.abs(), second.n) { // T+9/16%
				return r, ambiguous
			}
			isRange = false
		}
		if slash && after == basisPoints && second.isExactPrice() { // T+87.5 / 99.611
			isRange = false
		}
		if life := ahead; after == percent && !slash && !dash && life.char('y') || life.oneOf(yearWords...) { // 9.2% to 3yrs
			isRange = false
		}
	}
	if rule := ahead; isRange && second.n == whole(144) && rule.oneOf("a") {
		if rule.space(); !rule.char('/') && !rule.char(',') && !begins(rule.rest, "reg") { // T+140/144A: Rule 144A, or an area?
			return r, ambiguous
		}
		isRange = false
	}
	if !isRange {
		r.Range = exactly(first.n)
		return r, s.commaSettled(as, &r, &first, &first)
	}
	*s = ahead
	unitBefore := r.unit
	unitAfter := s.unit(after)
	r.unit = unitBefore || unitAfter
	if dash && first.digits == 0 && as == decimal && !second.signed { // flat-2: minus 2?
		return r, ambiguous
	}
	if r.pointed = r.pointed || second.pointed; slash && after == percent && !unitBefore && !r.pointed && isFraction(first.n, second.n) {
		return r, ambiguous
	}
	if (!unitBefore || unitAfter) && !spaced { // 4.5%/90, 7.5 / 90: a yield and a price
		switch end, v := shortEnd(as, &first, &second); v {
		case ambiguous:
			return r, ambiguous
		case yes:
			second.n = end
		}
	}
	both := (bySign || !begins(begin, "minus")) && (!slash || !isReduced(first.n.abs(), second.n))
	if first.worded && !second.signed && both { // neg 2-3bp
		second.n, second.negative, second.signed = second.n.signed(true), true, true
	}
	if as == decimal && (first.isExactPrice() || unitBefore && !unitAfter && second.pointed && issueBounds.contain(second.n)) { // 99.512 - 95bp over MS, MS+72.5bps - 99.5
		return r, ambiguous
	}
	if second.part && !first.part && (first.n.abs().less(mostSpreads) || issueBounds.contain(second.n)) { // MS+3 / 3 1/8: a coupon? T+98 - 99 7/8: a price?
		return r, ambiguous
	}
	lo, hi := first, second
	if hi.n.less(lo.n) {
		lo, hi = hi, lo
		if as == mixed && whole(1).less(hi.n.minus(lo.n)) { // 5.15-2%
			return r, ambiguous
		}
		if apart && !dash && !second.signed && bySign && !slash { // MS+95 -20: how far it has moved?
			return r, ambiguous
		}
		short, par := second.digits < first.digits && as != asPrice, as == asPrice && first.signed
		if (short || slash) && !second.signed && !par { // par/99.75
			return r, ambiguous
		}
	}
	if falls := hi == first && as != asPrice && whole(0).less(lo.n); falls && (worded || as == decimal && second.signed && (slash || spacedDash)) { // 20 to 12bp, T+150 / +125: how it has moved?
		return r, ambiguous
	}
	if first.negative && !second.signed && !second.n.isZero() || isTooWide(as, lo.n, hi.n, hi == first || slash) {
		return r, ambiguous
	}
	if apart && !dash && !second.signed && bySign && !slash && (as == mixed && unitBefore && !unitAfter || as == decimal && !hi.n.less(lo.n.times(2))) { // 4.5% -5, 5bp -10: how far it has moved?
		return r, ambiguous
	}
	if as == decimal && second.negative && !first.negative && (dash || spacedDash || slash && !first.n.isZero() || hi.n.signed(true) == lo.n) { // +5 - -2, +5/-5: a width? +3/-2: two tranches?
		return r, ambiguous
	}
	if as == decimal && slash && second.signed && mostSigned.less(hi.n.minus(lo.n)) { // +95/+115: two tranches?
		return r, ambiguous
	}
	if as == mixed && !slash && !worded && unitBefore && (!isTalked(lo.n) || !isTalked(hi.n)) { // 4.375% - 4.412%: a coupon and a yield?
		return r, ambiguous
	}
	if as == mixed && slash && (&scanner{s.rest}).noted("yield", "yld", "ytw", "ytm", "ytc") { // 7%/7.25% YTW: coupon and yield
		return r, ambiguous
	}
	if as == decimal && slash && !r.pointed && !second.signed && isPart(first.n.abs(), second.n) { // T+7/8, 1/2bp
		return r, ambiguous
	}
	if as == decimal && (second.mayBePrice(&first) || second.finerPrice(slash)) || as == mixed && slash && unitBefore && s.afterPercent(begin) && (hi.n.minus(lo.n).less(tenth) || !isTalked(lo.n) || !isTalked(hi.n)) {
		return r, ambiguous
	}
	r.Range = Range{Lo: lo.n, Hi: hi.n}
	return r, s.commaSettled(as, &r, &first, &second)
}

// The greatest widths of ranges. Ranges of yields and prices are narrow. One of spreads may end at twice its begin and 20, and one that
// falls, or is at a slash, is narrower.
var (
	mostYields  = whole(2)
	mostPrices  = whole(5)
	mostSpreads = whole(20)
)

// isTooWide reports whether two numbers are too far apart for the ends of a range, or are the same, so that they may be about different
// things: MS+95/-25, S+350/2031, 4.5%/10, par/100.
func isTooWide(as notation, lo, hi Number, narrow bool) bool {
	width := hi.minus(lo)
	switch as {
	case mixed:
		return width.isZero() || mostYields.less(width)
	case asPrice:
		return width.isZero() || mostPrices.less(width)
	}
	if least := mostSpreads; width.isZero() || !least.less(width) {
		return width.isZero()
	}
	if narrow {
		return hi.less(width.times(3))
	}
	return lo.plus(mostSpreads).less(width)
}

// tenth is the least width of a range of yields of which both ends have the unit and a slash is between them. Two yields that are nearer are
// those of one bond in two conventions: 4.5% / 4.55%.
var tenth = Number{decimal128.FromU64(powers[scale] / 10), true}

// mostSigned is the greatest width of a range of spreads at a slash whose end has a sign.
var mostSigned = whole(10)

// isTalked reports whether a yield is one that price talk may have: talk is in eighths, or in steps of five basis points. Coupons and yields are
// not: 4.5% / 4.61%.
func isTalked(n Number) bool {
	n = n.abs()
	return n.isMultipleOf(powers[scale]/20) || n.isMultipleOf(powers[scale]/8)
}

// afterPercent reports whether what was read ends with the sign of percent.
func (s *scanner) afterPercent(begin []byte) bool {
	read := begin[:len(begin)-len(s.rest)]
	return len(read) > 0 && read[len(read)-1] == '%'
}

// mayBePrice reports whether the second number after a spread may be the issue price that it gives: MS+80/99.5, T+99 / 99.5.
func (n *signedNumber) mayBePrice(first *signedNumber) bool {
	return !n.signed && n.pointed && !first.pointed && issueBounds.contain(n.n) &&
		first.n.less(n.n) && n.n.minus(first.n) != priceTalkWidth
}

// priceTalkWidth is the only width of a range of spreads whose end has a point and its begin has none: T+95-97.5. The others may be a spread
// and a price: T+98 - 99.5.
var priceTalkWidth = Number{decimal128.FromU64(powers[scale] * 5 / 2), true}

// finerPrice reports whether the second number after a spread is written like an issue price: DBR+98.6 / 99.5, DBR+98.6-99.875.
func (n *signedNumber) finerPrice(slash bool) bool {
	return !n.signed && n.pointed && (slash || n.decimals > 1) && issueBounds.contain(n.n)
}

// isExactPrice reports whether a number is written as issue prices alone are: with three decimals that are no eighth.
func (n *signedNumber) isExactPrice() bool {
	return !n.signed && n.decimals == groupDigits && !n.n.isMultipleOf(powers[scale]/8) && issueBounds.contain(n.n)
}

// shortEnd returns what the second number of a range means if it gives the decimals of the first one alone, and the range is
// not plausible as it is written: 5.25-50% is 5.25-5.50%. It is ambiguous if both are plausible, or neither, or if a zero is first:
// 7.75-00% and 95-05 have passed the next integer.
func shortEnd(as notation, first, second *signedNumber) (end Number, v verdict) {
	if second.zero && !second.signed && !second.pointed && !second.comma {
		return end, ambiguous
	}
	step := stepsOfDecimals[[2]int{first.decimals, second.digits}]
	if as == decimal && !first.pointed { // MS+95-25
		step = 0
	}
	if as != mixed && step > 0 {
		step = max(step, 25) // spreads and prices have quarters
	}
	if second.signed || second.pointed || second.comma || first.negative || first.digits == 0 || step == 0 || second.n.Millionths.LowBits()/powers[scale]%step != 0 {
		return end, no
	}
	end = Number{decimal128.FromU64(first.n.Millionths.LowBits()/powers[scale]*powers[scale] + second.n.Millionths.LowBits()/powers[second.digits]), true}
	ratio := uint64(3)
	if as == asPrice {
		ratio = 2 // 99.25-50
		if second.n.Millionths.LowBits() < first.n.Millionths.LowBits() {
			ratio = 1
		}
	}
	lo, hi := min(first.n.Millionths.LowBits(), second.n.Millionths.LowBits()), max(first.n.Millionths.LowBits(), second.n.Millionths.LowBits())
	plausible, longer := hi <= ratio*lo, first.n.less(end)
	switch {
	case plausible && !longer:
		return end, no
	case plausible == longer:
		return end, ambiguous
	}
	return end, yes
}

// stepsOfDecimals are the steps of the numbers that desks shorten to their decimals, by the number of decimals of the first number and
// the digits of the second: 8-25, 99.5-75, 5.25-50, 4.375-50, 6.125-375.
var stepsOfDecimals = map[[2]int]uint64{{0, 2}: 25, {1, 2}: 5, {2, 2}: 5, {3, 2}: 25, {3, 3}: 125}

// commaSettled returns yes if the numbers of a spread have no decimal comma, or are one number each and not two: a unit follows, and
// in basis points they have one digit after the comma, or are quarters. Half a basis point after ten or more and a sign needs no unit: MS+47,5.
// In MS+2,5 there may be two numbers, or percent.
func (s *scanner) commaSettled(as notation, r *spanned, first, second *signedNumber) verdict {
	if as != decimal || !first.comma && !second.comma || (&scanner{s.rest}).unit(percent) {
		return yes
	}
	if half := first.n.abs(); r.signed && first.n == second.n && !half.less(whole(10)) && half.isMultipleOf(powers[scale]/2) && !half.isMultipleOf(powers[scale]) { // MS+47,5
		return yes
	}
	for _, n := range []Number{first.n.abs(), second.n.abs()} {
		if !r.unit || !n.isMultipleOf(powers[scale]/10) && !n.isMultipleOf(powers[scale]/4) {
			return no
		}
	}
	return yes
}

// dashNext reports whether a dash is next, perhaps after a space.
func (s *scanner) dashNext() bool {
	next := *s
	next.space()
	return next.char('-')
}
