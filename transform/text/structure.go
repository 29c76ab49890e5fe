package text

import "bytes"

// What a structure says in words.
var (
	rateFixed    = []byte("FIXED")
	rateFloating = []byte("FLOATING")
	rateReset    = []byte("FIXED_TO_FLOATING")
	rateZero     = []byte("ZERO")

	formCallable   = []byte("CALLABLE")
	formAmortising = []byte("AMORTISING")
	formSinker     = []byte("SINKER")

	rankSeniorSecured = []byte("SENIOR_SECURED")

	lengthLong  = []byte("LONG")
	lengthShort = []byte("SHORT")
)

// parseStructure reads a structure's short code: 5yr FXD, long 5yr, 10NC5, PNC5.25, T2 10NC5, 6NC5 SNP, 5yr green, amort,
// WNG. Its parts come in any order, each at most once. A structure with a call has the form CALLABLE unless the text names another.
func parseStructure(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	r.Perpetual, r.WillNotGrow = No, No
	ok := s.feature(r)
	for ok && !s.end() {
		if s.featureSeparator(); !s.end() {
			ok = s.feature(r)
		}
	}
	if !ok || !r.isStructure() {
		*r = Reading{Status: unread(text, no)}
		return
	}
	if !r.saysStructure() { // act/360: a text about other terms
		*r = Reading{Status: statusNoNumber}
		return
	}
	if r.Call.Set && r.Form == nil {
		r.Form = formCallable
	}
	r.Status = statusOK
}

// saysStructure reports whether any part of a structure was read.
func (r *Reading) saysStructure() bool {
	return r.Tenor.Set || r.Call.Set || r.Perpetual == Yes || r.WillNotGrow == Yes || r.Bullet ||
		r.RateType != nil || r.Form != nil || r.Rank != nil || r.Label != nil
}

// isStructure reports whether the parts fit together: a call is before the end, a length needs a tenor, and a perpetual
// has no tenor.
func (r *Reading) isStructure() bool {
	switch {
	case r.Tenor.Set && (r.Perpetual == Yes || !tenorBounds.contain(r.Tenor)):
		return false
	case r.Call.Set && !tenorBounds.contain(r.Call), r.Call.Set && r.Tenor.Set && !r.Call.less(r.Tenor):
		return false
	}
	return r.Length == nil || r.Tenor.Set
}

// feature reads one part of a structure that was not read before.
func (s *scanner) feature(r *Reading) bool {
	switch {
	case s.parCall(), r.Tenor.Set && s.dueNoted(), r.Tenor.Set && s.sameEnd(r), !r.Tenor.Set && (s.ends(r) || s.shortForm(r)), !r.Call.Set && s.call(r), s.callDate():
		return true
	case r.Perpetual == No && s.perpetual():
		r.Perpetual = Yes
		return true
	case r.WillNotGrow == No && s.noted(wngWords...):
		r.WillNotGrow = Yes
		return true
	}
	for i := range features {
		if place := features[i].place(r); (*place == nil || string(*place) == "SENIOR" && bytes.HasPrefix(features[i].value, []byte("SENIOR_"))) && s.oneOf(features[i].words...) {
			*place = features[i].value
			return true
		}
	}
	if r.Rank == nil && r.RateType == nil && s.oneOf("ssfrns", "ssfrn") { // senior secured floating-rate notes
		r.Rank, r.RateType = rankSeniorSecured, rateFloating
		return true
	}
	if s.oneOf("bullet") {
		r.Bullet = true
		return true
	}
	return s.oneOf(plainFeatures...) || s.life(r) || s.oneOf("ncl", "nc-life", "nc life", "noncall life", "non-call life")
}

// featureSeparator skips what separates two parts of a structure.
func (s *scanner) featureSeparator() {
	s.space()
	if s.char(',') || s.char('/') || s.char('(') || s.char(')') || s.has("- ") {
		s.space()
	}
}

// ends reads a tenor: with its unit, or as the number before NC.
func (s *scanner) ends(r *Reading) (ok bool) {
	if r.Tenor, ok = s.tenor(); ok {
		return true
	}
	ahead := *s
	if r.Tenor, ok = ahead.number(decimal); ok && !ahead.has("yr") { // 10yrNC5
		ahead.has("y")
	}
	if !ok || !ahead.callNext() {
		r.Tenor = Number{}
		return false
	}
	*s = ahead
	return true
}

// sameEnd skips the tenor again, before the call: 8yr SNP (8NC7).
func (s *scanner) sameEnd(r *Reading) bool {
	ahead := *s
	n, ok := ahead.number(decimal)
	return ok && n == r.Tenor && !r.Call.Set && ahead.callNext() && s.skipTo(ahead)
}

// shortForm reads a tenor as desks say it: L5Y, and the 3s of long 3s.
func (s *scanner) shortForm(r *Reading) bool {
	ahead := *s
	if r.Length == nil && ahead.has("l") {
		if tenor, ok := ahead.years(); ok {
			r.Tenor, r.Length = tenor, lengthLong
			return s.skipTo(ahead)
		}
		return false
	}
	n, count := ahead.count()
	if r.Length == nil || count == 0 || count > 2 || !ahead.word("s") {
		return false
	}
	r.Tenor = whole(n)
	return s.skipTo(ahead)
}

// dueNoted skips when a bond with a tenor is due: due 2032.
func (s *scanner) dueNoted() bool {
	ahead := *s
	if !ahead.oneOf("due", "maturing", "mat.", "mat") {
		return false
	}
	ahead.space()
	var date Reading
	return ahead.dueAt(&date) && s.skipTo(ahead)
}

// parCall skips that the issuer may call the bond at par shortly before its end, which is no call before: 3m par call.
func (s *scanner) parCall() bool {
	ahead := *s
	if ahead.oneOf("with", "w/", "incl.", "plus") {
		ahead.space()
	}
	ahead.oneOf("a")
	ahead.space()
	tenor, ok := ahead.tenor()
	if ahead.space(); !ok || whole(1).less(tenor) {
		return false
	}
	return ahead.oneOf("par call", "par-call", "par calls", "pc") && s.skipTo(ahead)
}

// callDate skips the month of the first call, for which no column counts years: non-call Jun-31.
func (s *scanner) callDate() bool {
	ahead := *s
	if !ahead.oneOf("non-call", "noncall", "no call", "nc", "callable", "first call") {
		return false
	}
	ahead.space()
	_, _, ok := ahead.monthAndYear()
	return ok && s.skipTo(ahead)
}

// callNext reports whether NC is next, perhaps after a space or a dash.
func (s *scanner) callNext() bool {
	next := *s
	next.dash()
	return next.has("nc") || next.has("n.c.") || next.has("n/c") || next.has("non-call") || next.has("noncall") || next.has("non call")
}

// dash skips a dash, a space, or a dash between spaces.
func (s *scanner) dash() {
	s.space()
	if s.char('-') {
		s.space()
	}
}

// call reads the years to the first call: NC5, NC5.25, NC 6, nc5yr.
func (s *scanner) call(r *Reading) (ok bool) {
	ahead := *s
	ahead.dash()
	if !ahead.oneOf("non-call", "noncall", "non call", "no call") && !ahead.has("nc") && !ahead.has("n.c.") && !ahead.has("n/c") {
		return false
	}
	ahead.dash()
	if months := ahead; !months.end() {
		if call, in, found := months.duration(); found && in == inMonths && !begins(months.rest, "/s") { // 5NC18m
			r.Call = call
			return s.skipTo(months)
		}
	}
	if r.Call, ok = ahead.number(decimal); ok {
		if years := ahead; years.oneOf(yearWords...) || years.char(' ') && years.oneOf("yr", "yrs", "years") { // 8yr NC 3 yr
			ahead = years
		}
		*s = ahead
	} else {
		r.Call = Number{}
	}
	return ok
}

// perpetual reads Perp, or the P of PNC5.
func (s *scanner) perpetual() bool {
	if s.oneOf("perpetual", "perps", "perp") {
		return true
	}
	for _, before := range []string{"perp", "p"} {
		if ahead := *s; ahead.has(before) && ahead.callNext() {
			*s = ahead
			return true
		}
	}
	return false
}
