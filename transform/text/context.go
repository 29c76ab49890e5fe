package text

import "bytes"

// grammar is how the texts of a parser are read that its function alone leaves unread.
type grammar struct {
	read   Func
	others topics // of remarks that are left out
	steps  bool   // the text may have several steps of which the latest counts
	staged bool   // the reading has a stage
	priced bool   // the column has the value at pricing: no earlier stage may be the latest
	sized  bool   // a tenor may be before the size
	kind   stepKind
}

// stepKind is what a step is that has a number alone. Only those of spreads and margins are read.
type stepKind uint8

const (
	noNumberAlone stepKind = iota
	spreadAlone            // over the benchmark of the step before
	marginAlone
	premiumSteps // without a benchmark, in basis points
	priceSteps   // of an issue
	orderSteps   // of a book: a size that is launched or upsized is the deal's
	debtSteps    // of a borrower's leverage
)

// isLoan reports whether the texts are of a loan, which is launched at its first price. A bond is launched at its last one.
func (g *grammar) isLoan() bool {
	return g.kind == marginAlone || g.kind == priceSteps || g.kind == debtSteps
}

// inContext returns a function that reads a text as a grammar does: first complete, then without remarks about other topics,
// then as steps. A text that none of them reads keeps the first result.
func inContext(g grammar) Func {
	return func(text []byte, siblings Siblings, r *Reading) { g.readText(text, siblings, r) }
}

func (g grammar) readText(text []byte, siblings Siblings, r *Reading) {
	if g.read(text, siblings, r); !isStatus(r, statusUnparsed) || !g.mayHaveContext(text) {
		return
	}
	unread := *r
	if g.kind == orderSteps && saysAny(text, sizeWords) { // EUR500m WNG: the deal's size
		return
	}
	if g.hasOtherSteps(text) {
		return
	}
	if g.others&aboutTenor == 0 && (hasTranches(text) || hasYears(text)) || g.others&aboutTenor != 0 && hasStructures(text) { // 5yr bullet, 7yr amort; 6NC5 / 11NC10
		return
	}
	if bare := withoutLabels(text, g.others); len(bare) < len(text) {
		*r = Reading{}
		if g.readText(bare, siblings, r); !r.hasNumber() && !isStatus(r, statusAmbiguous) {
			*r = unread
		}
		return
	}
	if g.steps = g.steps && !hasTranches(text) && (!g.isOther() || !saysAny(text, spreadWords)); g.steps {
		switch g.chain(text, siblings, r, false) {
		case yes:
			return
		case ambiguous:
			*r = unread
			return
		}
	}
	if v := g.readCore(text, siblings, r); v == yes {
		return
	} else if v == no && g.steps {
		rest := core(text, g.others, siblings.Currency)
		if g.latest(text, siblings, r) || len(rest) < len(text) && (g.chain(rest, siblings, r, false) == yes || g.latest(rest, siblings, r)) {
			return
		}
	}
	*r = unread
}

// spreadWords are words of the final stage that name a spread.
var spreadWords = []string{"spread set", "spread fixed", "final spread", "launch spread", "re-offer spread", "reoffer spread"}

// isOther reports whether the steps are numbers of something else that are written as those of a spread are: spread fixed 5bp is no premium.
func (g *grammar) isOther() bool {
	return g.kind == premiumSteps || g.kind == priceSteps || g.kind == noNumberAlone && g.priced
}

// mayHaveContext reports whether a text has more than one word, and a number, which par and flat have not.
func (g *grammar) mayHaveContext(text []byte) bool {
	inWords := g.others&aboutPrice == 0 || g.others&aboutMove == 0
	return bytes.ContainsAny(text, " ,;/>") && (inWords || bytes.ContainsAny(text, "0123456789"))
}

func isStatus(r *Reading, status []byte) bool { return string(r.Status) == string(status) }

// hasNumber reports whether a text was read.
func (r *Reading) hasNumber() bool {
	return isStatus(r, statusOK) || isStatus(r, statusRange) || isStatus(r, statusYield)
}

// readCore reads a text without its remarks, of which it leaves out as few as it can: of MS+1.5%/1.75%, 5yr the second number is no yield. The
// verdict is no if there are none, or no rest is read, and ambiguous if a rest must not be read.
func (g *grammar) readCore(text []byte, siblings Siblings, r *Reading) verdict {
	body := withoutLead(text, g.others, siblings.Currency)
	doubtful := []byte(nil) // the shortest rest that must not be read
	v := g.readRest(text, body, siblings, r)
	if v == ambiguous {
		doubtful = body
	}
	for i := len(body) - 1; i > 0 && v != yes; i-- {
		rest := bytes.TrimRight(body[:i], " ")
		if !remarksFrom(body, i, g.others, siblings.Currency) || doubtful != nil && !hasWord(doubtful[len(rest):]) {
			continue
		}
		if v = g.readRest(text, rest, siblings, r); v == ambiguous {
			doubtful = rest
		}
	}
	if v == no && doubtful != nil {
		return ambiguous
	}
	return v
}

// hasWord reports whether a text has a word that is no unit: what it says is about something else, which is not so of MS+7 in MS+7/8%.
func hasWord(text []byte) bool {
	for i := 0; i < len(text); {
		s := scanner{text[i:]}
		switch word := s.letters(); {
		case len(word) == 0:
			i++
		case !(&scanner{word}).oneOf("bp", "bps", "pct", "a", "x"): // the a may be that of 144A
			return true
		default:
			i += len(word)
		}
	}
	return false
}

// readRest reads the rest of a text that is left without its remarks. The verdict is no if the rest is not read, and ambiguous if it must not be.
func (g *grammar) readRest(text, rest []byte, siblings Siblings, r *Reading) verdict {
	if len(rest) == len(text) {
		return no
	}
	if *r = (Reading{}); g.sized && hasOtherTenor(text, rest) {
		return ambiguous
	}
	g.read(rest, siblings, r)
	switch {
	case g.staged && r.Stage != nil && endsWithStage(rest): // guidance 7%, priced at par
		return no
	case isStatus(r, statusAmbiguous), r.hasNumber() && !g.mayRead(text, rest, r):
		return ambiguous
	case r.hasNumber():
		return yes
	}
	return no
}

// mayRead reports whether what was read in the rest of a text may be the text's reading.
func (g *grammar) mayRead(text, rest []byte, r *Reading) bool {
	if isStatus(r, statusYield) && bytes.Count(rest, []byte("%")) < bytes.Count(text, []byte("%")) { // 7.25% / 8%: two yields
		return false
	}
	if (r.Main.isRange() || r.Yield.isRange()) && saysAny(text, trancheWords) { // MS+95/105, dual tranche
		return false
	}
	if g.kind == spreadAlone && r.Main.Lo.Set && r.Benchmark == nil && r.Main.Hi.less(leastNextToYield) && !bytes.HasPrefix(text, rest) && bytes.Count(rest, []byte("%")) < bytes.Count(text, []byte("%")) { // 7.625% (+12.5bp): how far the yield has moved?
		return false
	}
	if g.kind == spreadAlone && r.Main.Hi.Set && r.Main.Hi.less(leastAfterYield) && string(r.Benchmark) == "UST" && !bytes.HasPrefix(text, rest) { // in 7.25%, T+3 the second is the settlement
		return false
	}
	if isBare(r) && bytes.Count(rest, []byte("+")) < bytes.Count(text, []byte("+")) { // landed +5bp (T+95)
		return false
	}
	if g.kind == marginAlone && r.Main.isRange() && bytes.HasPrefix(text, rest) { // E+40/60 util fee
		said, _, _ := bytes.Cut(text[len(rest):], []byte(","))
		if tail := (scanner{said}); tail.isSaid(aboutFees|aboutIndex|aboutSteps) && !bytes.ContainsAny(said, "0123456789") {
			return false
		}
	}
	if (g.kind == spreadAlone || g.kind == marginAlone) && saysLessAllIn(text, r.Main.Lo) {
		return false
	}
	if g.kind == marginAlone && r.CSA == No {
		r.CSA = saysAdjustment(text)
	}
	if r.Fee.Set && saysAny(text, annualWords) { // par + 25bp fee p.a.: not up front
		return false
	}
	return true
}

// leastAfterYield is the least spread over Treasuries that is read after something else. A smaller one may be a settlement.
var leastAfterYield = whole(6)

// leastNextToYield is the least spread without its benchmark that is read after a yield. A smaller one may be how far the yield has moved.
var leastNextToYield = whole(50)

// hasOtherTenor reports whether a text has another tenor than the one with which its rest begins: 5yr EUR500m 18m.
func hasOtherTenor(text, rest []byte) bool {
	begin := scanner{rest}
	first, ok := begin.years()
	for i := 0; ok && i < len(text); i++ {
		if !isDigit(text[i]) || i > 0 && (isDigit(text[i-1]) || isLetter(text[i-1]) || text[i-1] == '.') {
			continue
		}
		s := scanner{text[i:]}
		if tenor, found := s.tenor(); found && tenor != first {
			return true
		}
	}
	return false
}

// annualWords say that a fee is paid each year.
var annualWords = []string{"p.a.", "p.a", "pa", "per annum", "a.a.", "a.a", "annually", "annual", "ann.", "ann", "quarterly", "monthly"}

// saysLessAllIn reports whether a text has an all-in spread in basis points that is less than the spread itself: S+350, all-in 325. What it
// adds is never negative, so that one of the two is something else.
func saysLessAllIn(text []byte, spread Number) bool {
	for i := range text {
		s := scanner{text[i:]}
		if !spread.Set || i > 0 && isLetter(text[i-1]) || !s.oneOf("all-in", "all in") {
			continue
		}
		s.space()
		s.oneOf("spread", "margin", "of", "at", "cost")
		s.char(':')
		s.space()
		n, ok := s.number(decimal)
		if ok && !s.unit(percent) && whole(int64(mostRate)).less(n) && n.less(spread) {
			return true
		}
	}
	return false
}

// mostRate is the greatest all-in rate without a unit that may be in percent.
const mostRate = 20

// endsWithStage reports whether the last word of a text is that of the final stage, so that what followed was the price at it.
func endsWithStage(text []byte) bool {
	s := scanner{text[bytes.LastIndexByte(text, ' ')+1:]}
	return isStage(s.stageWord(), stageFinal) && s.end()
}
