package text

import "github.com/apache/arrow/go/v17/arrow/decimal128"

// pair is two numbers with a dash, a slash or a word between them. They are the ends of a range, unless they may be about two things: a spread and
// a price, a coupon and a yield, two tranches, a price and how far it has moved. Then the text is ambiguous.
type pair struct {
	as                    notation
	first, second         signedNumber
	firstUnit, secondUnit bool // the unit follows the number
	between
}

// between is what is between two numbers.
type between struct {
	sign   byte // '-', '/' or, for the word to, 't'
	spaced bool // a space is before it
	closed bool // no space is after it
}

// until skips what is between the two ends of a range.
func (s *scanner) until() bool {
	_, ok := s.between()
	return ok
}

// between skips what is between the two ends of a range: a dash, a slash, or to.
func (s *scanner) between() (b between, ok bool) {
	ahead := *s
	b.spaced = begins(ahead.rest, " ")
	ahead.space()
	switch {
	case ahead.char('-'):
		b.sign = '-'
	case ahead.char('/'):
		b.sign = '/'
	case ahead.oneOf("to"):
		b.sign = 't'
	default:
		return b, false
	}
	b.closed = !begins(ahead.rest, " ")
	ahead.space()
	return b, s.skipTo(ahead)
}

func (b between) isDash() bool  { return b.sign == '-' }
func (b between) isSlash() bool { return b.sign == '/' }
func (b between) isWord() bool  { return b.sign == 't' }

// isMinus reports whether a dash is written like a sign: MS+95 -20.
func (b between) isMinus() bool { return b.isDash() && b.spaced && b.closed }

// secondOf reads what is between the numbers of a pair, the second number and its unit. It returns no if the text has no second number there, or one that
// its form or the word after it tells to be about something else.
func (s *scanner) secondOf(p *pair, after unit) (v verdict) {
	ahead := *s
	var ok bool
	if p.between, ok = ahead.between(); !ok {
		return no
	}
	if p.second, ok = ahead.signedNumber(p.as); !ok {
		return no
	}
	if yield := ahead; p.isSlash() && after == basisPoints && yield.unit(percent) && !(&scanner{s.rest}).unit(percent) { // T+168/5.75%
		if p.as == decimal && !p.first.pointed && !p.second.signed && isFraction(p.first.n.abs(), p.second.n) { // T+9/16%
			return ambiguous
		}
		return no
	}
	if p.isSlash() && after == basisPoints && p.second.isExactPrice() { // T+87.5 / 99.611
		return no
	}
	if life := ahead; after == percent && (p.isWord() || p.isDash() && p.spaced) && life.char('y') || life.oneOf(yearWords...) { // 9.2% to 3yrs
		return no
	}
	if rule := ahead; p.second.n == whole(144) && rule.oneOf("a") {
		if rule.space(); !rule.char('/') && !rule.char(',') && !begins(rule.rest, "reg") { // T+140/144A: Rule 144A, or an area?
			return ambiguous
		}
		return no
	}
	p.secondUnit = ahead.unit(after)
	*s = ahead
	return yes
}

// pointed reports whether one of the numbers has a point.
func (p *pair) pointed() bool { return p.first.pointed || p.second.pointed }

// falls reports whether the second number is the lower end.
func (p *pair) falls() bool { return p.second.n.less(p.first.n) }

// ends returns the lower and the higher number.
func (p *pair) ends() (lo, hi Number) {
	if p.falls() {
		return p.second.n, p.first.n
	}
	return p.first.n, p.second.n
}

func (p *pair) width() Number {
	lo, hi := p.ends()
	return hi.minus(lo)
}

// complete gives the second number what the first one has for both: its integer part (5.25-50%), and a sign in words (neg 2-3bp). It is ambiguous
// whether the second number is short for a longer one if both readings are plausible. begin is the text from the first number on.
func (p *pair) complete(begin []byte) verdict {
	if (!p.firstUnit || p.secondUnit) && !p.spaced { // 4.5%/90, 7.5 / 90: a yield and a price
		switch end, v := shortEnd(p.as, &p.first, &p.second); v {
		case ambiguous:
			return ambiguous
		case yes:
			p.second.n = end
		}
	}
	isOfBoth := (!p.isWord() || !begins(begin, "minus")) && (!p.isSlash() || !isReduced(p.first.n.abs(), p.second.n))
	if p.first.worded && !p.second.signed && isOfBoth {
		p.second.n, p.second.negative, p.second.signed, p.second.worded = p.second.n.signed(true), true, true, true
	}
	return yes
}

// isDoubtful reports whether the numbers may be about two things.
func (p *pair) isDoubtful() bool {
	lo, hi := p.ends()
	return isTooWide(p.as, lo, hi, p.falls() || p.isSlash()) || p.mayBeNegative() || p.mayBeShort() || p.mayBePart() || p.mayHaveMoved() ||
		p.mayHavePrice() || p.mayBeTranches()
}

// mayBeFraction reports whether two numbers in percent may be one: 3/4%.
func (p *pair) mayBeFraction() bool {
	return p.isSlash() && !p.firstUnit && !p.pointed() && isFraction(p.first.n, p.second.n)
}

// mayBePart reports whether two numbers may be a part of a basis point: 1/2bp, T+7/8.
func (p *pair) mayBePart() bool {
	return p.as == decimal && p.isSlash() && !p.pointed() && !p.second.signed && isPart(p.first.n.abs(), p.second.n)
}

// mayBeNegative reports whether the second number may have a sign that it is written without, or a dash may be its sign: MS-5-7, flat-2.
func (p *pair) mayBeNegative() bool {
	return !p.second.signed && (p.first.negative && !p.second.n.isZero() || p.as == decimal && p.first.digits == 0 && p.isDash() && !p.spaced)
}

// mayBeShort reports whether a range falls because its second number is short for a longer one (105-10, 5.15-2%), or because it is the two sides of
// a quote (238/235). The talk of a price may begin at par: par/99.75.
func (p *pair) mayBeShort() bool {
	switch {
	case !p.falls():
		return false
	case p.as == asPrice:
		return p.isSlash() && !p.second.signed && !p.first.signed
	}
	return p.as == mixed && whole(1).less(p.width()) || !p.second.signed && (p.isSlash() || p.second.digits < p.first.digits)
}

// mayHaveMoved reports whether the second number may be how far the first has moved, or to where: MS+95 -20, 4.5% -5, 5bp -10, 20 to 12bp,
// T+150 / +125.
func (p *pair) mayHaveMoved() bool {
	lo, hi := p.ends()
	if p.isMinus() && !p.second.signed {
		return p.falls() || p.as == mixed && p.firstUnit && !p.secondUnit || p.as == decimal && !hi.less(lo.times(2))
	}
	if !p.falls() || p.as == asPrice || !whole(0).less(lo) {
		return false
	}
	return p.isWord() || p.as == decimal && p.second.signed && (p.isSlash() || p.isDash() && p.spaced)
}

// mayHavePrice reports whether the second number after a spread may be the issue price or the coupon that it gives, or the first one may be a price:
// MS+80/99.5, T+98 - 99.5, T+98 - 99 7/8, MS+3 / 3 1/8, 99.512 - 95bp over MS.
func (p *pair) mayHavePrice() bool {
	inBounds := issueBounds.contain(p.second.n)
	if p.second.part && !p.first.part && (inBounds || p.first.n.abs().less(mostSpreads)) || p.as == decimal && p.first.isExactPrice() {
		return true
	}
	if p.as != decimal || !p.second.pointed || !inBounds {
		return false
	}
	bare := !p.second.signed
	return p.firstUnit && !p.secondUnit || bare && (p.isSlash() || p.second.decimals > 1) || bare && !p.first.pointed && !p.falls() && p.width() != talkWidth
}

// talkWidth is the only width of a range of spreads whose end has a point and its begin has none: T+95-97.5.
var talkWidth = Number{decimal128.FromU64(powers[scale] * 5 / 2), true}

// mayBeTranches reports whether two spreads may be of two tranches, or the second is how much the first may vary: +95/+115, +3/-2, +5 - -2, +5/-5.
func (p *pair) mayBeTranches() bool {
	if p.as != decimal || p.second.worded { // minus 10/25
		return false
	}
	aroundZero := p.second.negative && !p.first.negative
	return p.isSlash() && p.second.signed && (aroundZero && !p.first.n.isZero() || mostSigned.less(p.width())) ||
		aroundZero && (p.isDash() || p.first.n.signed(true) == p.second.n)
}

// mostSigned is the greatest width of a range of spreads at a slash whose end has a sign.
var mostSigned = whole(10)

// mayBeRates reports whether two yields may be the coupon and the yield of one bond, or its yield in two conventions: 4.375% - 4.412%, 4.5% / 4.55%,
// 7%/7.25% YTW. s is at the text after them.
func (p *pair) mayBeRates(s *scanner) bool {
	if p.as != mixed || p.isWord() {
		return false
	}
	lo, hi := p.ends()
	return p.firstUnit && (!isTalked(lo) || !isTalked(hi) || p.isSlash() && p.width().less(tenth)) ||
		p.isSlash() && (&scanner{s.rest}).noted("yield", "yld", "ytw", "ytm", "ytc")
}

// tenth is the least width of a range of yields of which the first has its unit and a slash is between them.
var tenth = Number{decimal128.FromU64(powers[scale] / 10), true}

// isTalked reports whether a yield is one that price talk may have: talk is in eighths, or in steps of five basis points. Coupons and yields are
// not: 4.5% / 4.61%.
func isTalked(n Number) bool {
	n = n.abs()
	return n.isMultipleOf(powers[scale]/20) || n.isMultipleOf(powers[scale]/8)
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
