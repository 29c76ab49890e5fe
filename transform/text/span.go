package text

import "bytes"

// unit is the unit of a number.
type unit uint8

const (
	basisPoints unit = iota // bp or bps
	percent                 // %
)

var basisPointWords = []string{"bp", "bps", "bp.", "bps.", "bpts", "basispunkte", "basispunkten", "basis points", "basis point", "b.p."}

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
	pointed  bool // it has digits after a point, or a part in words
	comma    bool // it has a decimal comma
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
	if b.n, b.comma, ok = ahead.anyNumber(as); ok {
		b.pointed = bytes.IndexByte(begin[:len(begin)-len(ahead.rest)], '.') >= 0 || b.digits == 0 && !b.n.isMultipleOf(powers[scale])
		b.n = b.n.signed(b.negative)
		*s = ahead
	}
	return b, ok
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
// fraction.
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
	second, isRange := signedNumber{}, ahead.until()
	if isRange {
		second, isRange = ahead.signedNumber(as)
		if gives := ahead; slash && after == basisPoints && gives.unit(percent) && !(&scanner{s.rest}).unit(percent) { // T+168/5.75%: the yield
			isRange = false
		}
		if life := ahead; after == percent && !slash && !dash && life.char('y') || life.oneOf(yearWords...) { // 9.2% to 3yrs
			isRange = false
		}
	}
	if !isRange {
		r.Range = exactly(first.n)
		return r, s.commaSettled(as, &r, &first, &first)
	}
	*s = ahead
	unitBefore := r.unit
	r.unit = s.unit(after) || r.unit
	if dash && first.digits == 0 && as == decimal && !second.signed { // flat-2: minus 2?
		return r, ambiguous
	}
	if r.pointed = r.pointed || second.pointed; slash && after == percent && !unitBefore && !r.pointed && isFraction(first.n, second.n) {
		return r, ambiguous
	}
	both := !begins(begin, "minus") || bySign && (!slash || !isReduced(first.n.abs(), second.n))
	if first.worded && !second.signed && both { // neg 2-3bp
		second.n, second.negative, second.signed = second.n.signed(true), true, true
	}
	lo, hi := first, second
	if hi.n.less(lo.n) {
		lo, hi = hi, lo
		if apart && !dash && !second.signed && bySign && !slash { // MS+95 -20: how far it has moved?
			return r, ambiguous
		}
		short, par := second.digits < first.digits && as != asPrice, as == asPrice && first.signed
		if (short || slash) && !second.signed && !par { // par/99.75
			return r, ambiguous
		}
	}
	if first.negative && !second.signed && !second.n.isZero() {
		return r, ambiguous
	}
	r.Range = Range{Lo: lo.n, Hi: hi.n}
	return r, s.commaSettled(as, &r, &first, &second)
}

// commaSettled returns yes if the numbers of a spread have no decimal comma, or are one number each and not two: a unit follows, and
// in basis points they have one digit after the comma, or are quarters.
func (s *scanner) commaSettled(as notation, r *spanned, first, second *signedNumber) verdict {
	if as != decimal || !first.comma && !second.comma || (&scanner{s.rest}).unit(percent) {
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
