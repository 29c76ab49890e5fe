package text

var qualityApproximate = []byte("APPROXIMATE")

// What a premium is inside of, and over.
var (
	insideWords  = []string{"inside fair value", "inside fv", "inside curve", "inside", "through fair value", "through fv", "through curve", "through", "thru fv", "thru"}
	outsideWords = []string{"over fair value", "over fv", "over curve", "outside fv", "outside fair value", "outside", "back of fair value", "back of fv", "back", "behind fv", "above fair value", "above fv", "wide of fv", "wide to fv", "cheap to fv", "to fair value", "to fv", "vs fv", "vs. fv"}
	premiumWords = []string{"new issue premium", "new-issue premium", "new issue concession", "new-issue concession", "nip", "nic", "concession", "premium", "conc"}
	zeroWords    = []string{"zero", "nil", "no nip", "no nic", "no premium", "no concession", "at fair value", "at fv", "on fair value", "on fv", "flat to fair value", "flat to fv", "flat to curve"}
)

// parseNIP reads a new issue premium: 5, 3-5, 5bp, -2, flat, c.10bp, 5bp inside FV, 10-15bp NIP. A number without a unit
// is in basis points; inside fair value is negative.
func parseNIP(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	v := s.premium(r)
	if v == yes && s.end() && premiumBounds.containAll(&r.Main) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{Status: unread(text, v)}
}

func (s *scanner) premium(r *Reading) verdict {
	s.premiumWord()
	var q qualifier
	q.before(s)
	found, v := s.premiumSize()
	if v != yes {
		return v
	}
	s.noted(premiumWords...)
	inside := s.noted(insideWords...)
	outside := !inside && s.noted(outsideWords...)
	s.noted(premiumWords...)
	negative := s.noted("negative", "neg")
	switch {
	case (inside || outside || negative) && found.signed && !found.isZero(), negative && (inside || outside):
		return ambiguous
	case (inside || negative) && (q.least || q.most): // less than 5 inside: which end?
		return ambiguous
	case inside, negative:
		found.Range = found.negated()
	}
	q.after(s)
	r.Main = found.Range
	r.Quality, v = q.apply(&r.Main)
	if q.about {
		r.Quality = qualityApproximate
	}
	return v
}

// premiumWord skips the name of the premium before its size: NIP: 5bp.
func (s *scanner) premiumWord() {
	if s.oneOf(premiumWords...) {
		s.char(':')
		s.space()
		s.oneOf("of", "at")
		s.space()
	}
}

// premiumSize reads the number, or a word for zero.
func (s *scanner) premiumSize() (found spanned, v verdict) {
	if s.oneOf(zeroWords...) {
		found.Range = exactly(whole(0))
		s.unit(basisPoints)
		return found, yes
	}
	return s.span(decimal, basisPoints)
}

func (r *Range) isZero() bool { return r.Point.Set && r.Point.isZero() }

// about skips a word that makes a number approximate.
func (s *scanner) about() bool {
	ahead := *s
	if !ahead.has("c.") && !ahead.char('~') && !ahead.oneOf("c", "ca.", "ca", "circa", "about", "around", "roughly", "approx.", "approx", "approximately") {
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
