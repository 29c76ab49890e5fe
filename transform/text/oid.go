package text

// parseOID reads the issue price of a loan, 99.5, 99-99.5, par, 99.5 OID, 99 area, or an upfront fee instead of it, 0.5%
// UF, 50bp UF. A number without a unit is in percent of nominal.
func parseOID(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	if s.fee(r) && s.end() && feeBounds.contain(r.Fee) {
		r.Status = statusOK
		return
	}
	*r, s = Reading{}, scanner{text}
	v := s.issuePrice(r)
	if v == yes && s.end() && priceBounds.containAll(&r.Main) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{Status: unread(text, v)}
}

// fee reads a fee that is paid up front, in percent or basis points.
func (s *scanner) fee(r *Reading) bool {
	named := s.oneOf(feeWords...)
	if named {
		s.char(':')
		s.space()
		s.oneOf("of")
		s.space()
	}
	d, ok := s.digits()
	if !ok {
		return false
	}
	if s.unit(basisPoints) {
		r.Fee, ok = d.times(-2)
	} else if r.Fee, ok = d.times(0); !s.unit(percent) {
		return false
	}
	return ok && (named || s.noted(feeWords...))
}

var feeWords = []string{"uf", "u/f", "upfront fee", "upfront", "up-front fee", "up-front", "fees", "fee"}

func (s *scanner) issuePrice(r *Reading) verdict {
	s.oidWord()
	s.space()
	s.oneOf("at", "of")
	s.space()
	var q qualifier
	q.before(s)
	found, v := s.span(asPrice, percent)
	if v != yes {
		return v
	}
	if found.signed && !found.isPar() {
		return no
	}
	for more := true; more; {
		more = s.priceBefore() || s.noted("oid", "no oid", "issue price", "price", "px") || q.after(s)
	}
	r.Main = found.Range
	r.Quality, v = q.apply(&r.Main)
	return v
}

// priceBefore skips the price before this one: from 98.5.
func (s *scanner) priceBefore() bool {
	ahead := *s
	ahead.space()
	inside := ahead.char('(')
	if !ahead.oneOf("from", "was") {
		return false
	}
	ahead.space()
	_, v := ahead.span(asPrice, percent)
	return v == yes && (!inside || ahead.char(')')) && s.skipTo(ahead)
}

// oidWord skips the name of the price before it: OID 99.
func (s *scanner) oidWord() {
	if s.oneOf("oid", "issue price", "price", "issued", "offered") {
		s.char(':')
		s.space()
	}
	s.char('@')
}

// isPar reports whether the first number was the word par, which counts as signed.
func (r *spanned) isPar() bool { return r.Lo == whole(100) || r.Hi == whole(100) }
