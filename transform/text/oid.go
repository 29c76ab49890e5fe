package text

// parseOID reads the issue price of a loan, 99.5, 99-99.5, par, or an upfront fee instead of it, 0.5% UF. A number
// without a unit is in percent of nominal.
func parseOID(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	if s.fee(r) && s.end() && feeBounds.contain(r.Fee) {
		r.Status = statusOK
		return
	}
	*r, s = Reading{}, scanner{text}
	var v verdict
	if r.Main, _, v = s.span(false, price, percent); v == yes && s.end() && priceBounds.containAll(&r.Main) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{Status: unread(text, v)}
}

// fee reads a fee in percent that is paid up front.
func (s *scanner) fee(r *Reading) (ok bool) {
	if r.Fee, ok = s.number(decimal); !ok || !s.unit(percent) {
		return false
	}
	s.space()
	return s.oneOf("uf", "upfront fee", "upfront", "up-front fee", "up-front", "fee")
}
