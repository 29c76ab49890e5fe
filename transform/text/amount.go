package text

import "bytes"

// magnitudes are the units of sizes: the power of ten, and the words for it.
var magnitudes = []struct {
	power int
	words []string
}{
	{6, []string{"m", "mm", "mn", "mln", "mio", "million"}},
	{9, []string{"bn", "b", "billion"}},
	{3, []string{"k", "thousand"}},
	{12, []string{"trn", "tn", "trillion"}},
}

// amount is a size as written in the text. It has a value only if it has a unit.
type amount struct {
	digits
	power int // power of ten of the unit
	unit  bool
}

// amount reads a number and its unit, if any: 150m.
func (s *scanner) amount() (a amount, ok bool) {
	if a.digits, ok = s.digits(); !ok {
		return a, false
	}
	ahead := *s
	ahead.space()
	for _, magnitude := range magnitudes {
		if ahead.oneOf(magnitude.words...) {
			*s, a.power, a.unit = ahead, magnitude.power, true
			break
		}
	}
	return a, true
}

// number returns the size in units of its currency. ok is false without a unit.
func (a amount) number() (n Number, ok bool) {
	if !a.unit {
		return n, false
	}
	return a.times(a.power)
}

// size reads a size or a range, with an optional currency: EUR1.25bn, USD300m-500m, USD300-500m. A falling range is
// ambiguous: in 500-1bn the first number may have another unit.
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
