package oracle

import (
	"math/big"
	"strconv"
	"strings"
)

const (
	// maxPrecision is the largest number of digits of a DECIMAL.
	maxPrecision = 38
	// keptDigits is how many significant digits a number keeps. Rounding half away from zero looks
	// no further than the first digit it drops, at most maxPrecision+1 digits in, and an int64
	// ends sooner.
	keptDigits = 100
)

// number is a JSON number in the form ± digits × 10^exponent, not expanded.
type number struct {
	negative bool
	digits   string // without leading or trailing zeros; "" is zero
	exponent int64
}

// parseNumber parses the text of a valid JSON number.
func parseNumber(text string) number {
	var n number
	text, n.negative = strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if exponent != "" {
		n.exponent, _ = strconv.ParseInt(exponent, 10, 64) // out of range: the nearest int64
		n.exponent = min(max(n.exponent, -1<<60), 1<<60)   // leaves room to add lengths of texts
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	n.exponent -= int64(len(fraction))
	n.digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(n.digits, "0")
	n.exponent += int64(len(n.digits) - len(trimmed))
	n.digits = trimmed
	if n.digits == "" {
		return number{}
	}
	return n
}

// magnitude is the number of digits before the decimal point; zero or less for numbers below 1.
func (n number) magnitude() int64 { return int64(len(n.digits)) + n.exponent }

// rat returns the exact value, without digits after the first keptDigits. It expands the exponent, so it is only for
// numbers of a small magnitude.
func (n number) rat() *big.Rat {
	if cut := len(n.digits) - keptDigits; cut > 0 {
		n.digits, n.exponent = n.digits[:keptDigits], n.exponent+int64(cut)
	}
	value, _ := new(big.Int).SetString("0"+n.digits, 10)
	if n.negative {
		value.Neg(value)
	}
	if n.exponent < 0 {
		return new(big.Rat).SetFrac(value, powerOfTen(-n.exponent))
	}
	return new(big.Rat).SetInt(value.Mul(value, powerOfTen(n.exponent)))
}

// integer returns the value if it is an integer that fits into the given bits, in any spelling.
func (n number) integer(bits int) (int64, bool) {
	if n.exponent < 0 || n.magnitude() > 19 {
		return 0, false
	}
	value := n.rat().Num()
	if !value.IsInt64() {
		return 0, false
	}
	i := value.Int64()
	return i, bits == 64 || (i >= -1<<31 && i < 1<<31)
}

// decimal returns the value as text with scale digits after the point, rounded half away from zero. ok is false if it
// then has more than precision digits.
func (n number) decimal(precision, scale int) (string, bool) {
	switch {
	case n.magnitude() > int64(precision-scale):
		return "", false
	case n.magnitude() < -int64(scale): // less than a tenth of the last digit's unit
		n = number{}
	}
	text := n.rat().FloatString(scale) // rounds half away from zero
	if limit := new(big.Rat).SetInt(powerOfTen(int64(precision - scale))); absolute(text).Cmp(limit) >= 0 {
		return "", false // rounded up to one digit too many
	}
	if absolute(text).Sign() == 0 {
		text = strings.TrimPrefix(text, "-")
	}
	return text, true
}

// absolute is the absolute value of a decimal text.
func absolute(text string) *big.Rat {
	value, _ := new(big.Rat).SetString(text)
	return value.Abs(value)
}

func powerOfTen(exponent int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(exponent), nil)
}
