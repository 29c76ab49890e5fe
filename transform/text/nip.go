package text

var qualityApproximate = []byte("APPROXIMATE")

// parseNIP reads a new issue premium: 5, 3-5, 5bp, -2, flat, c.10bp, 5bp inside FV. A number without a unit is in basis
// points; inside fair value is negative.
func parseNIP(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	v := s.premium(r)
	if v == yes && s.end() && premiumBounds.containAll(&r.Main) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{Status: unread(text, v)}
}

func (s *scanner) premium(r *Reading) (v verdict) {
	if s.about() {
		r.Quality = qualityApproximate
	}
	if s.word("flat") {
		r.Main = exactly(whole(0))
		return yes
	}
	negative, signed := s.sign()
	if r.Main, _, v = s.span(negative, decimal, basisPoints); v != yes {
		return v
	}
	inside, outside := s.noted("inside fair value", "inside fv", "inside"), s.noted("over fair value", "over fv", "outside fv")
	switch {
	case (inside || outside) && signed:
		return ambiguous
	case inside:
		r.Main = r.Main.negated()
	}
	return yes
}

// about skips a word that makes a number approximate.
func (s *scanner) about() bool {
	ahead := *s
	if !ahead.has("c.") && !ahead.char('~') && !ahead.oneOf("c", "ca.", "circa", "about", "around", "approx.", "approx", "approximately") {
		if !ahead.has("c") || len(ahead.rest) == 0 || !isDigit(ahead.rest[0]) {
			return false
		}
	}
	ahead.space()
	*s = ahead
	return true
}

// negated returns the range with the opposite sign.
func (r Range) negated() Range {
	r.Point = r.Point.signed(true)
	r.Lo, r.Hi = r.Hi.signed(true), r.Lo.signed(true)
	return r
}
