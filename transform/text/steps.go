package text

import (
	"bytes"
	"slices"
)

// latest reads a text with several steps of one price, and keeps the latest: T+160a > T+130a > T+125, MS+95 from MS+110, or steps
// with stages of which one is the last. Each step must be readable, and must be about the same benchmark, tenor and currency. chain
// has tried the text before.
func (g *grammar) latest(text []byte, siblings Siblings, r *Reading) bool {
	if g.kind == orderSteps && saysAny(text, dealWords) { // launched EUR500m
		return false
	}
	if g.onlyStaged(text, siblings, r) {
		return true
	}
	s := scanner{text}
	if s.moved() {
		*r = Reading{}
		if g.read(s.rest, siblings, r); g.staged {
			r.Stage = stageRevised
		}
		return r.hasNumber()
	}
	if s.from() {
		return g.chain(s.rest, siblings, r, true) == yes
	}
	if stage := s.stage(); isStage(stage, stageRevised) && s.from() { // guidance revised from MS+75 to MS+70
		if g.isTooEarly(stage, true) || g.chain(s.rest, siblings, r, true) != yes {
			return false
		}
		if g.staged {
			r.Stage = stage
		}
		return true
	}
	return g.listed(text, siblings, r) || g.reversed(text, siblings, r)
}

// moved skips a move before its result: tightened 25bps to S+300.
func (s *scanner) moved() bool {
	ahead := *s
	if !ahead.oneOf("tightened", "tightens", "flexed", "widened", "moved", "cut", "reduced") {
		return false
	}
	ahead.space()
	before := len(ahead.rest)
	ahead.movedBy()
	return len(ahead.rest) < before && s.skipTo(ahead)
}

// onlyStaged reads a text of one step with a stage that the parser does not know.
func (g *grammar) onlyStaged(text []byte, siblings Siblings, r *Reading) bool {
	rest, stage := withoutStage(text)
	if isFirst(stage) && rankIn(rest) > 0 { // IPT E+500 talk 490, size 500m
		return false
	}
	return stage != nil && !g.hasRead(text, rest) && !g.isTooEarly(stage, true) && g.readStaged(rest, stage, siblings, r, true)
}

// hasRead reports whether the parser has tried the rest of a text: it knows stages, and leaves them out itself.
func (g *grammar) hasRead(text, rest []byte) bool {
	s := scanner{text}
	return g.staged && s.stage() != nil && len(s.rest) == len(rest)
}

// chain reads steps in their order, after arrows or words of a move. named says that the text began with from: then to is such a
// word. The verdict is ambiguous if all steps are readable, but are not about the same price.
func (g *grammar) chain(text []byte, siblings Siblings, r *Reading, named bool) verdict {
	if g.kind == orderSteps && saysAny(text, dealWords) {
		return no
	}
	whole := text
	var before Reading
	var previous, words []byte // the step before, and what joins it with this one
	ranked := 0
	for n := 0; ; n++ {
		at, next := joint(text, named)
		final := at < 0
		part := text
		if !final {
			part = text[:at]
		}
		rank := g.rankOf(part)
		if rank != 0 && rank < ranked || rank == ranked && rank != 0 && arrowIn(whole) == 0 { // IPT MS+90, IPT MS+120: two tranches?
			return no
		}
		if ranked == rankFinal && rank == 0 { // priced MS+95, now MS+92: in the secondary market
			return no
		}
		bare := n > 0 && ranked == 0                                         // no step before has a stage
		if bare && rank > 0 && arrowIn(whole) == 0 && g.isFirstStage(part) { // MS+95, IPTs MS+110
			return no
		}
		if bare && g.kind == spreadAlone && isFinalPrice(part) { // T+110, final price 99
			return no
		}
		if !g.isStepOf(part, n, final) || !final && !g.joins(text[at:next]) {
			return no
		}
		ranked = max(rank, ranked)
		if final && n == 0 || !g.step(part, siblings, r, &before, final) {
			return no
		}
		if n > 0 {
			if !r.continues(&before) {
				return ambiguous
			}
			if !g.follows(r, &before) || bare && g.isOtherSize(previous, words, part, r, &before) {
				return no
			}
			if bare && 0 < rank && rank < rankFinal && rank != rankRevised && arrowIn(whole) == 0 && g.isWider(r, &before) { // MS+98, guidance MS+100: what it was talked at?
				return ambiguous
			}
			r.inherit(&before)
			r.nameCurrency(&before)
		}
		if final {
			if r.hasNumber() {
				return yes
			}
			return no
		}
		before, previous, words, text = *r, part, text[at:next], bytes.TrimLeft(text[next:], " ")
	}
}

// reversed reads a step and the one before it: MS+95 (from MS+110), 2.95%, was 3.4%.
func (g *grammar) reversed(text []byte, siblings Siblings, r *Reading) bool {
	for i := 1; i < len(text); i++ {
		if text[i-1] != ' ' && text[i-1] != '(' {
			continue
		}
		s := scanner{text[i:]}
		inside := text[i-1] == '('
		listed := i > 1 && (text[i-2] == ',' || text[i-2] == ';') && rankIn(text[:i]) == 0
		if !g.earlier(&s, inside, listed, g.rankOf(text[:i])) {
			continue
		}
		earlier := s.rest
		if inside {
			n := len(earlier)
			if n == 0 || earlier[n-1] != ')' {
				continue
			}
			earlier = earlier[:n-1]
		}
		if g.kind == orderSteps && saysAny(earlier, orderWords) && !saysAny(text[:i], orderWords) { // EUR500m from EUR1.6bn of orders: the deal's size
			return false
		}
		if !g.step(text[:i-1], siblings, r, nil, true) {
			continue
		}
		later := *r
		if !g.step(earlier, siblings, r, &later, false) || !r.continues(&later) || !g.follows(&later, r) || isBare(&later) && bytes.IndexByte(text[:i], '+') < 0 {
			return false
		}
		if rankIn(text[i:]) > 0 && g.isTalkAgain(r, &later) {
			return false
		}
		later.nameCurrency(r)
		*r = later
		return true
	}
	return false
}

// isTalkAgain reports whether a price next to one with a stage may be talk itself, because it is wider, or is about: T+95 (guidance 90),
// 9.75% area (FG 9.5%).
func (g *grammar) isTalkAgain(staged, price *Reading) bool {
	if g.kind == spreadAlone || g.kind == premiumSteps {
		return staged.Main.Hi.less(price.Main.Hi)
	}
	return string(price.Quality) == string(qualityArea) && !g.staged
}

// earlier skips the words before an earlier step: from, was, and in parentheses or after vs a stage that is not the final one. listed says
// that a comma is before it, and a price without a stage before that: only the first stages are earlier then. rank is that of the price before
// it, 0 for none: T+60 (revised T+55) and IPT 98 (talk 98.5) are steps in their order.
func (g *grammar) earlier(s *scanner, inside, listed bool, rank int) bool {
	ahead := *s
	if ahead.oneOf(reversedWords...) {
		return ahead.char(' ') && s.skipTo(ahead)
	}
	if ahead.oneOf("vs.", "vs", "versus") {
		inside = true
		ahead.space()
	}
	named := g.rankOf(ahead.rest)
	final := named == rankFinal
	stage := ahead.stage()
	if rank > 0 && named >= rank || rank == 0 && isStage(stage, stageRevised) {
		return false
	}
	return stage != nil && (inside && !final || listed && isFirst(stage)) && s.skipTo(ahead)
}

// isFirst reports whether a stage is before all others: a price without a stage is later.
func isFirst(stage []byte) bool { return isStage(stage, stageIPT) || isStage(stage, stageWhisper) }

// isFirstStage reports whether a step begins with such a stage.
func (g *grammar) isFirstStage(text []byte) bool {
	text = trimmed(text)
	s := scanner{text}
	return s.stage() != nil && g.rankOf(text) <= rankIPT
}

// listed reads steps of which each has a stage, in any order, and keeps the one whose stage is the last: 15-20 at IPT, 2 at landing.
func (g *grammar) listed(text []byte, siblings Siblings, r *Reading) bool {
	if n := len(text); n > 0 && text[n-1] == ')' && bytes.LastIndexByte(text, '(') > 0 && g.rankOf(text[bytes.LastIndexByte(text, '('):]) > 0 {
		text = text[:n-1]
	}
	if at, next := joint(text, false); at > 0 { // chain has tried two steps in their order
		if more, _ := joint(text[next:], false); more < 0 && 0 < g.rankOf(text[:at]) && g.rankOf(text[:at]) < g.rankOf(text[next:]) {
			return false
		}
	}
	var best Reading
	bestRank, parts, previous, doubtful := 0, 0, 0, false
	for begin, i := 0, 0; i <= len(text); i++ {
		final := i == len(text)
		if !final && (!isSeparator(text, i) || text[i] == '.' && i > 0 && isLetter(text[i-1]) || g.rankOf(text[begin:i]) == 0 || g.rankOf(text[i:]) == 0) {
			continue
		}
		part := text[begin:i]
		rank := g.rankOf(part)
		// Desks do not agree which of the two is the later one: guidance 8%, talk 7.75%; FPG T+393, revised guidance T+375.
		doubtful = doubtful || previous == rankGuidance && rank == rankTalk || previous == rankLastGuidance && rank == rankRevised
		if parts > 0 && g.isLoan() && saysAny(part, launchWords) || !g.isStepOf(part, parts, final) {
			return false
		}
		if rank == 0 || rank == bestRank || !g.step(part, siblings, r, &best, rank >= rankFinal) || parts > 0 && !r.continues(&best) {
			return false
		}
		if first, second := r, &best; parts > 0 && (rank > bestRank && !g.follows(first, second) || rank < bestRank && !g.follows(second, first)) {
			return false
		}
		r.nameCurrency(&best)
		best.nameCurrency(r)
		if rank > bestRank {
			best, bestRank = *r, rank
		}
		begin, previous = i+1, rank
		parts++
	}
	*r = best
	return parts > 1 && r.hasNumber() && (!doubtful || bestRank >= rankFinal) && (!g.priced || bestRank == rankFinal)
}

// step reads one step into r. A stage that the parser does not know is left out. After another step a number alone has the benchmark of
// that one, and words may choose one of its ends: landed tight end. Words instead of a number are enough, except in the latest step.
func (g *grammar) step(text []byte, siblings Siblings, r, before *Reading, latest bool) bool {
	text = trimmed(text)
	*r = Reading{}
	if before != nil && before.Implied == No { // EUR500m, now 600m
		siblings.Currency = before.Currency
	}
	if g.read(text, siblings, r); r.isEnough(latest) || g.readCore(text, siblings, r) == yes {
		return true
	}
	rest, stage := withoutStage(text)
	if g.isTooEarly(stage, latest) {
		return false
	}
	if g.kind != priceSteps && before != nil && before.Main.Lo.Set && isPricedAt(text) { // MS+95 / reoffer 93, T+95, priced at 92: an issue price?
		return false
	}
	if len(rest) < len(text) && !g.hasRead(text, rest) && g.readStaged(rest, stage, siblings, r, latest) {
		return true
	}
	switch {
	case before == nil:
		return false
	case !before.hasNumber():
		return !latest && stage != nil && g.isNumberAlone(rest, r)
	}
	earlier := *before
	*r = Reading{}
	if !g.numberAlone(rest, r, &earlier) && !g.chosenEnd(rest, r, &earlier) {
		return false
	}
	if g.staged {
		r.Stage = stage
	}
	return !isStage(r.Stage, stageFinal) || !r.Main.isRange() // no final price is a range
}

// isPricedAt reports whether a step is a number that an issue price may have, after words of which desks say both prices and spreads.
func isPricedAt(text []byte) bool {
	s := scanner{text}
	return s.priceAfter("reoffer", "re-offer", "priced at", "priced", "pricing at", "prices at", "done at") && (s.end() || s.noted("area", "a") && s.end())
}

// priceAfter reads one of the words, and a number after it that an issue price may have.
func (s *scanner) priceAfter(words ...string) bool {
	if !s.oneOf(words...) {
		return false
	}
	if s.space(); s.char('@') || s.char(':') {
		s.space()
	}
	n, ok := s.number(decimal)
	return ok && issueBounds.contain(n)
}

// isEnough reports whether a step was read.
func (r *Reading) isEnough(latest bool) bool {
	return r.hasNumber() || !latest && isStatus(r, statusVerbal)
}

// isTooEarly reports whether the latest step has a stage before the pricing, and the column has the value at pricing.
func (g *grammar) isTooEarly(stage []byte, latest bool) bool {
	return stage != nil && latest && g.priced && !isStage(stage, stageFinal)
}

// readStaged reads the rest of a step whose stage was left out.
func (g *grammar) readStaged(rest, stage []byte, siblings Siblings, r *Reading, latest bool) bool {
	*r = Reading{}
	if g.read(rest, siblings, r); !r.isEnough(latest) && g.readCore(rest, siblings, r) != yes {
		return false
	}
	if g.staged {
		r.Stage = stage
	}
	return true
}

// numbersAlone reports whether a step may be a number without its benchmark.
func (g *grammar) numbersAlone() bool { return g.kind == spreadAlone || g.kind == marginAlone }

// isNumberAlone reports whether the first step is a number without a benchmark, which is enough: IPT 150 area, final T+125.
func (g *grammar) isNumberAlone(text []byte, r *Reading) bool {
	s := scanner{text}
	_, v := s.span(decimal, basisPoints)
	if s.noted("area", "a"); !g.numbersAlone() || v != yes || !s.end() {
		return false
	}
	*r = Reading{Status: statusVerbal}
	return true
}

// continues reports whether a reading may be another step of the same price: what both name is the same.
func (r *Reading) continues(before *Reading) bool {
	same := func(a, b []byte) bool { return a == nil || b == nil || bytes.Equal(a, b) }
	if isStatus(before, statusVerbal) || isStatus(r, statusVerbal) {
		return true
	}
	return same(r.Benchmark, before.Benchmark) && same(r.Index, before.Index) && same(r.Currency, before.Currency) && same(r.Measure, before.Measure) &&
		(r.Yield.Lo.Set || isStatus(r, statusYield)) == (before.Yield.Lo.Set || isStatus(before, statusYield)) && r.Fee.Set == before.Fee.Set && r.Cover.Set == before.Cover.Set && r.PIK.Set == before.PIK.Set &&
		r.Senior.Lo.Set == before.Senior.Lo.Set && r.Total.Lo.Set == before.Total.Lo.Set && r.Net.Lo.Set == before.Net.Lo.Set &&
		(!r.BenchmarkTenor.Set || !before.BenchmarkTenor.Set || r.BenchmarkTenor == before.BenchmarkTenor) && r.Increase == before.Increase
}

// follows reports whether a number may be the same price at a later step. Another number that the text may have after a stage is the issue
// price after a spread, how far it has moved, a size, or a price in the secondary market.
func (g *grammar) follows(r, before *Reading) bool {
	if !r.hasNumber() || !before.hasNumber() || r.Yield.Lo.Set {
		return true
	}
	lo, hi, from, to := r.Main.Lo.abs(), r.Main.Hi.abs(), before.Main.Lo.abs(), before.Main.Hi.abs()
	if r.Main.isRange() && hi.less(lo) {
		lo, hi = hi, lo
	}
	if !r.Main.Hi.Set || !before.Main.Hi.Set || !r.Main.Lo.Set || !before.Main.Lo.Set {
		return true
	}
	switch g.kind {
	case spreadAlone, marginAlone:
		if g.kind == marginAlone && r.Benchmark != nil && before.Benchmark == nil || to.times(2).plus(whole(20)).less(lo) || hi.times(4).plus(whole(20)).less(from) { // 325bp, guidance MS+100
			return false
		}
		if r.Benchmark != nil {
			return true
		}
		isPrice := issueBounds.contain(hi) && (g.kind == marginAlone || !hi.isMultipleOf(powers[scale]))
		return !isPrice && !to.times(4).less(hi.times(3)) && !lo.times(3).less(from)
	case premiumSteps:
		if to.less(whole(10)) {
			to = whole(10)
		}
		return !to.less(hi)
	case priceSteps:
		return !whole(100).less(hi) || whole(100).less(to)
	}
	return true
}

// dealWords are said of a deal, and not of its orders: after them comes its size, as in books EUR3bn, launched EUR500m.
var dealWords = []string{"launched", "launch", "priced", "pricing", "set", "set at", "landed", "upsized", "downsized", "increased", "final terms", "size"}

// sizeWords are said of the size of a deal alone.
var sizeWords = slices.Concat(wngWords, []string{"not growing", "no upsize", "upsized", "benchmark", "bmk"})

// trancheWords say that a text is about several tranches.
var trancheWords = []string{"dual tranche", "dual-tranche", "multi-tranche", "2 tranches", "3 tranches", "two tranches", "three tranches", "across tranches", "both tranches"}

// saysAny reports whether a text has one of the words.
func saysAny(text []byte, words []string) bool {
	for i := range text {
		if s := (scanner{text[i:]}); (i == 0 || !isLetter(text[i-1])) && s.oneOf(words...) {
			return true
		}
	}
	return false
}

// hasTranches reports whether a text has two tenors: its prices are of two tranches then, and no steps.
func hasTranches(text []byte) bool {
	var first Number
	for i := range text {
		if !isDigit(text[i]) || i > 0 && (isDigit(text[i-1]) || isLetter(text[i-1]) || text[i-1] == '.' || text[i-1] == '+') {
			continue
		}
		s := scanner{text[i:]}
		switch tenor, ok := s.years(); {
		case !ok:
		case !first.Set:
			first = tenor
		case first != tenor:
			return true
		}
	}
	return false
}

// hasStructures reports whether a text has a structure with a call and another one, or another tenor or call, which are of two tranches:
// 6NC5/11NC10, 6NC5/8yr, NC5/NC8.
func hasStructures(text []byte) bool {
	var first Reading
	for i := range text {
		if i > 0 && (isDigit(text[i-1]) || isLetter(text[i-1]) || text[i-1] == '.' || text[i-1] == '+') {
			continue
		}
		var r Reading
		if s := (scanner{text[i:]}); !s.structure(&r) {
			r = Reading{}
			if years, ok := s.years(); ok {
				r.Tenor = years
			} else if bare := (scanner{text[i:]}); !begins(bare.rest, "nc") || !bare.call(&r) {
				continue
			}
		}
		if first.Call.Set && (r.Call.Set && r.Call != first.Call || r.Tenor.Set && r.Tenor != first.Tenor && r.Tenor != first.Call) {
			return true
		}
		if r.Call.Set && first.Tenor.Set && first.Tenor != r.Tenor && first.Tenor != r.Call { // 8yr/6NC5
			return true
		}
		if !first.Call.Set {
			first = r
		}
	}
	return false
}

// hasYears reports whether a text has two years: RCF 2030, maturity 2032.
func hasYears(text []byte) bool {
	var one int64
	for i := range text {
		if !isDigit(text[i]) || i > 0 && isDigit(text[i-1]) {
			continue
		}
		s := scanner{text[i:]}
		switch year, digits := s.count(); {
		case digits != 4 || year < firstYear || year > lastYear:
		case one != 0 && one != year:
			return true
		default:
			one = year
		}
	}
	return false
}

// inherit sets the benchmark of the step before, if this one is a spread that names none.
func (r *Reading) inherit(before *Reading) {
	if r.Benchmark == nil && r.Main.Lo.Set && isStage(r.Basis, before.Basis) {
		r.Benchmark, r.Index, r.BenchmarkTenor = before.Benchmark, before.Index, before.BenchmarkTenor
	}
}

// nameCurrency says that the text names the currency of a step, if it names the same one at another step.
func (r *Reading) nameCurrency(other *Reading) {
	if r.Implied == Yes && other.Implied == No && bytes.Equal(r.Currency, other.Currency) {
		r.Implied = No
	}
}

// numberAlone reads a step that is only a number, in the unit of the step before: MS+130 > 120-125.
func (g *grammar) numberAlone(text []byte, r, before *Reading) bool {
	s := scanner{text}
	if !g.numbersAlone() || before.Benchmark == nil || !before.Main.Lo.Set || !before.Main.Hi.Set {
		return false
	}
	found, v := s.span(decimal, basisPoints)
	if v != yes || found.signed && found.Lo.less(whole(0)) {
		return false
	}
	if r.Main = found.Range; g.kind == marginAlone {
		v = r.putMargin(&found)
	}
	var q remarks
	if v != yes || q.read(&s, &r.Main, basisPoints) != yes || !s.end() || !spreadBounds.containAll(&r.Main) {
		return false
	}
	if g.kind == spreadAlone {
		r.Quality = q.quality()
	}
	r.Basis, r.CSA, r.Status = before.Basis, before.CSA, statusOf(&r.Main)
	if !g.follows(r, before) {
		return false
	}
	r.Benchmark, r.Index, r.BenchmarkTenor = before.Benchmark, before.Index, before.BenchmarkTenor
	return true
}

// The words for an end of the range before.
var (
	lowEnds  = []string{"tight end", "tighter end", "tights", "low end", "bottom end", "bottom", "lower end"}
	highEnds = []string{"wide end", "wider end", "wides", "high end", "top end", "upper end"}
)

// chosenEnd reads that the price is at one end of the range of the step before: at the tight end of talk.
func (g *grammar) chosenEnd(text []byte, r, before *Reading) bool {
	s := scanner{text}
	s.oneOf("at", "in")
	s.space()
	s.oneOf("the")
	s.space()
	low := s.oneOf(lowEnds...)
	if !g.numbersAlone() || !low && !s.oneOf(highEnds...) || !before.Main.Lo.Set && !before.Yield.Lo.Set {
		return false
	}
	s.space()
	if s.oneOf("of", "of the") {
		s.space()
		s.oneOf("the")
		s.space()
		if !s.oneOf("range") {
			s.stageWord()
		}
	}
	if !s.end() {
		return false
	}
	*r = *before
	r.Quality, r.Stage = nil, nil
	for _, chosen := range []*Range{&r.Main, &r.Yield} {
		if low && chosen.Lo.Set {
			*chosen = exactly(chosen.Lo)
		} else if chosen.Hi.Set {
			*chosen = exactly(chosen.Hi)
		}
	}
	if r.Status = statusOK; r.Yield.Lo.Set {
		r.Status = statusYield
	}
	return true
}
