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
	for i := max(1, bytes.IndexAny(text, allDigits)+1); i < len(text); i++ { // another number is before each of them
		if text[i-1] != ' ' && text[i-1] != '(' {
			continue
		}
		before, after := text[:i], scanner{text[i:]}
		if isEndOfTalk(after) && rankIn(before) != rankFinal ||
			(g.kind == marginAlone || g.kind == priceSteps || g.sized) && g.isFacility(before, after) ||
			g.kind == marginAlone && isRatchet(after, text[i-1] == '(') && endsWithLaterStep(before) ||
			text[i-1] == '(' && listsStages(after) && rankIn(before) == 0 {
			return true
		}
	}
	return false
}

// isEndOfTalk reports whether a text is the rest of 7.25%, wide end of talk 7-7.25%.
func isEndOfTalk(s scanner) bool {
	if !s.oneOf("end of") {
		return false
	}
	s.space()
	s.oneOf("the")
	s.space()
	return s.stageWord() != nil && bytes.ContainsAny(s.rest, allDigits)
}

// isFacility reports whether rev begins another facility, as in TLB S+350, Rev S+300. If another stage is named, and no facility, it is
// revised; of an issue price it is, too.
func (g *grammar) isFacility(before []byte, s scanner) bool {
	whole := s.rest
	if !s.oneOf("rev.", "rev") {
		return false
	}
	s.space()
	switch {
	case s.end(), s.rest[0] == ',', !bytes.ContainsAny(s.rest, allDigits), s.oneOf("from", "to", "at", "guidance", "talk", "price", "range"):
		return false
	case saysAny(before, facilityWords), saysAny(whole, facilityWords):
		return true
	}
	return g.kind != priceSteps && rankIn(before) == 0 && rankIn(s.rest) == 0
}

// isRatchet reports whether a text is a ratchet or a grid, or in parentheses a step-down alone.
func isRatchet(s scanner, inside bool) bool {
	return s.oneOf("ratchet", "grid") || inside && s.oneOf("step-down", "step down", "stepdown") && s.char(')')
}

// listsStages reports whether the rest of parentheses are numbers with their stages: 7.5% (7.75% talk, 8% IPT).
func listsStages(s scanner) bool {
	inside, _, _ := bytes.Cut(s.rest, []byte(")"))
	first, rest, listed := bytes.Cut(inside, []byte(","))
	return listed && isStaged(first) && isStaged(rest)
}

// isStaged reports whether a text has a stage and a number.
func isStaged(text []byte) bool { return rankIn(text) > 0 && bytes.ContainsAny(text, allDigits) }

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

// isFinalPrice reports whether a step is a number that an issue price may have, after words of which desks say both prices and spreads.
func isFinalPrice(part []byte) bool {
	s := scanner{trimmed(part)}
	return s.priceAfter("final price", "final pricing", "final terms") && s.end()
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
