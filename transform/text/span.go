package text

import "bytes"

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

// mayGroupDigits reports whether the point of a number, as written, may be between groups of three digits: 1.025.
func (n *signedNumber) mayGroupDigits(written []byte) bool {
	at := len(written) - groupDigits - 1
	return n.digits == 1 && at > 0 && written[at] == '.' && written[at-1] != '0'
}

// spanned is a number or a range, and how it is written.
type spanned struct {
	Range
	unit    bool // a unit follows one of the numbers
	signed  bool // the first number has a sign
	pointed bool // one of the numbers has a point
}

// span reads a number or a range. Two numbers with a dash, a slash or a word between them are ambiguous if they may be about two things (see
// pair). Of 5.25-50% the second number is 5.50.
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
	if after == basisPoints && first.mayGroupDigits(begin[:len(begin)-len(s.rest)]) {
		return r, ambiguous
	}
	r.unit = s.unit(after)
	p := pair{as: as, first: first, firstUnit: r.unit}
	switch v = s.secondOf(&p, after); v {
	case ambiguous:
		return r, ambiguous
	case no:
		r.Range = exactly(first.n)
		return r, s.commaSettled(as, &r, &first, &first)
	}
	r.unit, r.pointed = p.firstUnit || p.secondUnit, p.pointed()
	if after == percent && p.mayBeFraction() || p.complete(begin) == ambiguous || p.isDoubtful() || p.mayBeRates(s) {
		return r, ambiguous
	}
	lo, hi := p.ends()
	r.Range = Range{Lo: lo, Hi: hi}
	return r, s.commaSettled(as, &r, &p.first, &p.second)
}

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
