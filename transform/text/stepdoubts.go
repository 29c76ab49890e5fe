package text

import "bytes"

// launchWords are said of the launch.
var launchWords = []string{"launched", "launch", "launching", "launches"}

// isStepOf reports whether a part of a text may be the step with that number, from 0. final says that no other one follows.
func (g *grammar) isStepOf(part []byte, n int, final bool) bool {
	switch {
	case g.kind == marginAlone: // E+400, ratchet -> E+375
		return n > 0 || final || !endsWithTerm(part)
	case g.kind == debtSteps: // 5.5x at closing, down to 4x; 4.5x, set at 7x
		return n == 0 && (final || !saysAny(part, []string{"opening", "closing", "close"})) || n > 0 && g.rankOf(part) != rankFinal
	case g.sized: // EUR400m at launch, revised to EUR500m
		return final || !saysAny(part, launchWords)
	}
	return true
}

// hasOtherSteps reports whether a text has two numbers of which one is no step of the price: the range that a price is an end of, another
// facility, the end of a ratchet, or what several stages in parentheses were.
func (g *grammar) hasOtherSteps(text []byte) bool {
	for i := 1; i < len(text); i++ {
		if text[i-1] != ' ' && text[i-1] != '(' {
			continue
		}
		s := scanner{text[i:]}
		before := text[:i]
		switch {
		case !bytes.ContainsAny(before, allDigits):
		case rankIn(before) != rankFinal && s.oneOf("end of"): // 7.25%, wide end of talk 7-7.25%
			s.space()
			s.oneOf("the")
			s.space()
			if s.stageWord() != nil && bytes.ContainsAny(s.rest, allDigits) {
				return true
			}
		case (g.kind == marginAlone || g.kind == priceSteps || g.sized) && s.oneOf("rev.", "rev"): // TLB S+350, Rev S+300
			if s.space(); s.end() || s.rest[0] == ',' || !bytes.ContainsAny(s.rest, allDigits) || s.oneOf("from", "to", "at", "guidance", "talk", "price", "range") {
				continue
			}
			if saysAny(text, facilityWords) || g.kind != priceSteps && rankIn(before) == 0 && rankIn(s.rest) == 0 {
				return true
			}
		case g.kind == marginAlone && (s.oneOf("ratchet", "grid") || text[i-1] == '(' && s.oneOf("step-down", "step down", "stepdown") && s.char(')')):
			if endsWithLaterStep(before) { // E+400 down to E+350 margin ratchet
				return true
			}
		case text[i-1] == '(' && rankIn(before) == 0: // 7.5% (7.75% talk, 8% IPT)
			inside, _, _ := bytes.Cut(s.rest, []byte(")"))
			if first, rest, listed := bytes.Cut(inside, []byte(",")); listed && rankIn(first) > 0 && rankIn(rest) > 0 && bytes.ContainsAny(first, allDigits) && bytes.ContainsAny(rest, allDigits) {
				return true
			}
		}
	}
	return false
}

const allDigits = "0123456789"

// endsWithLaterStep reports whether a text ends with the number of a step to which a ratchet may lead. After a comma the ratchet is a term of
// its own, and to what a loan was flexed or priced, no ratchet leads.
func endsWithLaterStep(text []byte) bool {
	for cut := true; cut; {
		text = bytes.TrimRight(text, " (")
		cut = false
		for _, word := range []string{" margin", " esg", " leverage", " pricing", " subject to", " a"} {
			if rest, ok := bytes.CutSuffix(text, []byte(word)); ok {
				text, cut = rest, true
			}
		}
	}
	if bytes.HasSuffix(text, []byte(",")) || bytes.HasSuffix(text, []byte(";")) {
		return false
	}
	at, next := joint(text, false)
	if at < 0 || rankIn(text[next:]) > 0 {
		return false
	}
	words := scanner{trimmed(text[at:next])}
	if arrowIn(text) == 0 && !words.oneOf("down to", "to", "reduced to", "cut to", "moves to") {
		return false
	}
	numbers := 0
	for i, c := range text[next:] {
		if isDigit(c) && (i == 0 || !isDigit(text[next+i-1])) {
			numbers++
		}
	}
	return numbers == 1
}

// isFinalPrice reports whether a step is a whole number that an issue price may have, after words of which desks say both prices and spreads.
func isFinalPrice(part []byte) bool {
	s := scanner{trimmed(part)}
	if !s.oneOf("final price", "final pricing", "final terms") {
		return false
	}
	if s.space(); s.char('@') || s.char(':') {
		s.space()
	}
	n, ok := s.number(decimal)
	return ok && issueBounds.contain(n) && s.end()
}

// isOtherSize reports whether a size after another one without a stage may be of something else: the deal's size after its orders, as in
// EUR5bn, final EUR500m, or one of two at the launch, as in EUR500m, launch size EUR400m. words join the two steps.
func (g *grammar) isOtherSize(previous, words, part []byte, r, before *Reading) bool {
	size, from := r.Main.Hi, before.Main.Lo
	if !size.Set || !from.Set {
		return false
	}
	isStaged := len(trimmed(words)) == 0
	switch {
	case g.kind == orderSteps:
		return (isStaged || saysAny(words, []string{"raised", "increased", "upsized", "grew"})) && !saysAny(part, orderWords) && !from.less(size.times(4))
	case g.sized:
		plain := scanner{trimmed(previous)}
		return isStaged && saysAny(part, launchWords) && size.less(from) && plain.anySize(before.Currency) && plain.end()
	}
	return false
}

// joins reports whether words may be between two steps: upsized and downsized are said of a size alone.
func (g *grammar) joins(words []byte) bool {
	return g.sized || g.kind == orderSteps || !saysAny(words, []string{"upsized", "downsized"})
}

// isWider reports whether a price with a stage is further from the result than one without: higher, or of an issue lower.
func (g *grammar) isWider(staged, price *Reading) bool {
	talked, result := &staged.Main, &price.Main
	if staged.Yield.Lo.Set && price.Yield.Lo.Set {
		talked, result = &staged.Yield, &price.Yield
	}
	switch {
	case !talked.Hi.Set || !talked.Lo.Set || !result.Hi.Set || !result.Lo.Set || g.sized || g.kind == debtSteps:
		return false
	case g.kind == priceSteps:
		return talked.Lo.less(result.Lo)
	}
	return result.Hi.less(talked.Hi)
}
