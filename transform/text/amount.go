package text

import "bytes"

// magnitudes are the units of sizes: the power of ten, by its words.
var magnitudes = []struct {
	power int
	words []string
}{
	{6, []string{"m", "mm", "mn", "mln", "mio", "million"}},
	{9, []string{"bn", "b", "billion"}},
	{3, []string{"k", "thousand"}},
	{12, []string{"trn", "tn", "trillion"}},
}

// amount is a size as the text has it. Without a unit it is none yet.
type amount struct {
	digits
	power int // of ten: its unit
	unit  bool
}

// amount reads a number and its unit, if it has one: 150m.
func (s *scanner) amount() (a amount, ok bool) {
	if a.digits, ok = s.digits(); !ok {
		return a, false
	}
	ahead := *s
	ahead.space()
	for _, of := range magnitudes {
		if ahead.oneOf(of.words...) {
			*s, a.power, a.unit = ahead, of.power, true
			break
		}
	}
	return a, true
}

// number is the size in units of its currency.
func (a amount) number() (n Number, ok bool) {
	if !a.unit {
		return n, false
	}
	return a.times(a.power)
}

// size reads a size, or a range of two, and its currency, if it is named: EUR1.25bn, USD300m-500m,
// USD300-500m. A range that falls is ambiguous: in 500-1bn the first unit may be another one.
func (s *scanner) size(r *Range) (currency []byte, v verdict) {
	currency = s.currency()
	first, ok := s.amount()
	if !ok {
		return currency, no
	}
	second, isRange := s.secondAmount(currency)
	if isRange && !first.unit {
		first.power, first.unit = second.power, second.unit
	}
	lo, ok := first.number()
	if !ok {
		return currency, no
	}
	if !isRange {
		*r = exactly(lo)
		return currency, yes
	}
	hi, ok := second.number()
	switch {
	case !ok:
		return currency, no
	case hi.less(lo):
		return currency, ambiguous
	}
	*r = Range{Lo: lo, Hi: hi}
	return currency, yes
}

// secondAmount reads the upper end of a range, which may repeat the currency.
func (s *scanner) secondAmount(currency []byte) (a amount, ok bool) {
	ahead := *s
	if !ahead.until() {
		return a, false
	}
	if other := ahead.currency(); other != nil && !bytes.Equal(other, currency) {
		return a, false
	}
	if a, ok = ahead.amount(); ok {
		*s = ahead
	}
	return a, ok
}
