package text

// figure is which debt a multiple counts.
type figure struct{ senior, total, net, gross bool }

// figureWords are the words of a figure. Gross says nothing more than total or senior.
var figureWords = []struct {
	words []string
	add   figure
}{
	{[]string{"senior secured", "sr. sec.", "sr. sec", "sr sec", "snr sec", "sr. secured", "sr secured", "snr secured", "senior", "snr", "sr.", "sr", "first lien", "1st lien", "first-lien", "1l", "secured", "ssd"}, figure{senior: true}},
	{[]string{"total", "tot", "overall"}, figure{total: true}},
	{[]string{"net debt/ebitda", "net debt / ebitda", "net debt", "nd/ebitda", "net"}, figure{net: true}},
	{[]string{"gross"}, figure{gross: true}},
	{[]string{"through", "thru", "via", "leverage", "lev", "levered", "debt/ebitda", "adj. ebitda", "adjusted ebitda", "pf ebitda", "ltm ebitda", "ltm", "pro forma", "pf", "adjusted", "adj.", "opening", "closing", "marketed", "of ebitda", "ebitda", "debt"}, figure{}},
}

// parseLeverage reads multiples of debt: 5.2x total, 4.5x/6.0x senior and total, 3.75x net, 5.25x senior / 6.0x total.
func parseLeverage(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	v := s.multiples(r)
	if v == yes && s.end() {
		plausible := true
		for _, n := range []*Number{&r.Senior, &r.Total, &r.Net, &r.NetSenior} {
			plausible = plausible && (!n.Set || leverageBounds.contain(*n))
		}
		if plausible {
			r.Status = statusOK
			return
		}
	}
	*r = Reading{Status: unread(text, v)}
}

// multiple is one figure of a text, and what words say which one it is.
type multiple struct {
	n     Number
	times bool // it has an x
	is    figure
}

// multiples reads one or two figures. Two without words are senior and total, and senior debt is a part of all debt.
func (s *scanner) multiples(r *Reading) verdict {
	first, ok := s.multiple(r)
	if !ok {
		return no
	}
	ahead := *s
	ahead.space()
	inside := ahead.char('(')
	separated := inside || ahead.char('/') || ahead.char(',') || ahead.char(';') || ahead.oneOf("and", "&")
	ahead.space()
	second, isPair := multiple{}, false
	if separated {
		second, isPair = ahead.multiple(r)
	}
	if !isPair {
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
	case first.is == bare && second.is == bare && inside:
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
	if r.Senior.Set && r.Total.Set && r.Total.less(r.Senior) || r.NetSenior.Set && r.Net.Set && r.Net.less(r.NetSenior) {
		return ambiguous
	}
	return yes
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
	if place.Set {
		return ambiguous
	}
	*place = m.n
	return yes
}

// multiple reads a figure with words before or after it: c.5x, 3.75x net, senior 4.5x.
func (s *scanner) multiple(r *Reading) (m multiple, ok bool) {
	s.figures(&m.is)
	s.char(':')
	s.space()
	if s.about() {
		r.Quality = qualityApproximate
	}
	if m.n, ok = s.number(decimal); !ok {
		return m, false
	}
	ahead := *s
	ahead.space()
	if ahead.oneOf("x", "times") {
		*s, m.times = ahead, true
	}
	if s.noted("senior/total", "snr/total", "sr/total", "secured/total", "first lien/total", "1l/total", "senior / total") {
		return m, true // names both figures of a pair
	}
	s.figures(&m.is)
	return m, true
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
				*s, more = ahead, true
				break
			}
		}
	}
}
