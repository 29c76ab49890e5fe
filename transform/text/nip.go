package text

import "github.com/apache/arrow/go/v17/arrow/decimal128"

var qualityApproximate = []byte("APPROXIMATE")

// The words of premiums. A direction is read with what it is from: back of the curve. Some need no such words.
var (
	premiumWords = []string{"prime d'émission", "prime", "new issue premium", "new-issue premium", "new issue concession", "new-issue concession", "nip", "nic", "concession", "premium", "conc"}
	zeroWords    = []string{"+/-0", "+/- 0", "zero", "nil", "no nip", "no nic", "no premium", "no concession"}
	insideWords  = []string{"inside", "through", "thru"}
	insideOf     = []string{"tight to", "tight of", "tighter than", "rich to", "below"}
	outsideWords = []string{"back of", "back from", "back", "behind", "outside", "wide of", "wide to", "wide", "cheap to", "cheap of", "cheap"}
	outsideOf    = []string{"over", "above", "to", "vs.", "vs", "versus", "against"}
	levelWith    = []string{"bang in line with", "bang on top of", "bang on", "right on top of", "right on", "spot on", "smack on", "in line with", "flat to", "flat with", "flat on", "at", "on top of", "on", "level with"}
	fairWords    = []string{"fair value", "fair-value", "fair", "fv", "f/v", "secondary curve", "secondaries", "secondary", "curve", "outstandings", "comps"}
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
	s.oneOf("landed with", "landing with", "priced with", "with", "paying", "pays", "offering", "implied", "implies", "est.", "est")
	s.space()
	s.premiumWord()
	if value := *s; value.oneOf("fair value", "fv", "curve") { // FV+5
		if value.space(); !value.end() && (value.rest[0] == '+' || value.rest[0] == '-') {
			*s = value
		}
	}
	if s.has("- ") { // a dash or a minus?
		return ambiguous
	}
	before := *s
	through := before.fair(insideWords, insideOf) && before.char(' ') && before.oneOf("by") && before.char(' ') // inside FV by 3
	if through {
		*s = before
	}
	var q qualifier
	q.before(s)
	found, v := s.premiumSize()
	if v != yes {
		return v
	}
	if named := *s; named.has(" of ") && named.oneOf(premiumWords...) {
		*s = named
	}
	s.noted(premiumWords...)
	inside := through || s.fair(insideWords, insideOf)
	outside := !inside && s.fair(outsideWords, outsideOf)
	s.noted(premiumWords...)
	s.fairValue(inside || outside)
	negative := s.noted("negative", "neg")
	switch {
	case (inside || outside || negative) && found.signed && !found.isZero(), negative && (inside || outside):
		return ambiguous
	case (inside || negative) && (q.least || q.most), negative && found.isRange() && found.Lo.isZero(): // less than 5 inside: which end? 0-3 (neg): both?
		return ambiguous
	case inside, negative:
		found.Range = found.negated()
	}
	if s.ish(&q) || s.noted("or so", "est.", "est", "estimated") {
		q.about = true
	}
	q.after(s)
	if size := found.Hi.abs(); !found.unit && !size.isZero() && (size.less(quarterPoint) || mostBarePremium.less(size)) { // 0.05: in percent? priced 92: a spread?
		return ambiguous
	}
	if r.Main = found.Range; (q.least || q.most) && r.Main.Lo.less(whole(0)) { // up to -5: which end?
		return ambiguous
	}
	r.Quality, v = q.apply(&r.Main)
	if q.about {
		r.Quality = qualityApproximate
	}
	return v
}

// mostBarePremium is the greatest premium without a unit that is read.
var mostBarePremium = whole(50)

// quarterPoint is the least premium without a unit that is read.
var quarterPoint = Number{decimal128.FromU64(powers[scale] / 4), true}

// fairValue skips what fair value is: (FV MS+70). named says that the words for it have been read: 5bp vs FV MS+70.
func (s *scanner) fairValue(named bool) {
	ahead := *s
	ahead.char(',')
	ahead.space()
	inside := ahead.char('(')
	if !ahead.oneOf("fair value", "fv") && !named {
		return
	}
	ahead.char(':')
	ahead.space()
	ahead.oneOf("of", "at", "seen", "c.", "around")
	ahead.space()
	var value Reading
	if ahead.spread(nil, &value) == yes && (!inside || ahead.char(')')) {
		*s = ahead
	}
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
	if s.fair(nil, levelWith) {
		found.Range, found.signed = exactly(whole(0)), true
		return found, yes
	}
	if zero := *s; zero.oneOf("zero", "nil") && zero.until() { // zero to 2bp
		if found, v = zero.span(decimal, basisPoints); v == yes && found.Point.Set && !found.signed {
			found.Range = Range{Lo: whole(0), Hi: found.Hi}
			*s = zero
			return found, yes
		}
	}
	if s.oneOf(zeroWords...) {
		found.Range, found.signed = exactly(whole(0)), true
		s.unit(basisPoints)
		return found, yes
	}
	if found, v = s.span(decimal, basisPoints); v == yes && !found.unit && s.unit(percent) { // of yield
		if !found.Lo.abs().less(whole(1)) || !found.Hi.abs().less(whole(1)) {
			return found, no
		}
		found.Range = found.hundredfold()
	}
	return found, v
}

// fair reads a direction and what it is from. The words of alone need not be followed by that.
func (s *scanner) fair(alone, from []string) bool {
	ahead := *s
	ahead.space()
	inside := ahead.char('(')
	needed := false
	if !ahead.oneOf(alone...) {
		if needed = ahead.oneOf(from...); !needed {
			return false
		}
	}
	after := ahead
	after.space()
	after.oneOf("the", "its", "own", "issuer's")
	after.space()
	if after.oneOf(fairWords...) {
		ahead = after
	} else if needed {
		return false
	}
	if inside && !ahead.char(')') {
		return false
	}
	return s.skipTo(ahead)
}

func (r *Range) isZero() bool { return r.Point.Set && r.Point.isZero() }

// about skips a word that makes a number approximate.
func (s *scanner) about() bool {
	ahead := *s
	if (&scanner{s.rest}).has("c$") { // Canadian dollars
		return false
	}
	if !ahead.has("c.") && !ahead.char('~') && !ahead.oneOf("c", "ca.", "ca", "circa", "about", "around", "close to", "in the region of", "in the area of", "some", "roughly", "approx.", "approx", "approximately", "rund", "rd.", "rd", "etwa", "zirka") {
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
