package text

import "bytes"

// figure is which debt a multiple counts. qualified says that words tell of what earnings or time it is, which has no column, and counted that they
// tell what is counted as debt or earnings in one way and not in another: incl. leases. earned names the earnings in full, which both figures of a pair have.
type figure struct{ senior, total, net, gross, qualified, counted, earned bool }

// figureWords are the words of a figure. Gross says nothing more than total or senior.
var figureWords = []struct {
	words []string
	add   figure
}{
	{[]string{"senior secured", "sr. sec.", "sr. sec", "sr sec", "snr sec", "sr. secured", "sr secured", "snr secured", "senior", "snr", "sr.", "sr", "first lien", "1st lien", "first-lien", "1l", "fll", "secured", "ssd", "the first lien", "ssns", "ssn", "senior notes", "fllr"}, figure{senior: true}},
	{[]string{"total", "tot", "overall", "2nd lien", "second lien", "second-lien", "2l", "the second lien", "gesamt", "tll", "tlr", "mezzanine", "mezz", "through sub"}, figure{total: true}},
	{[]string{"net debt/ebitda", "net debt / ebitda", "net debt to ebitda", "nd / ebitda", "net debt", "nd/ebitda", "net of cash", "netto", "net"}, figure{net: true}},
	{[]string{"fln", "flnl", "flnlr"}, figure{senior: true, net: true}},
	{[]string{"tnl", "tnlr", "tn"}, figure{net: true}},
	{[]string{"gross of cash", "brutto", "gross"}, figure{gross: true}},
	{[]string{"incl. run-rate synergies", "incl. synergies", "incl synergies", "including synergies", "incl. syn.", "incl. syn", "incl syn.", "incl syn", "run-rate", "run rate", "for synergies", "incl. cost savings", "pre-ifrs 16", "pre-ifrs16", "pre ifrs 16", "pre ifrs16", "pre-ifrs", "ex-ifrs 16", "ex ifrs 16", "post-ifrs 16", "post-ifrs16", "post ifrs 16", "post ifrs16", "incl. leases", "incl leases", "excl. leases", "excl leases", "ex leases", "incl. lease liabilities"}, figure{qualified: true, counted: true}},
	{[]string{"adj. ebitda", "adjusted ebitda", "pf ebitda", "ltm ebitda"}, figure{qualified: true, earned: true}},
	{[]string{"post transaction", "post-transaction", "post deal", "post-closing", "ntm", "lqa", "ltm", "pro forma", "pf", "adjusted", "adj."}, figure{qualified: true, counted: true}},
	{[]string{"at close", "at closing", "opening", "closing", "marketed"}, figure{qualified: true}},
	{[]string{"level", "ratio", "lev.", "through the", "through", "thru", "via", "leverage", "lev", "levered", "debt/ebitda", "debt / ebitda", "debt to ebitda", "of ebitda", "ebitda", "debt", "verschuldungsgrad", "verschuldung"}, figure{}},
}

// parseLeverage reads multiples of debt: 5.2x total, 4.5x/6.0x senior and total, 3.75x net, 5.25x senior / 6.0x total,
// 4.5-4.75x senior. A limit has one end: <4x net. An x may be missing if the number has a point or its figure a name.
func parseLeverage(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	v := s.multiples(r)
	s.earnings(text)
	if v == yes && s.end() {
		plausible := true
		r.Status = statusOK
		for _, found := range []*Range{&r.Senior, &r.Total, &r.Net, &r.NetSenior} {
			plausible = plausible && leverageBounds.containAll(found)
			if found.isRange() {
				r.Status = statusRange
			}
		}
		if plausible {
			return
		}
	}
	*r = Reading{Status: unread(text, v)}
}

// earnings skips the earnings of which a multiple is, with their amount: 5.1x, EBITDA USD240m; 4.9x PF adj. EBITDA of $210m.
func (s *scanner) earnings(text []byte) {
	ahead := *s
	if !ahead.char(',') {
		ahead.char(';')
	}
	ahead.space()
	inside := ahead.char('(')
	ahead.oneOf("pf", "ltm", "adj.", "adjusted")
	ahead.space()
	named := ahead.oneOf("ebitda")
	ahead.space()
	if joined := ahead.oneOf("of", "at", "c."); joined && saysAny(text, ebitdaWords) { // the word is before this place
		named = true
	}
	ahead.space()
	if named && ahead.anySize(nil) && (!inside || ahead.char(')')) && ahead.end() {
		*s = ahead
	}
}

var ebitdaWords = []string{"ebitda"}

// multiple is one figure of a text, and what words say which one it is.
type multiple struct {
	Range
	times     bool // it has an x, or is a multiple without one
	is        figure
	qualified bool
	counted   bool
	before    bool // words before it tell of what earnings or time it is
	bases     bool // it is written like two figures, which words may then say to be on two bases: 3.5x - 4.2x incl. leases
	both      bool // words after it name both figures of a pair
	netBefore bool // net is before it, and does not say of which debt: net 4x senior
}

// multiples reads one to three figures. Two without words are senior and total, and senior debt is a part of all debt.
func (s *scanner) multiples(r *Reading) verdict {
	first, v := s.multiple(r)
	if v != yes {
		return v
	}
	ahead := *s
	ahead.space()
	inside := ahead.char('(')
	slash := ahead.char('/')
	separated := inside || slash || ahead.char(',') || ahead.char(';') || ahead.oneOf("and", "&")
	ahead.space()
	second, v := multiple{}, no
	if separated {
		second, v = ahead.multiple(r)
	}
	if v == ambiguous {
		return v
	}
	if v == no {
		if !first.times {
			return no
		}
		return r.putMultiple(&first)
	}
	if *s = ahead; inside && !s.char(')') || !second.times {
		return no
	}
	bare := figure{}
	switch {
	case !first.times && !slash: // 2, 5.2x
		return no
	case first.is == bare && second.is == bare && !slash && !first.qualified && !inside && !second.both: // 2x, 5.2x: of what?
		return ambiguous
	case first.is == bare && (second.is == bare || second.is.total) && (second.before || first.before), first.is == bare && second.is.total && !slash && !inside:
		return ambiguous // 4x / opening 5x; opening 5x, 6x total
	case first.is == bare && second.is == bare && (inside || first.qualified || second.counted): // 4.5x PF / 5.5x LTM, 3.5x / 4x incl. leases: one figure on two bases
		return ambiguous
	case second.is == bare && second.counted && first.is.net: // 4.5x net / 5x incl. leases
		return ambiguous
	case first.netBefore && !second.is.net && !second.is.gross && (second.is == bare || first.is.senior): // net 4x / 5x: is the second net, too?
		return ambiguous
	case first.is == bare && second.is.net && !inside: // 3.5x/5x net: is the first net, too?
		return ambiguous
	case first.is == bare && second.is == bare:
		first.is.senior = true
	case first.is == bare && second.is.total: // 4.5x / 6x total
		first.is.senior = true
	}
	if v := r.putMultiple(&first); v != yes {
		return v
	}
	if v := r.putMultiple(&second); v != yes {
		return v
	}
	if first.is != bare && second.is != bare && !inside {
		if v := s.thirdMultiple(r); v != yes {
			return v
		}
	}
	if r.Total.isLessThan(&r.Senior) || r.Net.isLessThan(&r.NetSenior) || r.Total.isLessThan(&r.Net) {
		return ambiguous
	}
	return yes
}

// thirdMultiple reads a third figure, if there is one with its name: total 5.9x, senior 4.4x, net 5.2x.
func (s *scanner) thirdMultiple(r *Reading) verdict {
	ahead := *s
	ahead.space()
	if !ahead.char('/') && !ahead.char(',') && !ahead.char(';') && !ahead.oneOf("and", "&") {
		return yes
	}
	ahead.space()
	third, v := ahead.multiple(r)
	if v != yes || !third.times || third.is == (figure{}) {
		return yes
	}
	*s = ahead
	return r.putMultiple(&third)
}

// putMultiple sets the figure of a multiple. It is ambiguous if the text has that figure twice.
func (r *Reading) putMultiple(m *multiple) verdict {
	place := &r.Total
	switch {
	case m.is.senior && m.is.total, m.is.net && m.is.gross:
		return ambiguous
	case m.is.net && m.is.senior:
		place = &r.NetSenior
	case m.is.net:
		place = &r.Net
	case m.is.senior:
		place = &r.Senior
	}
	if place.Lo.Set || place.Hi.Set {
		return ambiguous
	}
	*place = m.Range
	return yes
}

// isLessThan reports whether an end of a figure is less than that of a part of it. A figure that is not set is not less.
func (r *Range) isLessThan(part *Range) bool {
	return r.Lo.Set && part.Lo.Set && r.Lo.less(part.Lo) || r.Hi.Set && part.Hi.Set && r.Hi.less(part.Hi)
}

// multiple reads a figure with words before or after it: c.5x, 3.75x net, senior 4.5x, 4.5-4.75x, up to 5x, x4.8, 5.2x (net).
func (s *scanner) multiple(r *Reading) (m multiple, v verdict) {
	s.figures(&m.is)
	m.before, m.netBefore = m.is.qualified, m.is == (figure{net: true})
	s.char(':')
	s.space()
	var q qualifier
	q.named(s)
	if before := *s; before.has("x") && len(before.rest) > 0 && isDigit(before.rest[0]) {
		*s, m.times = before, true
	}
	begin := s.rest
	n, ok := s.number(mixed)
	if !ok {
		return m, no
	}
	pointed := bytes.ContainsAny(begin[:len(begin)-len(s.rest)], ".,/")
	m.Range, m.times = exactly(n), s.times() || m.times
	if v = s.upperMultiple(&m, pointed); v != yes {
		return m, v
	}
	if s.noted("senior/total", "snr/total", "sr/total", "secured/total", "first lien/total", "1l/total", "senior / total") {
		m.both = true
		return m, yes
	}
	for more := true; more; {
		before := *s
		s.figures(&m.is)
		s.figuresNoted(&m.is)
		more = q.after(s) || s.ish(&q) || len(s.rest) < len(before.rest)
	}
	m.qualified, m.counted = m.is.qualified, m.is.counted && !m.is.earned
	if m.is.qualified, m.is.counted, m.is.earned = false, false, false; m.bases && m.counted {
		return m, ambiguous
	}
	m.times = m.times || (pointed || m.is != figure{}) && bareLeverageBounds.containAll(&m.Range)
	return m, q.limit(&m, r)
}

// limit applies what the words around a figure say of it. A range with a limit is ambiguous. The figures of a text share one
// quality: two that differ are not read.
func (q *qualifier) limit(m *multiple, r *Reading) verdict {
	quality, v := q.apply(&m.Range)
	if q.about && quality != nil {
		quality = qualityApproximate
	}
	if v == yes && quality != nil && r.Quality != nil && string(quality) != string(r.Quality) {
		return no
	}
	if quality != nil {
		r.Quality = quality
	}
	return v
}

// ish reads -ish, for about.
func (s *scanner) ish(q *qualifier) bool {
	ahead := *s
	ahead.char('-')
	if !ahead.oneOf("ish") {
		return false
	}
	q.about = true
	return s.skipTo(ahead)
}

// figuresNoted reads words of a figure in parentheses: (adj. EBITDA).
func (s *scanner) figuresNoted(is *figure) {
	ahead := *s
	ahead.space()
	noted := *is
	inside := ahead.char('(')
	if !inside && !ahead.char(',') {
		return
	}
	if ahead.figures(&noted); inside && ahead.char(')') || !inside && ahead.end() {
		*s, *is = ahead, noted
	}
}

// upperMultiple reads the upper end of a range, if there is one. A slash is not between its ends. A range that falls or is
// wide is ambiguous: its ends may be two figures. pointed says that the lower end has a point.
func (s *scanner) upperMultiple(m *multiple, pointed bool) verdict {
	ahead := *s
	spaced := m.times && begins(ahead.rest, " -")
	if ahead.slashNext() || !ahead.until() {
		return yes
	}
	hi, ok := ahead.number(mixed)
	if !ok {
		return yes
	}
	times := ahead.times()
	if !times && !pointed {
		return yes
	}
	if ahead.slashNext() || !m.Lo.less(hi) || !leverageWidth.contain(hi.minus(m.Lo)) {
		return ambiguous
	}
	*s, m.Range, m.times, m.bases = ahead, Range{Lo: m.Lo, Hi: hi}, m.times || times, spaced && times
	return yes
}

// times skips the unit of a multiple.
func (s *scanner) times() bool {
	ahead := *s
	ahead.space()
	return ahead.oneOf("x", "times", "turns", "turn") && s.skipTo(ahead)
}

// figures reads the words of a figure, in any order.
func (s *scanner) figures(is *figure) {
	for more := true; more; {
		ahead := *s
		ahead.space()
		more = false
		for i := range figureWords {
			if ahead.oneOf(figureWords[i].words...) {
				add := figureWords[i].add
				is.senior, is.total, is.net, is.gross = is.senior || add.senior, is.total || add.total, is.net || add.net, is.gross || add.gross
				is.qualified, is.counted, is.earned = is.qualified || add.qualified, is.counted || add.counted, is.earned || add.earned
				*s, more = ahead, true
				break
			}
		}
	}
}
