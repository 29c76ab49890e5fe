package text

// What a structure says in words.
var (
	rateFixed    = []byte("FIXED")
	rateFloating = []byte("FLOATING")
	rateReset    = []byte("FIXED_TO_FLOATING")
	rateZero     = []byte("ZERO")

	formCallable   = []byte("CALLABLE")
	formAmortising = []byte("AMORTISING")
	formSinker     = []byte("SINKER")

	lengthLong  = []byte("LONG")
	lengthShort = []byte("SHORT")
)

// features are the words of a structure, and the part of a Reading that each sets. Of two with a common start the
// longer one comes first.
var features = []struct {
	words []string
	value []byte
	place func(*Reading) *[]byte
}{
	{[]string{"fixed-to-floating", "fixed to floating", "fixed-to-reset", "fixed to reset", "fxd-flt", "fxd/flt", "fxd-frn", "fxd/frn"}, rateReset, rateType},
	{[]string{"fxd", "fixed rate", "fixed"}, rateFixed, rateType},
	{[]string{"frn", "floating rate", "floating", "floater", "flt"}, rateFloating, rateType},
	{[]string{"zero coupon", "zero", "zc"}, rateZero, rateType},
	{[]string{"amortising", "amortizing", "amort"}, formAmortising, form},
	{[]string{"sinker", "sinking fund"}, formSinker, form},
	{[]string{"callable"}, formCallable, form},
	{[]string{"long"}, lengthLong, length},
	{[]string{"short"}, lengthShort, length},
}

func rateType(r *Reading) *[]byte { return &r.RateType }

func form(r *Reading) *[]byte { return &r.Form }

func length(r *Reading) *[]byte { return &r.Length }

// parseStructure reads a structure's short code: 5yr FXD, long 5yr, 10NC5, PNC5.25, amort, WNG. Its parts come in any
// order, each at most once. A structure with a call has the form CALLABLE unless the text names another.
func parseStructure(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	r.Perpetual, r.WillNotGrow = No, No
	ok := s.feature(r)
	for ok && !s.end() {
		s.space()
		ok = s.feature(r)
	}
	if !ok || !r.isStructure() {
		*r = Reading{Status: unread(text, no)}
		return
	}
	if r.Call.Set && r.Form == nil {
		r.Form = formCallable
	}
	r.Status = statusOK
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
	case !r.Tenor.Set && s.ends(r), !r.Call.Set && s.call(r):
		return true
	case r.Perpetual == No && s.perpetual():
		r.Perpetual = Yes
		return true
	case r.WillNotGrow == No && s.noted("wng", "will not grow"):
		r.WillNotGrow = Yes
		return true
	}
	for i := range features {
		if place := features[i].place(r); *place == nil && s.oneOf(features[i].words...) {
			*place = features[i].value
			return true
		}
	}
	return s.word("bullet")
}

// ends reads a tenor: with its unit, or as the number before NC.
func (s *scanner) ends(r *Reading) (ok bool) {
	if r.Tenor, ok = s.tenor(); ok {
		return true
	}
	ahead := *s
	if r.Tenor, ok = ahead.number(decimal); !ok || !(&scanner{ahead.rest}).has("nc") {
		r.Tenor = Number{}
		return false
	}
	*s = ahead
	return true
}

// call reads the years to the first call: NC5, NC5.25.
func (s *scanner) call(r *Reading) (ok bool) {
	ahead := *s
	if !ahead.has("nc") {
		return false
	}
	if r.Call, ok = ahead.number(decimal); ok {
		*s = ahead
	}
	return ok
}

// perpetual reads Perp, or the P of PNC5.
func (s *scanner) perpetual() bool {
	if s.oneOf("perpetual", "perp") {
		return true
	}
	for _, before := range []string{"perp", "p"} {
		if ahead := *s; ahead.has(before) && (&scanner{ahead.rest}).has("nc") {
			*s = ahead
			return true
		}
	}
	return false
}
