package text

import "bytes"

// magnitudes are the units of sizes: the power of ten, and the words for it.
var magnitudes = []struct {
	power int
	words []string
}{
	{6, []string{"mm", "mn", "mln.", "mln", "mio.", "mios", "mio", "mil", "mill.", "mill", "millions", "million", "millionen", "millones", "milioni", "miljoner", "millioner", "mi", "m"}},
	{9, []string{"bn", "bln.", "blns", "bln", "bio.", "bio", "mrd.", "mrd", "mdr", "mld.", "mld", "mia.", "mia", "mds", "md", "billions", "billion", "milliarden", "milliarde", "milliards", "milliard", "miljarder", "milliarder", "miliardi", "miliardo", "yds", "yd", "yards", "yard", "bi", "b"}},
	{3, []string{"k", "thousand"}},
	{12, []string{"trn", "tn", "trillion"}},
	{7, []string{"crores", "crore", "cr.", "cr"}}, // of India
	{5, []string{"lakhs", "lakh"}},
}

// amount is a size as written in the text. It has a value only if it has a unit.
type amount struct {
	digits
	power int // power of ten of the unit
	unit  bool
	mil   bool // the unit is mil: a million, but a thousand in Spanish and Portuguese
}

// amount reads a number and its unit, if any: 150m.
func (s *scanner) amount() (a amount, ok bool) {
	if single := *s; single.oneOf("a") && single.char(' ') && !single.end() { // a yard
		for _, magnitude := range magnitudes {
			if single.oneOf(magnitude.words...) {
				*s = single
				return amount{digits: digits{mantissa: 1}, power: magnitude.power, unit: true}, true
			}
		}
	}
	if n, worded := s.spelled(); worded { // half a yard
		a.digits = digits{mantissa: n.Millionths.LowBits(), fraction: scale}
	} else if d, grouped := s.pointedGroups(); grouped {
		a.digits = d
		return a, true
	} else if a.digits, ok = s.digits(); !ok || a.comma && a.fraction == groupDigits { // 0,125bn
		return a, false
	}
	ahead := *s
	ahead.space()
	mil := ahead
	a.mil = mil.oneOf("mil")
	for _, magnitude := range magnitudes {
		if ahead.oneOf(magnitude.words...) {
			*s, a.power, a.unit = ahead, magnitude.power, true
			break
		}
	}
	return a, true
}

// pointedGroups reads digits in groups of three with a point or a space between them, as in some countries: 1.250.000.000, 1 250 000 000. Of
// less than three groups the point may be a decimal one, and the space may be between two numbers.
func (s *scanner) pointedGroups() (d digits, ok bool) {
	for _, separator := range []byte(". ") {
		ahead, found := *s, digits{}
		if ahead.groups(separator, &found) > 1 {
			return found, s.skipTo(ahead)
		}
	}
	return d, false
}

// spacedMillions reads a number of millions with a space after its thousands, next to its currency: NOK 1 500m. Without the currency the first
// number may be another one.
func (s *scanner) spacedMillions(currency []byte) (a amount, ok bool) {
	ahead := *s
	if currency == nil || ahead.groups(' ', &a.digits) != 1 || a.mantissa >= mostMillions {
		return a, false
	}
	ahead.space()
	a.power, a.unit = magnitudes[0].power, ahead.oneOf(magnitudes[0].words...)
	return a, a.unit && s.skipTo(ahead)
}

// mostMillions is more than the thousands of a size in millions.
const mostMillions = 100_000

// groups reads digits with a separator before each three but the first ones, and returns the number of separators. Without any it reads nothing.
func (s *scanner) groups(separator byte, d *digits) (n int) {
	ahead := *s
	if ahead.end() || ahead.rest[0] == '0' {
		return 0
	}
	first := ahead.run(&d.mantissa)
	for first > 0 && first <= groupDigits {
		next := ahead
		if !next.char(separator) || next.run(&d.mantissa) != groupDigits {
			break
		}
		ahead = next
		n++
	}
	if n == 0 || len(s.rest)-len(ahead.rest) > maxDigits {
		return 0
	}
	d.mantissa, d.grouped = 0, true
	for _, c := range s.rest[:len(s.rest)-len(ahead.rest)] {
		if isDigit(c) {
			d.mantissa = 10*d.mantissa + uint64(c-'0')
		}
	}
	*s = ahead
	return n
}

// number returns the size in units of its currency. A number without a unit is a size only if it has at least two groups
// of three digits: 500,000,000. A number of one group with a unit of a billion or more is ambiguous: the comma of 1,250bn
// may be a decimal one. So is a number whose point may group digits: EUR1.500m. currency is that of the size; nil for none.
func (a amount) number(currency []byte) (n Number, v verdict) {
	switch {
	case !a.unit && (!a.grouped || a.mantissa < leastWritten):
		return n, no
	case a.unit && a.grouped && a.power > magnitudes[0].power+1, a.unit && a.mayGroup(currency), a.mil && saysMil[string(currency)]:
		return n, ambiguous
	}
	n, ok := a.times(a.power)
	if !ok {
		return n, no
	}
	return n, yes
}

// saysMil are the currencies of countries where mil is a thousand.
var saysMil = map[string]bool{"BRL": true, "MXN": true, "CLP": true, "COP": true, "PEN": true, "ARS": true, "UYU": true, "PYG": true, "BOB": true, "CRC": true, "DOP": true, "GTQ": true}

// mayGroup reports whether the point of an amount may group digits, as in some countries: it is the only one, three digits
// follow, and the size is plausible without it.
func (a amount) mayGroup(currency []byte) bool {
	if a.grouped || a.fraction != groupDigits || a.mantissa < powers[groupDigits] || a.mantissa >= powers[2*groupDigits] {
		return false
	}
	most := &largeBounds
	if currency == nil || smallUnits[string(currency)] {
		most = &amountBounds
	}
	without, ok := digits{mantissa: a.mantissa}.times(a.power)
	return ok && most.contain(without)
}

// mostRatio is the greatest plausible ratio of the two ends of a range, and mostUnitsRatio that of two which have their own units: they may
// be a size and its orders.
const (
	mostRatio      = 20
	mostUnitsRatio = 4
)

// groupDigits is the number of digits of a group.
const groupDigits = 3

// leastWritten is the least number of three groups of digits.
const leastWritten = 1_000_000

// size reads a size or a range, with an optional currency before or after it: EUR1.25bn, USD300m-500m, USD300-500m, 500m
// EUR. column is the value of the currency column. A falling range is ambiguous: in 500-1bn the first number may have
// another unit. So are two sizes at a slash, which may be two tranches, and a range of which one number may be short for another
// one: 5-600m for 500-600m, 1.25-50bn for 1.25-1.50bn.
func (s *scanner) size(column []byte, r *Range) (currency []byte, v verdict) {
	if currency, v = s.currency(column); v != yes {
		return currency, v
	}
	return s.sizeIn(currency, column, r)
}

// sizeIn reads a size or a range after its currency, which is nil for none.
func (s *scanner) sizeIn(currency, column []byte, r *Range) ([]byte, verdict) {
	inMillions := false
	if currency == nil {
		currency = s.millionsOf()
		inMillions = currency != nil
	}
	first, ok := s.spacedMillions(currency)
	if !ok {
		first, ok = s.amount()
	}
	if !ok {
		return currency, no
	}
	slash := s.slashNext()
	second, isRange := s.secondAmount(currency, column)
	if currency == nil {
		currency = s.currencyAfter(column)
	}
	if currency == nil && !first.unit && !second.unit {
		currency = s.millionsOf()
		inMillions = currency != nil
	}
	if inMillions && (first.unit || second.unit) {
		return currency, no
	} else if inMillions {
		first.power, first.unit = magnitudes[0].power, true
		second.power, second.unit = first.power, true
	}
	in := currency
	if in == nil {
		in = currencyOf(column)
	}
	if isRange && slash {
		return currency, ambiguous
	}
	oneUnit := isRange && !first.unit
	if oneUnit && !first.grouped {
		first.power, first.unit = second.power, second.unit
	}
	lo, v := first.number(in)
	if v != yes {
		return currency, v
	}
	if *r = exactly(lo); isRange {
		hi, v := second.number(in)
		switch {
		case v != yes:
			return currency, v
		case !lo.less(hi), oneUnit && lo.times(mostRatio).less(hi), !oneUnit && lo.times(mostUnitsRatio).less(hi):
			return currency, ambiguous
		}
		*r = Range{Lo: lo, Hi: hi}
	}
	return currency, yes
}

// millionsOf reads a currency with the M of millions before it: MSEK; nil if none is next.
func (s *scanner) millionsOf() (currency []byte) {
	ahead := *s
	ahead.space()
	if word := ahead.letters(); len(word) == 4 && lower(word[0]) == 'm' {
		currency = currencyOf(word[1:])
	}
	if currency != nil {
		ahead.space()
		*s = ahead
	}
	return currency
}

// currencyAfter reads a currency after a size: 500m EUR.
func (s *scanner) currencyAfter(column []byte) []byte {
	ahead := *s
	if !ahead.char(' ') && (ahead.end() || isLetter(ahead.rest[0]) || isDigit(ahead.rest[0])) { // 600 M€
		return nil
	}
	found, v := ahead.currency(column)
	if found == nil || v != yes {
		return nil
	}
	*s = ahead
	return found
}

// secondAmount reads the upper end of a range, which may repeat the currency.
func (s *scanner) secondAmount(currency, column []byte) (a amount, ok bool) {
	ahead := *s
	if !ahead.until() {
		return a, false
	}
	if other, v := ahead.currency(column); v != yes || other != nil && !bytes.Equal(other, currency) {
		return a, false
	}
	if a, ok = ahead.amount(); !ok || !a.unit && (ahead.oneOf("x", "times") || ahead.accountsNext()) { // 2.4bn / 4.8x, 3.2bn / 185 accounts
		return a, false
	}
	*s = ahead
	return a, true
}
