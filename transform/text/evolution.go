package text

// The qualities of price talk, and what it is in.
var (
	qualityArea      = []byte("AREA")
	qualityWPIR      = []byte("WPIR")
	qualityPlusMinus = []byte("PLUS_MINUS")

	basisSpread = []byte("SPREAD")
	basisMargin = []byte("MARGIN")
	basisYield  = []byte("YIELD")
)

// parseEvolution reads a step of price talk: an optional stage, and a spread or a yield, with area, (WPIR) or (+/-2)
// after it. The stage is kept even if the rest cannot be read.
func parseEvolution(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	stage := s.stage()
	v := s.talk(siblings.Currency, r)
	s.talkRemarks(siblings, r)
	earlier := s.before(siblings.Currency)
	switch after := s.stageAfter(); {
	case earlier && !isStage(after, stageFinal): // MS+95 from MS+120 IPTs
	case stage == nil, string(after) == string(stageFinal) && (isStage(stage, stageGuidance) || isStage(stage, stageRevised)): // final guidance, the number
		stage = after
	}
	if v == yes && (begins(text, "- ") || isStage(stage, stageFinal) && (isBare(r) && r.Main.Hi.less(leastLanded) || s.end() && (r.Main.isRange() || r.Yield.isRange() && hasRates(text)))) {
		v = ambiguous // a dash, how far it has moved, a final price that is a range
	}
	if v == yes && s.end() && spreadBounds.containAll(&r.Main) && yieldBounds.containAll(&r.Yield) {
		r.Stage, r.Status = stage, statusOf(&r.Main)
		if r.Yield.Lo.Set {
			r.Status = statusYield
		}
		return
	}
	s = scanner{text}
	stage = s.stage()
	*r = Reading{Stage: stage, Status: unread(s.rest, v)}
}

// leastLanded is the least spread without its benchmark that is read after the words of the final stage. A smaller one may be a premium,
// or how far the price has moved: landed +5bp.
var leastLanded = whole(20)

// talkRemarks skips what talk may say besides the price: the benchmark's tenor, which has a column, the price over another
// benchmark, the issue price of a yield, the orders or the size.
func (s *scanner) talkRemarks(siblings Siblings, r *Reading) {
	s.priceRemarks(siblings.Currency, r)
	var list remarkList
	ahead, inside := list.next(*s)
	if r.Yield.Lo.Set && !s.end() {
		price := ahead
		if marked := price.oneOf("at", "oid") || price.char('@'); marked || inside || s.rest[0] == ',' {
			price.space()
			if _, v := price.span(asPrice, percent); v == yes && (price.noted("oid", "oip", "issue price") || marked) {
				list.take(s, price, inside)
				return
			}
		}
	}
	if remark := ahead; remark.oneOf(bookRemarkWords...) {
		list.take(s, remark, inside)
		return
	}
	orders := ahead
	var about Reading
	if (begins(ahead.rest, "book") || begins(ahead.rest, "order")) && orders.orders(siblings, &about) == yes {
		list.take(s, orders, inside)
		return
	}
	if comma := len(s.rest) > 0 && s.rest[0] == ','; comma || inside {
		if named, v := ahead.size(siblings.Currency, &about.Main); v == yes && named != nil {
			list.take(s, ahead, inside)
		}
	}
}

// bookRemarkWords are remarks about the orders that talk may have, which have no number.
var bookRemarkWords = []string{"books subject", "book subject", "books open", "books closed", "books covered", "books multiple times covered", "subject", "allocs out", "allocations out", "fta"}

// before skips the talk before this one, or the fair value: from T+155, vs FV MS+85. It reports whether it skipped talk that may have its stage
// after it.
func (s *scanner) before(currency []byte) bool {
	ahead := *s
	ahead.space()
	inside := ahead.char('(')
	if !ahead.oneOf("rev. from", "rev from", "revised from", "from", "was", "vs", "vs.", "previously", "versus") && !begins(ahead.rest, "fv ") {
		return false
	}
	ahead.space()
	fair := ahead.oneOf("fair value", "fv")
	if fair {
		ahead.char(':')
		ahead.space()
	}
	if isStage(ahead.stage(), stageFinal) { // IPT MS+120 vs final MS+95
		return false
	}
	var earlier Reading
	if ahead.talk(currency, &earlier) == no {
		if _, v := ahead.span(mixed, basisPoints); v == no {
			return false
		}
		ahead.noted("area")
	}
	if inside && !ahead.char(')') {
		return false
	}
	*s = ahead
	return !inside && !fair
}

func isStage(stage, other []byte) bool { return string(stage) == string(other) }

// stageAfter reads a stage at the end: MS+95 (guidance), T+80 the #.
func (s *scanner) stageAfter() []byte {
	ahead := *s
	ahead.char(',')
	ahead.space()
	inside := ahead.char('(')
	found := ahead.stageWord()
	if found == nil || inside && !ahead.char(')') {
		return nil
	}
	*s = ahead
	return found
}

// talk reads a spread or a yield, and the qualities after it.
func (s *scanner) talk(currency []byte, r *Reading) verdict {
	named := *s
	isSpread := named.oneOf("spread") // Spread MS+37,5bp; but not 5.25%
	if isSpread {
		named.char(':')
		named.space()
		*s = named
	}
	about := s.about()
	v := s.spread(currency, r)
	if v == no {
		v = s.bareSpread(r)
	}
	if v == no && !isSpread {
		v = s.yieldTalk(r)
	}
	if v != yes {
		return v
	}
	main, width := &r.Main, basisPoints
	if r.Yield.Lo.Set {
		main, width = &r.Yield, percent
	}
	var q remarks
	v = q.read(s, main, width)
	if q.area = q.area || about; v == yes {
		r.Quality = q.quality()
	}
	return v
}

// bareSpread reads a spread without a benchmark. It has a plus, +130, or its unit, 130bp. A minus is not read: -20bp may
// be how far the price has moved.
func (s *scanner) bareSpread(r *Reading) verdict {
	ahead, plus := *s, *s
	above := plus.char('+') || plus.oneOf("plus")
	found, v := ahead.span(decimal, basisPoints)
	if v == no || found.signed && !above || !found.unit && (!above || ahead.unit(percent) || ahead.fractionNext()) {
		return no
	}
	r.Main, r.Basis = found.Range, basisSpread
	*s = ahead
	return v
}

// fractionNext reports whether a fraction follows a number: the 7/8 of 4 7/8.
func (s *scanner) fractionNext() bool {
	ahead := *s
	_, found := ahead.fraction()
	return found
}

// yieldTalk reads a yield.
func (s *scanner) yieldTalk(r *Reading) (v verdict) {
	*r = Reading{}
	s.measure(r)
	s.oneOf(yieldNames...)
	s.char(':')
	s.space()
	if named := *s; currencyOf(named.letters()) != nil && named.char(' ') { // CNH 2.85%
		*s = named
	}
	if r.Yield, v = s.yield(); v == yes {
		r.Basis = basisYield
		s.measure(r)
		s.noted("yield", "yld")
	}
	return v
}

// remarks are the remarks after a price.
type remarks struct{ area, plusMinus, inRange bool }

// read reads the remarks in any order. r is the price, in its unit; (+/-2) widens it.
func (q *remarks) read(s *scanner, r *Range, in unit) verdict {
	for {
		switch {
		case s.noted("area", "a", "the area", "approx.", "approx", "environ", "área"):
			q.area = true
		case s.noted("wpir", "will price in range", "to price in range", "price in range", "will price within range", "to price within range", "pir"):
			q.inRange = true
		default:
			v := q.readPlusMinus(s, r, in)
			if v != yes {
				if v == no {
					v = yes
				}
				return v
			}
		}
	}
}

// quality returns the quality that the remarks mean. If there are several, WPIR (it will price in its range) takes
// precedence.
func (q *remarks) quality() []byte {
	switch {
	case q.inRange:
		return qualityWPIR
	case q.plusMinus:
		return qualityPlusMinus
	case q.area:
		return qualityArea
	}
	return nil
}

// mostWidth is the greatest plausible width around a yield, in basis points.
const mostWidth = 100

// readPlusMinus reads (+/-2) after a number, with or without parentheses, and widens the range by it. It returns no if it
// is not there. Around a spread a width is in basis points. Around a yield, bp and % are what they say; a width without a
// unit is in basis points from 1 to mostWidth, and ambiguous otherwise.
func (q *remarks) readPlusMinus(s *scanner, r *Range, in unit) verdict {
	ahead := *s
	ahead.char(',')
	ahead.space()
	inside := ahead.char('(')
	if !ahead.has("+/-") && !ahead.has("+-") || !r.Point.Set || r.Lo != r.Hi {
		return no
	}
	ahead.space()
	by, v := ahead.width(in)
	if v != yes {
		return v
	}
	inRange := inside && ahead.noted("wpir")
	if inside && !ahead.char(')') {
		return no
	}
	*s, q.plusMinus, q.inRange = ahead, true, q.inRange || inRange
	r.Lo, r.Hi = r.Point.minus(by), r.Point.plus(by)
	return yes
}

// width reads the number after +/-, and returns it in the unit of the price.
func (s *scanner) width(in unit) (by Number, v verdict) {
	d, ok := s.digits()
	if !ok {
		return by, no
	}
	inBP, inPercent := s.unit(basisPoints), s.unit(percent)
	by, ok = d.times(0)
	switch {
	case in == basisPoints && inPercent:
		return by, ambiguous
	case in == percent && !inPercent:
		if !inBP && (by.less(whole(1)) || whole(mostWidth).less(by)) {
			return by, ambiguous
		}
		by, ok = d.times(-2)
	}
	if !ok {
		return by, no
	}
	return by, yes
}
