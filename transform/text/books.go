package text

import "bytes"

// Words about orders, as desks write them.
var (
	orderWords        = []string{"final order book", "final orderbook", "orderbooks", "order books", "bks", "bk", "final books", "final book", "total orders", "final orders", "in orders", "of orders", "orders", "order book", "orderbook", "in books", "books", "book", "in the book", "total demand", "demand", "of demand", "iois", "ioi's", "ioi", "indications of interest", "indications", "shadow books", "shadow book", "orderbuch", "bücher", "buch", "auftragsbuch", "carnet d'ordres", "carnet", "libro de órdenes", "libro", "boken", "bok"}
	unreconciledWords = []string{"pre-rec.", "pre-rec", "pre rec.", "pre rec", "prerec", "pre-reconciliation", "pre reconciliation", "unreconciled", "pre-recon", "pre recon"}
	reconciledWords   = []string{"post-rec.", "post-rec", "post rec.", "post rec", "post-reconciliation", "post reconciliation", "reconciled", "post-recon", "recon'd"}
	excludingWords    = []string{"excluding", "excl.", "excl", "exc.", "exc", "ex.", "ex", "w/o", "without", "net of", "with no", "no", "exkl.", "exkl", "ohne"}
	includingWords    = []string{"including", "incl.", "incl", "inc.", "inc", "o/w", "of which", "thereof", "inkl.", "inkl"}
	bookWords         = []string{"at the last update", "at last update", "last update", "at last count", "latest", "last heard", "so far", "at guidance", "at reoffer", "at re-offer", "at launch", "at final terms", "final", "at final spread", "good at guidance", "good at reoffer", "good at re-offer", "good at final terms", "good at final", "books closed", "closed", "now closed", "allocs out", "allocs released", "allocations out", "allocations released", "allocated", "books subject", "subject", "skewed", "and growing", "and rising", "still growing", "growing", "rising"}
	leadWords         = []string{"jlm interest", "jlm int.", "jlm int", "jlms' interest", "jlm orders", "jlms", "jlm", "the leads", "the jlms", "leads", "lead interest", "joint leads", "lead orders"}
)

// Orders of twice the size are reported as twice subscribed and as twice oversubscribed.

// parseBooks reads the orders of a book: EUR2.1bn+, >EUR1.8bn, in excess of EUR3.2bn (incl. 150m JLM), EUR2.1bn pre-rec. It
// also reads how often the orders cover the size: 4x covered. Orders without a currency get that of the currency column.
func parseBooks(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	if s.cover(r) && s.end() && coverBounds.contain(r.Cover) {
		r.Status = statusOK
		return
	}
	*r, s = Reading{}, scanner{text}
	v := s.orders(siblings, r)
	if v == yes && (r.coversSize(text) || r.Main.isRange() && (saysAny(text, peakWords) || r.tellsStates() && bytes.Contains(text, []byte(" - ")))) { // EUR500m 4x covered: the size? EUR2bn - 2.5bn peak: two states?
		v = ambiguous
	}
	if v == yes && s.end() && amountBounds.containAll(&r.Main) && (!r.JLM.Set || amountBounds.contain(r.JLM)) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{Status: unread(text, v)}
}

// tellsStates reports whether a text says which orders it counts: EUR2bn - EUR2.2bn incl. JLM.
func (r *Reading) tellsStates() bool { return r.IncludesJLM != Unknown || r.Reconciled != Unknown }

// peakOnly are words of the most that orders were: those that remain are not more.
var peakOnly = []string{"at peak", "at the peak", "peaked", "peak"}

// peakWords are words of one state of a book, of which no range is.
var peakWords = []string{"peak", "peaked", "final"}

// leastCovered is the least size that orders without a word for them may cover, in units of a currency that is not in smallUnits.
const leastCovered = 200_000_000

// coversSize reports whether an amount without a word for orders may be the size that they cover, because as orders it gives too small a size.
func (r *Reading) coversSize(text []byte) bool {
	small := smallUnits[string(r.Currency)] || !r.Cover.Set || !r.Main.Point.Set
	return !small && r.Main.Point.less(r.Cover.times(leastCovered)) && !saysAny(text, orderWords)
}

// cover reads how often the orders cover the size.
func (s *scanner) cover(r *Reading) (ok bool) {
	s.ordersBefore()
	if s.oneOf("covered", "oversubscribed", "over-subscribed", "subscribed", "book cover", "cover") {
		s.char(':')
		s.space()
	}
	if s.about() {
		r.Quality = qualityArea
	}
	if r.Cover, ok = s.number(decimal); !ok {
		return false
	}
	s.space()
	if !s.oneOf("x", "times") {
		return false
	}
	s.noted("covered", "oversubscribed", "over-subscribed", "subscribed", "cover", "book cover", "bid-to-cover", "btc")
	s.noted(bookWords...)
	return true
}

// accounts skips the number of accounts in a book, which has no column.
func (s *scanner) accounts() bool {
	ahead := *s
	if ahead.char('/') {
		ahead.space()
	}
	ahead.oneOf("from", "over", "c.")
	ahead.space()
	ahead.char('>')
	ahead.space()
	if _, n := ahead.count(); n == 0 {
		return false
	}
	return ahead.accountsNext() && s.skipTo(ahead)
}

// accountsNext skips the word for the accounts in a book after their number.
func (s *scanner) accountsNext() bool {
	ahead := *s
	ahead.char('+')
	ahead.space()
	return ahead.oneOf("accounts", "accts", "accs", "investors", "buyers", "lines", "orders", "tickets") && s.skipTo(ahead)
}

// ordersBefore skips the word for orders before their number: books >EUR2bn.
func (s *scanner) ordersBefore() {
	if s.oneOf("last heard", "lh", "l/h", "update", "final", "peaked", "peak", "guidance", "latest", "current") {
		s.space()
		if !s.oneOf(orderWords...) {
			s.oneOf("at")
		}
		s.char(':')
		s.space()
	} else if s.oneOf(orderWords...) {
		s.char(':')
		s.space()
		s.oneOf("at", "of", "are", "is", "now", "last heard at", "last heard", "closed at", "closed", "total", "over the")
		s.space()
	}
}

func (s *scanner) orders(siblings Siblings, r *Reading) verdict {
	var q qualifier
	r.Equivalent = No
	q.most = (&scanner{s.rest}).oneOf(peakOnly...)
	s.ordersBefore()
	if good := *s; good.oneOf("good") && good.char(' ') && (good.char('@') || good.oneOf("at")) {
		*s = good
		s.space()
	}
	named, v := s.limitedSize(siblings.Currency, &q, r)
	if r.chooseCurrency(named, siblings); v != yes {
		return v
	}
	if r.Currency == nil {
		return no
	}
	if !s.bookRemarks(siblings.Currency, &q, r) {
		return no
	}
	r.Quality, v = q.apply(&r.Main)
	return v
}

// goodAt skips the price at which the orders remain: good at MS+75.
func (s *scanner) goodAt(column []byte) bool {
	ahead := *s
	if !ahead.oneOf("good at", "at") {
		return false
	}
	ahead.space()
	var at Reading
	return (ahead.spread(column, &at) == yes || ahead.bareSpread(&at) == yes) && s.skipTo(ahead)
}

// coverAfter reads how often the orders cover the size, after the orders: 3x covered.
func (s *scanner) coverAfter(r *Reading) bool {
	ahead := *s
	if ahead.char('/') {
		ahead.space()
	}
	var after Reading
	if !ahead.cover(&after) || !coverBounds.contain(after.Cover) {
		return false
	}
	r.Cover = after.Cover
	return s.skipTo(ahead)
}

// bookRemarks reads the remarks after the orders. It returns false if parentheses are not closed.
func (s *scanner) bookRemarks(column []byte, q *qualifier, r *Reading) bool {
	var list remarkList
	for {
		ahead, inside := list.next(*s)
		least := begins(s.rest, "+") // EUR2bn+ JLM 150m
		switch {
		case r.Equivalent == No && ahead.oneOf(equivalentWords...):
			r.Equivalent = Yes
		case r.Reconciled == Unknown && ahead.oneOf(unreconciledWords...):
			r.Reconciled = No
		case r.Reconciled == Unknown && ahead.oneOf(reconciledWords...):
			r.Reconciled = Yes
		case inside && !list.open && ahead.peak(column, r):
		case r.IncludesJLM == Unknown && !least && ahead.plusLeads(column, r), r.IncludesJLM == Unknown && ahead.leadOrders(column, r), ahead.oneOf(orderWords...), ahead.goodAt(column), ahead.oneOf(bookWords...), ahead.accounts():
		case !r.Cover.Set && ahead.coverAfter(r):
		case ahead.oneOf(peakOnly...):
			q.most = true
		case q.after(&ahead):
		default:
			return !list.open
		}
		list.take(s, ahead, inside)
	}
}

// peak skips the most that the orders were, in parentheses: (peak EUR5.2bn).
func (s *scanner) peak(column []byte, r *Reading) bool {
	ahead := *s
	if !ahead.oneOf("down from peak of", "peak of", "peaked at", "peak at", "peak") {
		return false
	}
	ahead.char(':')
	ahead.space()
	var most Range
	named, v := ahead.size(column, &most)
	if v != yes || !most.Lo.Set || !r.Main.Lo.Set || !r.Main.Hi.less(most.Lo) || named != nil && string(named) != string(r.Currency) {
		return false
	}
	return !ahead.end() && ahead.rest[0] == ')' && s.skipTo(ahead)
}

// plusLeads reads the orders of the joint lead managers that are not in the number before: + JLM 200m. In EUR2bn+ incl. 150m JLM the plus says
// that the number is a minimum.
func (s *scanner) plusLeads(column []byte, r *Reading) bool {
	ahead := *s
	if !ahead.char('+') && !ahead.oneOf("plus") {
		return false
	}
	ahead.space()
	if amount := ahead; amount.leadAmount(column, r) {
		ahead = amount
	} else if leads := ahead; !leads.oneOf(leadWords...) || !ahead.leadOrders(column, r) {
		return false
	}
	r.IncludesJLM = No
	return s.skipTo(ahead)
}

// leadAmount reads an amount and the word for the joint lead managers after it: 150m JLM.
func (s *scanner) leadAmount(column []byte, r *Reading) bool {
	ahead := *s
	leads, v := ahead.currency(column)
	a, ok := ahead.amount()
	if !ok || v != yes || leads != nil && string(leads) != string(r.Currency) {
		return false
	}
	jlm, v := a.number(r.Currency)
	ahead.space()
	ahead.oneOf("of", "from")
	ahead.space()
	if v != yes || !ahead.oneOf(leadWords...) {
		return false
	}
	r.JLM = jlm
	return s.skipTo(ahead)
}

// leadOrders reads what the text says about the orders of the joint lead managers: (incl. 150m JLM), excl. JLM.
func (s *scanner) leadOrders(column []byte, r *Reading) bool {
	ahead := *s
	includes := flag(true)
	switch {
	case ahead.oneOf(leadWords...): // (JLMs 120m): in the orders or not?
		ahead.char(':')
		ahead.space()
		var orders Range
		if leads, v := ahead.size(column, &orders); v != yes || leads != nil && string(leads) != string(r.Currency) || !orders.Point.Set {
			return false
		}
		r.JLM = orders.Point
		return s.skipTo(ahead)
	case ahead.oneOf(excludingWords...):
		includes = No
		ahead.char('-')
	case !ahead.oneOf(includingWords...):
		return false
	}
	ahead.space()
	if ahead.leadAmount(column, r) || ahead.oneOf(leadWords...) {
		r.IncludesJLM = includes
		return s.skipTo(ahead)
	}
	return false
}
