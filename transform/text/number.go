package text

import (
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// digits is an unsigned number as written in a text: mantissa × 10^-fraction.
type digits struct {
	mantissa uint64
	fraction int  // number of digits after the point
	grouped  bool // written with commas between groups of three digits
	comma    bool // written with a decimal comma
}

const (
	maxDigits = 18 // most digits of a mantissa: as many as the widest column has before the point
	scale     = 6  // digits after the point in the columns
)

// powers are the powers of ten up to the greatest unit (10^12) in millionths.
var powers = func() (p [scale + 13]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// digits reads a number without a sign: digits, with at most one point between them, and commas between groups of three
// before it; an apostrophe may be in its place. A comma before one or two digits is a decimal one: 99,5. So is one after a zero: 0,125. The number must be complete:
// 1.250.000 and 1.250,5 are not accepted.
func (s *scanner) digits() (d digits, ok bool) {
	leadingZero := len(s.rest) > 0 && s.rest[0] == '0'
	whole := s.run(&d.mantissa)
	for whole > 0 && !leadingZero && (d.grouped || whole <= 3) && s.groupNext() {
		s.rest = s.rest[1:]
		whole += s.run(&d.mantissa)
		d.grouped = true
	}
	if point := *s; whole > 0 && !d.grouped && point.char(',') {
		if n := point.run(&d.mantissa); n == 1 || n == 2 || leadingZero && whole == 1 && n <= scale { // 0,125
			*s, d.fraction, d.comma = point, n, true
		}
	} else if point.char('.') {
		if d.fraction = point.run(&d.mantissa); d.fraction > 0 {
			*s = point
		}
	}
	continues := len(s.rest) > 1 && (s.rest[0] == ',' || s.rest[0] == '.' && d.fraction > 0) && isDigit(s.rest[1])
	return d, whole > 0 && whole+d.fraction <= maxDigits && !continues
}

// groupNext reports whether a comma or an apostrophe and exactly three digits are next.
func (s *scanner) groupNext() bool {
	n := 1
	if len(s.rest) == 0 || s.rest[0] != ',' && s.rest[0] != '\'' {
		return false
	}
	for n < len(s.rest) && isDigit(s.rest[n]) {
		n++
	}
	return n == 4
}

// run appends the next digits to a mantissa and returns their number. A mantissa of more than maxDigits digits may have
// overflowed: the caller rejects it.
func (s *scanner) run(mantissa *uint64) (n int) {
	for n < len(s.rest) && isDigit(s.rest[n]) {
		*mantissa = *mantissa*10 + uint64(s.rest[n]-'0')
		n++
	}
	s.rest = s.rest[n:]
	return n
}

// times returns the exact number times 10^unit (unit is at most 12). ok is false if the columns cannot contain all
// digits after the point.
func (d digits) times(unit int) (n Number, ok bool) {
	shift := scale + unit - d.fraction
	if shift < 0 {
		return n, false
	}
	hi, lo := bits.Mul64(d.mantissa, powers[shift]) // less than 10^18 × 10^18: the sign bit of hi is free
	return Number{decimal128.New(int64(hi), lo), true}, true
}

// notation is how a number is written.
type notation uint8

const (
	decimal notation = iota // 4.875
	mixed                   // 4.875, or with a fraction: 4 7/8
	asPrice                 // like mixed, where signedNumber also reads par, which is 100
)

// number reads a number without a sign, in digits or in words.
func (s *scanner) number(as notation) (n Number, ok bool) {
	n, comma, ok := s.anyNumber(as)
	return n, ok && (!comma || as != decimal) // MS+95,97: two prices?
}

// anyNumber reads a number without a sign, and whether it has a decimal comma. A comma before three digits is one in prices and
// percentages, which do not reach a thousand: 4,375%.
func (s *scanner) anyNumber(as notation) (n Number, comma, ok bool) {
	if len(s.rest) == 0 || !isDigit(s.rest[0]) {
		n, ok = s.spelled()
		return n, false, ok
	}
	d, ok := s.digits()
	if !ok {
		return n, false, false
	}
	if as != decimal && d.grouped && d.fraction == 0 && d.mantissa < powers[2*groupDigits] {
		d.grouped, d.comma, d.fraction = false, true, groupDigits
	}
	if as != decimal && d.fraction == 0 {
		ahead := *s
		part, found := ahead.fraction()
		if !found {
			part, found = ahead.andPart()
		}
		if !found && as == asPrice && ahead.word("h") { // 99h
			part, found = Number{decimal128.FromU64(powers[scale] / 2), true}, true
		}
		if found {
			*s = ahead
			n, ok = d.times(0)
			return n.plus(part), false, ok
		}
	}
	n, ok = d.times(0)
	return n, d.comma, ok
}

// denominators are those of the fractions in prices. Each such fraction is exact in six digits.
var denominators = map[uint64]bool{2: true, 4: true, 8: true, 16: true, 32: true, 64: true}

// isFraction reports whether two numbers around a slash may be a fraction of which one writes 3/4bn for 750m.
func isFraction(above, below Number) bool {
	n := below.Millionths.LowBits() / powers[scale]
	return whole(0).less(above) && above.less(below) && whole(int64(n)) == below && (n == 3 || denominators[n])
}

// isReduced reports whether two numbers around a slash are a fraction that is not divisible by two: 2/3, but not 2/4.
func isReduced(above, below Number) bool {
	two := 2 * powers[scale]
	return isFraction(above, below) && (!above.isMultipleOf(two) || !below.isMultipleOf(two))
}

// isPart reports whether two numbers around a slash may be a part of a basis point, in halves, thirds, quarters or eighths. 2/4 and 15/16 are
// ranges.
func isPart(above, below Number) bool {
	return below == whole(8) && isFraction(above, below) || below.less(whole(8)) && isReduced(above, below)
}

// fraction reads a space or a hyphen, and a fraction less than one, such as 7/8.
func (s *scanner) fraction() (n Number, ok bool) {
	if !s.char(' ') && !s.char('-') {
		return n, false
	}
	return s.fractionHere()
}

// fractionHere reads a fraction less than one.
func (s *scanner) fractionHere() (n Number, ok bool) {
	above, ok1 := s.digits()
	slash := s.char('/')
	below, ok2 := s.digits()
	if !ok1 || !slash || !ok2 || above.fraction+below.fraction > 0 || !denominators[below.mantissa] ||
		above.mantissa == 0 || above.mantissa >= below.mantissa {
		return n, false
	}
	return Number{decimal128.FromU64(above.mantissa * powers[scale] / below.mantissa), true}, true
}

// sign skips a plus or a minus, as a sign or a word.
func (s *scanner) sign() (negative, found bool) {
	switch {
	case s.char('-'), s.oneOf("minus", "less", "negative", "neg.", "neg"):
		return true, true
	case s.char('+'), s.oneOf("plus"):
		return false, true
	}
	return false, false
}

func (n Number) signed(negative bool) Number {
	if negative {
		n.Millionths = n.Millionths.Negate()
	}
	return n
}

func (n Number) abs() Number { return Number{n.Millionths.Abs(), n.Set} }

func (n Number) plus(m Number) Number { return Number{n.Millionths.Add(m.Millionths), true} }

func (n Number) times(factor int64) Number {
	return Number{n.Millionths.Mul(decimal128.FromI64(factor)), n.Set}
}

func (n Number) minus(m Number) Number { return Number{n.Millionths.Sub(m.Millionths), true} }

// isMultipleOf reports whether a number from 0 to 10^12 is a multiple of a step, in millionths.
func (n Number) isMultipleOf(step uint64) bool { return n.Millionths.LowBits()%step == 0 }

func (n Number) isZero() bool { return n.Millionths.Sign() == 0 }

func (n Number) less(m Number) bool { return n.Millionths.Less(m.Millionths) }

// whole returns an integer as a Number.
func whole(n int64) Number { return Number{decimal128.FromI64(n).Mul(million), true} }
