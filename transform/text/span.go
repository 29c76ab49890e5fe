package text

// unit is the unit of a number.
type unit uint8

const (
	basisPoints unit = iota // bp or bps
	percent                 // %
)

// unit skips a unit, if it is next.
func (s *scanner) unit(u unit) bool {
	ahead := *s
	ahead.space()
	if u == basisPoints && !ahead.oneOf("bp", "bps") || u == percent && !ahead.char('%') {
		return false
	}
	*s = ahead
	return true
}

// until skips the sign or word between the two ends of a range.
func (s *scanner) until() bool {
	ahead := *s
	ahead.space()
	if !ahead.char('-') && !ahead.char('/') && !ahead.word("to") {
		return false
	}
	ahead.space()
	*s = ahead
	return true
}

// span reads a number whose sign has been read, or a range. unitFound reports whether a unit follows one of the
// numbers. A range is ambiguous if its first number is negative and its second has no sign (-5-7), or if it falls
// (105-10 may be short for 105-110).
func (s *scanner) span(negative bool, as notation, after unit) (r Range, unitFound bool, v verdict) {
	first, ok := s.number(as)
	if !ok {
		return r, false, no
	}
	first = first.signed(negative)
	unitFound = s.unit(after)
	ahead := *s
	if !ahead.until() {
		return exactly(first), unitFound, yes
	}
	lessThanZero, signed := ahead.sign()
	second, ok := ahead.number(as)
	if !ok {
		return exactly(first), unitFound, yes
	}
	*s = ahead
	unitFound = s.unit(after) || unitFound
	second = second.signed(lessThanZero)
	if negative && !signed || second.less(first) {
		return r, unitFound, ambiguous
	}
	return Range{Lo: first, Hi: second}, unitFound, yes
}

// plusMinus reads (+/-2) after a number, with or without parentheses, and widens the range by it. found reports whether
// it was there. The unit of the number may follow it.
func (s *scanner) plusMinus(r *Range, after unit) (found bool) {
	ahead := *s
	ahead.space()
	inside := ahead.char('(')
	if !ahead.has("+/-") || !r.Point.Set || r.Lo != r.Hi {
		return false
	}
	ahead.space()
	by, ok := ahead.number(decimal)
	if !ok {
		return false
	}
	ahead.unit(after)
	if inside && !ahead.char(')') {
		return false
	}
	*s = ahead
	r.Lo, r.Hi = r.Point.minus(by), r.Point.plus(by)
	return true
}
