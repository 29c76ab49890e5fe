package transform

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// number is a parsed JSON number: (-1)^neg × digits × 10^exponent. The digits remain in the text.
type number struct {
	neg      bool
	text     []byte // the mantissa: digits with at most one point, from the first to the last nonzero digit
	digits   int    // count of digits in text; 0 for the number zero
	exponent int64  // exponent of the last digit in text
}

// maxExponent limits exponents. A number of that size fits no column, and the sum of two exponents cannot overflow.
const maxExponent = math.MaxInt32

// parseNumber parses text, which must be a valid JSON number.
func parseNumber(text []byte) number {
	var n number
	i := 0
	if text[0] == '-' {
		n.neg = true
		i++
	}
	first, last, point := -1, -1, -1
	end := i
	for ; end < len(text) && text[end] != 'e' && text[end] != 'E'; end++ {
		switch c := text[end]; {
		case c == '.':
			point = end
		case c != '0':
			if first < 0 {
				first = end
			}
			last = end
		}
	}
	if first < 0 {
		return number{}
	}
	n.text = text[first : last+1]
	n.digits = len(n.text)
	if first < point && point < last {
		n.digits--
	}
	switch {
	case point < 0:
		n.exponent = int64(end - 1 - last)
	case last < point:
		n.exponent = int64(point - 1 - last)
	default:
		n.exponent = int64(point - last)
	}
	if end < len(text) {
		n.exponent += parseExponent(text[end+1:])
	}
	return n
}

// parseExponent reads the text after "e" and limits the result to ±maxExponent.
func parseExponent(text []byte) int64 {
	neg := false
	var e int64
	for _, c := range text {
		switch {
		case c == '-':
			neg = true
		case c == '+':
		case e < maxExponent:
			e = min(e*10+int64(c-'0'), maxExponent)
		}
	}
	if neg {
		return -e
	}
	return e
}

// uint128 is an unsigned integer of 128 bits.
type uint128 struct{ hi, lo uint64 }

// times10plus returns 10·u + d. The caller limits the number of digits so that the result cannot overflow.
func (u uint128) times10plus(d uint64) uint128 {
	carry, lo := bits.Mul64(u.lo, 10)
	lo, c := bits.Add64(lo, d, 0)
	return uint128{u.hi*10 + carry + c, lo}
}

func (u uint128) less(v uint128) bool { return u.hi < v.hi || (u.hi == v.hi && u.lo < v.lo) }

// powersOf10 are 10^0 … 10^38.
var powersOf10 = func() (p [39]uint128) {
	p[0] = uint128{0, 1}
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1].times10plus(0)
	}
	return p
}()

// scaled returns the number times 10^scale as an integer of at most precision digits (38 at most), rounded half away
// from zero. exact reports that no digit was lost. ok is false if the result has more digits than precision.
func (n number) scaled(precision, scale int32) (magnitude uint128, exact, ok bool) {
	if n.digits == 0 {
		return uint128{}, true, true
	}
	shift := n.exponent + int64(scale) // exponent of the last digit, relative to the unit of the result
	kept := int64(n.digits)
	if shift < 0 {
		kept += shift
	}
	if kept < 0 {
		return uint128{}, false, true
	}
	if kept+max(shift, 0) > int64(precision) {
		return uint128{}, false, false
	}
	i := 0
	for taken := int64(0); taken < kept; i++ {
		if n.text[i] != '.' {
			magnitude = magnitude.times10plus(uint64(n.text[i] - '0'))
			taken++
		}
	}
	for ; shift > 0; shift-- {
		magnitude = magnitude.times10plus(0)
	}
	if shift == 0 {
		return magnitude, true, true
	}
	if i < len(n.text) && n.text[i] == '.' {
		i++
	}
	if n.text[i] >= '5' {
		lo, carry := bits.Add64(magnitude.lo, 1, 0)
		magnitude = uint128{magnitude.hi + carry, lo}
	}
	return magnitude, false, magnitude.less(powersOf10[precision])
}

// decimal reads a JSON number as a decimal of the given precision and scale (digits). exact reports that no digit was
// rounded away; ok is false if the number has more digits than precision.
func decimal(text []byte, precision, scale int32) (value decimal128.Num, exact, ok bool) {
	n := parseNumber(text)
	magnitude, exact, ok := n.scaled(precision, scale)
	if !ok {
		return decimal128.Num{}, false, false
	}
	value = decimal128.New(int64(magnitude.hi), magnitude.lo)
	if n.neg {
		value = value.Negate()
	}
	return value, exact, true
}

// integer reads a JSON number that is an integer (7, 7.0, 1e2) of 64 bits.
func integer(text []byte) (int64, bool) {
	n := parseNumber(text)
	magnitude, exact, ok := n.scaled(19, 0)
	switch {
	case !ok || !exact || magnitude.hi != 0:
		return 0, false
	case n.neg && magnitude.lo <= 1<<63:
		return -int64(magnitude.lo), true // for 2^63 the negation is correct too, by overflow
	case n.neg || magnitude.lo > math.MaxInt64:
		return 0, false
	}
	return int64(magnitude.lo), true
}
