package text

// parseBooks reads the orders of a book: EUR2.1bn+, >EUR1.8bn, in excess of EUR3.2bn (incl. 150m JLM). It also reads
// how often the orders cover the size: 4x covered. Orders without a currency get that of the currency column.
func parseBooks(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	if s.cover(r) && s.end() && coverBounds.contain(r.Cover) {
		r.Status = statusOK
		return
	}
	*r, s = Reading{}, scanner{text}
	v := s.orders(siblings, r)
	if v == yes && s.end() && amountBounds.containAll(&r.Main) && (!r.JLM.Set || amountBounds.contain(r.JLM)) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{Status: unread(text, v)}
}

// cover reads how often the orders cover the size.
func (s *scanner) cover(r *Reading) (ok bool) {
	if r.Cover, ok = s.number(decimal); !ok || !s.word("x") {
		return false
	}
	s.noted("covered", "subscribed")
	return true
}

func (s *scanner) orders(siblings Siblings, r *Reading) verdict {
	var q qualifier
	q.before(s)
	named, v := s.size(&r.Main)
	if r.chooseCurrency(named, siblings); v != yes {
		return v
	}
	if r.Currency == nil {
		return no
	}
	q.allAfter(s)
	s.leadOrders(r)
	r.Quality, v = q.apply(&r.Main)
	return v
}

// leadOrders reads the orders of the joint lead managers after all orders: (incl. 150m JLM).
func (s *scanner) leadOrders(r *Reading) {
	ahead := *s
	ahead.space()
	if !ahead.char('(') || !ahead.oneOf("including", "incl.", "incl", "inc.", "inc") {
		return
	}
	ahead.space()
	leads := ahead.currency()
	a, ok := ahead.amount()
	if !ok || leads != nil && string(leads) != string(r.Currency) || !ahead.noted("jlm interest", "jlm", "jlms") || !ahead.char(')') {
		return
	}
	if n, ok := a.number(); ok {
		*s, r.JLM = ahead, n
	}
}
