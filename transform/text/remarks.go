package text

import "bytes"

// core returns a text without the remarks before and after its main part, which say by a word that they are about another topic
// than the text's column: MS+72-75, size 500 no grow. It returns the text itself if there are none, and never an empty text.
// A part of which no word says what it is stays, and then the text is not read.
func core(text []byte, others topics, currency []byte) []byte {
	text = withoutLead(text, others, currency)
	for i := 1; i < len(text); i++ {
		if remarksFrom(text, i, others, currency) {
			return bytes.TrimRight(text[:i], " ")
		}
	}
	return text
}

// withoutLabels returns a text without the labels before its price.
func withoutLabels(text []byte, others topics) []byte {
	s := scanner{text}
	for s.label(others) {
	}
	return s.rest
}

// withoutLead returns a text without the remarks before its main part.
func withoutLead(text []byte, others topics, currency []byte) []byte {
	if others&aboutCoupon == 0 { // T+95 (4.5%): the yield rather than the coupon
		others &^= aboutSpread
	}
	others &^= aboutCurve // ASW+88 / Z+91: which one?
	s := scanner{text}
	if stage := s; stage.stageWord() == nil && s.remarksBefore(others, currency) {
		return s.rest
	}
	return text
}

// remarksFrom reports whether a text has nothing but remarks from a place on, and a separator or a space there.
func remarksFrom(text []byte, i int, others topics, currency []byte) bool {
	if text[i] != ' ' && !isSeparator(text, i) || isSeparator(text, i-1) && text[i] != '(' {
		return false
	}
	before := bytes.TrimRight(text[:i], " ")
	if len(before) > 4 && begins(before[len(before)-4:], "144a") && saysAny(text[i:], regulationWords) { // 144A / Reg S is one remark
		return false
	}
	after, topics := scanner{text[i:]}, others
	if added := bytes.HasSuffix(before, []byte(" +")) || len(before) > len(" plus") && begins(before[len(before)-len(" plus"):], " plus"); added && after.addedNext(others) {
		return false // EUR500m plus RCF is no minimum
	}
	if i+1 < len(text) && isDigit(text[i-1]) && isDigit(text[i+1]) && text[i] != ' ' { // T+168/5.75%, but not T+1,025
		if topics &= aboutYields | aboutPrice; text[i] == ',' {
			return false
		}
	}
	if text[i] == ' ' && (after.mayBeBefore(text[:i], others) || others&aboutSpread == 0 && others&aboutTerms != 0 && endsWithStage(text[:i]) && after.integerNext()) {
		return false
	}
	return after.remarksAfter(topics, currency)
}

var regulationWords = []string{"reg s", "regs"}

// label skips what a text says before its price without a separator, and which says by its form what it is: the time of day, who may buy, the
// structure. 10:05 IPT MS+90a, 11NC6 T2 MS+205.
func (s *scanner) label(others topics) bool {
	if s.end() || !isDigit(s.rest[0]) && lower(s.rest[0]) != 'p' {
		return false
	}
	ahead := *s
	_, timed := ahead.clock()
	if timed = timed && others&aboutTime != 0; timed && ahead.isSaid(aboutEverything) { // 11:30 CET: T+95
		return false
	}
	if timed && ahead.has(" - ") {
		return s.skipTo(ahead)
	}
	if !timed {
		ahead = *s
		structure := others&aboutTerms != 0 && others&aboutTenor != 0 && ahead.structureAlone()
		if !structure && (others&aboutOffer == 0 || !ahead.oneOf("144a/regs", "144a/reg s", "144a")) {
			return false
		}
	}
	return ahead.char(' ') && !ahead.end() && ahead.rest[0] != '-' && !isSeparator(ahead.rest, 0) && s.skipTo(ahead)
}

// mayBeBefore reports whether the word after a space may say what the number before it is, rather than the one after it: 50bp floor 325bp,
// EUR3bn books EUR500m.
func (s *scanner) mayBeBefore(text []byte, others topics) bool {
	isNumber, isSize := endsWithMeasure(text)
	next := *s
	next.space()
	for _, w := range remarkIndex.next(&next) {
		row, word := &remarkWords[w.row], next
		if row.about&others != 0 && (isNumber && row.at == last || isSize && row.at == first && row.about&(aboutOrders|aboutSize) != 0) && word.word(w.word) {
			return true
		}
	}
	return false
}

// endsWithMeasure reports whether a text ends with a number, with or without its unit, and whether with a size. The number of a spread, as in
// E + 400, is neither.
func endsWithMeasure(text []byte) (isNumber, isSize bool) {
	at := len(text)
	for words := 0; words < 3 && at > 0; words++ {
		at = bytes.LastIndexByte(text[:at], ' ')
		begin := text[at+1:]
		before := bytes.TrimRight(text[:max(at-1, 0)], " ")
		if at > 0 && (text[at-1] == '+' || text[at-1] == '-' && len(before) > 0 && isLetter(before[len(before)-1]) && !endsWithUnit(before)) {
			return isNumber, isSize
		}
		number, size := scanner{begin}, scanner{begin}
		isNumber = isNumber || number.quantity() && number.end()
		isSize = isSize || size.anySize(nil) && (size.end() || size.char('+') && size.end())
	}
	return isNumber, isSize
}

// integerNext reports whether a number without a point is next, which after a stage may be the spread: landed at 90.
func (s *scanner) integerNext() bool {
	next := *s
	next.space()
	if !next.char('@') {
		next.oneOf("at")
	}
	next.space()
	n, ok := next.signedNumber(asPrice)
	return ok && !n.pointed && n.digits > 0
}

// isSeparator reports whether a separator is at a place of a text.
func isSeparator(text []byte, i int) bool {
	c := text[i]
	return c == ',' || c == ';' || c == '/' || c == '(' || c == '|' || c == '=' || c == '.' && i+1 < len(text) && text[i+1] == ' '
}

// remarksBefore skips the remarks that a separator ends: closed, 1.75bn.
func (s *scanner) remarksBefore(others topics, currency []byte) (found bool) {
	ahead := *s
	for ahead.remark(others, true, currency) {
		if inside := ahead; inside.has(" (") && len(inside.rest) > 1 && inside.rest[len(inside.rest)-1] == ')' { // MS+95 (3.375%)
			s.rest = inside.rest[:len(inside.rest)-1]
			return true
		}
		read := s.rest[:len(s.rest)-len(ahead.rest)]
		if begin := ahead; ahead.separator() && !ahead.end() {
			if begin.mayBeRange(read) { // coupon 5% 99.5 - 99.75
				break
			}
			*s, found = ahead, true
		} else if !ahead.char(' ') {
			break
		}
	}
	return found
}

// mayBeRange reports whether a dash or a slash between two numbers may be in a range, or a colon after a stage, whose first number a remark with
// another number before it has taken.
func (s *scanner) mayBeRange(remark []byte) bool {
	next, at := *s, bytes.LastIndexByte(remark, ' ')
	next.space()
	if ranged := next; at > 0 && isBareNumber(remark[at+1:]) && ranged.char('-') { // books open: 7.25 - 7.5%
		if ranged.space(); !ranged.end() && isDigit(ranged.rest[0]) {
			return true
		}
	}
	if at < 0 || !bytes.ContainsAny(remark[:at], "0123456789") {
		return false
	}
	if last := (scanner{remark[at+1:]}); next.char(':') {
		return last.stageWord() != nil // 98.25 vs Guidance: 98
	}
	if !next.char('-') && !next.char('/') {
		return false
	}
	next.space()
	next.sign()
	next.space()
	return next.oneOf("par", "flat") || !next.end() && isDigit(next.rest[0])
}

// isBareNumber reports whether a word is a number without a unit, or in percent.
func isBareNumber(word []byte) bool {
	return len(word) > 0 && len(bytes.Trim(word, "0123456789.,%")) == 0 && isDigit(word[0])
}

// separator skips a separator of remarks and the spaces around it.
func (s *scanner) separator() bool {
	ahead := *s
	ahead.space()
	if !ahead.has("//") && !ahead.char(',') && !ahead.char(';') && !ahead.char('/') && !ahead.char('|') && !ahead.char('=') && !ahead.has("- ") && !ahead.has(". ") && !ahead.has(": ") {
		return false
	}
	ahead.space()
	return s.skipTo(ahead)
}

// remarksAfter reports whether the rest consists of remarks, with a separator, a parenthesis or a space before each.
func (s *scanner) remarksAfter(others topics, currency []byte) bool {
	open := false
	for !s.end() {
		separated := s.separator()
		s.space()
		if !open && s.char('(') {
			open, separated = true, true
		}
		if least := *s; least.oneOf("plus") && !least.addedNext(others) { // SAR11bn plus today: a minimum
			return false
		}
		joined := s.oneOf("and", "plus", "&")
		if joined || s.oneOf("with", "w/", "incl.", "incl", "including") {
			separated = true
		}
		s.space()
		if another := *s; joined && (another.tenorAlone() || another.rateAlone() || another.structureAlone() || another.callAlone()) { // T+95 & 8yr: another tranche
			return false
		}
		if joined {
			others &^= aboutPremium // MS+80 plus 5bp NIP: 85?
		}
		if !s.remark(others, separated || open, currency) {
			return false
		}
		if open && s.char(')') {
			open = false
		}
	}
	return !open
}

// addedNext reports whether what follows plus is added to what is before it: plus util fee, plus 10bp CSA. Time is not.
func (s *scanner) addedNext(others topics) bool {
	next := *s
	next.space()
	return !next.end() && !next.remark(others&(aboutTime|aboutOffer|aboutSize|aboutOrders|aboutCalendar), true, nil)
}

// remark skips one remark about another topic. separated says that a separator is before it; the terms of a loan and its fees need
// one, because their number may be before their word: 101 soft call 6m.
func (s *scanner) remark(others topics, separated bool, currency []byte) bool {
	if s.wordless(others, separated, currency) {
		return true
	}
	for _, w := range remarkIndex.next(s) {
		row := &remarkWords[w.row]
		if row.at == last || !row.fits(others, separated) {
			continue
		}
		ahead := *s
		if price := ahead; row.about == aboutPrice && price.word(w.word) && (!price.priceNext() || others&aboutSpread == 0 && price.mayBeSpread(w.word)) { // S+350, price 325
			continue
		}
		if ahead.word(w.word) && (row.at == alone || ahead.detail(row.about&(aboutRates|aboutValue|aboutCurve) != 0)) && ahead.remarkEnds() {
			return s.skipTo(ahead)
		}
	}
	amount := *s
	if !amount.quantity() {
		return false
	}
	for _, w := range remarkIndex.next(&amount) {
		row := &remarkWords[w.row]
		ahead := amount
		if row.at == last && row.fits(others, separated) && (row.about != aboutPrice || s.priceNext()) && ahead.word(w.word) && ahead.remarkEnds() {
			if row.about == aboutSteps {
				ahead.condition()
			}
			return s.skipTo(ahead)
		}
	}
	return false
}

// condition skips under what a margin steps, up to a separator: at 0.5x inside closing leverage.
func (s *scanner) condition() {
	ahead := *s
	if !ahead.char(' ') || !ahead.oneOf("at", "on", "upon", "if", "once", "after", "below", "inside") {
		return
	}
	for !ahead.end() && ahead.rest[0] != ')' && !isSeparator(ahead.rest, 0) {
		if ahead.rest[0] == '+' || ahead.rest[0] == '>' {
			return
		}
		ahead.rest = ahead.rest[1:]
	}
	*s = ahead
}

// priceNext reports whether an issue price is next.
func (s *scanner) priceNext() bool {
	next := *s
	next.space()
	next.char(':')
	next.space()
	next.oneOf("of", "at", "is", "c.", "circa")
	next.char('@')
	next.space()
	n, ok := next.signedNumber(asPrice)
	return ok && remarkedBounds.contain(n.n) && !next.unit(basisPoints)
}

// mayBeSpread reports whether the number after reoffer may be a spread rather than a price: MS+95, reoffer 93.
func (s *scanner) mayBeSpread(word string) bool {
	next := *s
	next.space()
	n, ok := next.signedNumber(asPrice)
	return ok && !n.pointed && (word == "reoffer" || word == "re-offer")
}

// wordless skips a remark that says by its form what it is about.
func (s *scanner) wordless(others topics, separated bool, currency []byte) bool {
	if s.end() {
		return false
	}
	c := lower(s.rest[0])
	number := isDigit(c) || c == '-' || c == '+'
	switch {
	case (c == 'u' || c == 'd') && others&aboutSize != 0 && s.resizedAlone(currency),
		(isDigit(c) || c == 'l' || c == 's') && others&aboutTenor != 0 && s.tenorAlone(),
		isDigit(c) && others&aboutTime != 0 && s.timeAlone(),
		c == 'n' && others&aboutTerms != 0 && s.callAlone(),
		(c == '@' || c == 'a') && others&aboutPrice != 0 && s.priceAlone(),
		c == '9' && separated && others&aboutPrice != 0 && s.exactPriceAlone(),
		others&aboutMove != 0 && s.move(),
		(c == 's' || c == 't') && others&aboutTime != 0 && s.settlementAlone(),
		c == 'r' && others&aboutRates != 0 && s.resetAlone(currency),
		others&aboutSecurity != 0 && s.numberedAlone(),
		(isDigit(c) || c == 'p') && others&aboutTerms != 0 && others&aboutTenor != 0 && s.structureAlone(),
		number && separated && others&aboutYield != 0 && s.rateAlone(),
		separated && others&aboutSpread != 0 && s.spreadAlone(currency):
		return true
	}
	return false
}

// fits reports whether remarks with a word of the row may be left out.
func (r *remarkRow) fits(others topics, separated bool) bool {
	return r.about&others != 0 && (separated || r.at == alone || r.about&(aboutTerms|aboutDue|aboutFees|aboutSaidYield) == 0)
}

// remarkEnds reports whether a remark may end here.
func (s *scanner) remarkEnds() bool {
	return s.end() || s.rest[0] == ' ' || s.rest[0] == ')' || s.rest[0] == ':' || isSeparator(s.rest, 0)
}

// quantity skips a number with an optional unit, as it is before the word of a remark: 45%, 9.5y, 11:30.
func (s *scanner) quantity() bool {
	ahead := *s
	if several := ahead; several.oneOf("one", "two", "three", "four") && several.char(' ') && !several.end() && isDigit(several.rest[0]) { // two 25bp step-downs
		ahead = several
	}
	ahead.about()
	if ahead.char('>') || ahead.char('<') {
		ahead.space()
	}
	if _, n := ahead.count(); n == 0 {
		return false
	}
	if times := ahead; times.timesNext() { // 2 x 25bp
		ahead = times
		ahead.count()
	}
	for len(ahead.rest) > 1 && (ahead.rest[0] == '.' || ahead.rest[0] == ':' || ahead.rest[0] == ',') && isDigit(ahead.rest[1]) {
		ahead.rest = ahead.rest[1:]
		ahead.count()
	}
	if !ahead.unit(basisPoints) && !ahead.unit(percent) && !ahead.char('x') && !ahead.char('X') && !ahead.char('+') {
		if !ahead.char('-') {
			ahead.space()
		}
		_ = ahead.oneOf(yearWords...) || ahead.oneOf(monthWords...)
	}
	ahead.char('-')
	ahead.space()
	return s.skipTo(ahead)
}

// timesNext skips a sign of multiplication before a number.
func (s *scanner) timesNext() bool {
	ahead := *s
	ahead.space()
	times := ahead.has("x")
	ahead.space()
	return times && !ahead.end() && isDigit(ahead.rest[0]) && s.skipTo(ahead)
}

// detail skips what follows the word of a remark, up to a separator. It has a number. After that it has no other price: in size 500m
// T+110 a second tranche begins. Only if it may be a spread may a sign be before the number: CSA + 325 is the margin.
func (s *scanner) detail(mayBeSpread bool) bool {
	ahead := *s
	number, letter := false, false
	for ; !ahead.end(); ahead.rest = ahead.rest[1:] {
		c := ahead.rest[0]
		next := byte(0)
		if len(ahead.rest) > 1 {
			next = ahead.rest[1]
		}
		switch {
		case c == ')' || c == '(' || c == ';' || c == '|' || c == ',' && !isDigit(next), c == '/' && !isDigit(next) && next != 's':
			return number && s.skipTo(ahead)
		case c == '>' && number:
			return false
		case number && (c == ' ' && ahead.detailEnds() || (c == ':' || c == '.' && endsWithNumber(s.rest[:len(s.rest)-len(ahead.rest)])) && next == ' '):
			return s.skipTo(ahead)
		case number && c == ' ' && ahead.anotherNext(s.rest[:len(s.rest)-len(ahead.rest)]):
			return false
		case isDigit(c):
			number, letter = true, false
		case isLetter(c):
			letter = true
		case (number && letter || !number && !mayBeSpread) && (c == '+' || c == '-') && (isDigit(next) || next == ' '):
			return false
		}
	}
	return number && s.skipTo(ahead)
}

// endsWithNumber reports whether the last word of a text has a digit: 75bp, but not neg.
func endsWithNumber(text []byte) bool {
	return bytes.ContainsAny(text[bytes.LastIndexByte(text, ' ')+1:], "0123456789")
}

// endsWithUnit reports whether the last word of a text is a number with its unit, or a unit: 35bp, 35 basis points.
func endsWithUnit(text []byte) bool {
	last := scanner{text[bytes.LastIndexByte(text, ' ')+1:]}
	return endsWithNumber(text) || last.oneOf("bp", "bps", "points", "point")
}

// detailEnds reports whether a dash or a word is next that another remark may follow.
func (s *scanner) detailEnds() bool {
	next := scanner{s.rest[1:]}
	return next.has("- ") || next.has("+ ") || next.oneOf("and", "with", "&")
}

// anotherNext reports whether a measure is next right after a number: the 5.3x of ICR 2.1x 5.3x. It may be what the column is about.
func (s *scanner) anotherNext(before []byte) bool {
	at := bytes.LastIndexByte(before, ' ') + 1
	next := scanner{s.rest[1:]}
	if !bytes.ContainsAny(before[at:], "0123456789") {
		return false
	}
	var is figure
	named := next
	if named.figures(&is); is != (figure{}) && named.char(' ') && !named.end() && isDigit(named.rest[0]) { // LTV 45% gross 5x
		next = named
	}
	currency, _ := next.currency(nil)
	if next.end() || !isDigit(next.rest[0]) || currency != nil {
		return currency != nil
	}
	if _, ok := next.number(mixed); !ok {
		return false
	}
	return next.unit(percent) || next.unit(basisPoints) || next.oneOf("x", "bn", "m")
}

// rateAlone skips a rate in percent without a word, as the yield that a spread gives: T+168 / 5.75%.
func (s *scanner) rateAlone() bool {
	ahead := *s
	_, v := ahead.yield()
	return v == yes && !ahead.isSaid(aboutEverything&^aboutYields) && s.skipTo(ahead)
}

// timeAlone skips a time of day: (10:15).
func (s *scanner) timeAlone() bool {
	ahead := *s
	_, h := ahead.count()
	colon := ahead.char(':')
	_, m := ahead.count()
	return h > 0 && h <= 2 && colon && m == 2 && (ahead.end() || ahead.rest[0] == ')' || ahead.rest[0] == ',') && s.skipTo(ahead)
}

// tenorLabels are words after a tenor that say nothing about a number.
var tenorLabels = []string{"green", "social", "sustainable", "sustainability", "covered", "senior", "fixed", "fxd", "bullet"}

// tenorAlone skips the tenor of what is priced, with a label after it: EUR500m 7yr, +110 (10yr), EUR500m, 5yr green.
func (s *scanner) tenorAlone() bool {
	ahead := *s
	_ = ahead.oneOf("long", "short") && ahead.char(' ')
	_, ok := ahead.tenor()
	if labelled := ahead; labelled.char(' ') && labelled.oneOf(tenorLabels...) {
		ahead = labelled
	}
	return ok && (ahead.end() || ahead.rest[0] == ')') && s.skipTo(ahead)
}

// resizedAlone skips that the size has changed, with its unit: upsized to $1.5bn.
func (s *scanner) resizedAlone(currency []byte) bool {
	ahead := *s
	return ahead.oneOf("upsized to", "upsized from", "upsized by", "downsized to", "downsized from", "downsized by") && ahead.anySize(currency) && s.skipTo(ahead)
}

// settlementAlone skips a settlement that is counted in business days after the trade: settle T+5, (T+3 settlement).
func (s *scanner) settlementAlone() bool {
	ahead := *s
	before := ahead.oneOf("settlement", "settles", "settle", "settling") && ahead.char(' ')
	if !ahead.has("t+") {
		return false
	}
	if days, n := ahead.count(); n == 0 || days > mostSettlement {
		return false
	}
	if after := ahead; !before && (!after.char(' ') || !after.oneOf("settlement", "settle", "settles")) {
		return false
	} else if !before {
		ahead = after
	}
	return (ahead.end() || ahead.rest[0] == ')' || isSeparator(ahead.rest, 0)) && s.skipTo(ahead)
}

// mostSettlement is the greatest number of business days to a settlement. More of them are a spread: T+95.
const mostSettlement = 15

// isinLength is the length of an ISIN: two letters for a country, nine letters or digits, and a digit.
const isinLength = 12

// numberedAlone skips an ISIN.
func (s *scanner) numberedAlone() bool {
	if len(s.rest) < isinLength || !isLetter(s.rest[0]) || !isLetter(s.rest[1]) || !isDigit(s.rest[isinLength-1]) || currencyOf(s.rest[:3]) != nil { // EUR500000000
		return false
	}
	digits := 0
	for _, c := range s.rest[2:isinLength] {
		if isDigit(c) {
			digits++
		} else if !isLetter(c) {
			return false
		}
	}
	ahead := scanner{s.rest[isinLength:]}
	return digits >= isinLength/2 && ahead.remarkEnds() && s.skipTo(ahead)
}

// structureAlone skips the structure of what is priced, and its rank: 10NC5, PerpNC6 AT1, 6NC5 SNP.
func (s *scanner) structureAlone() bool {
	var r Reading
	ahead := *s
	if !ahead.structure(&r) || !ahead.remarkEnds() {
		return false
	}
	if ranked := ahead; ranked.char(' ') && ranked.oneOf(rankWords...) {
		if !ranked.remarkEnds() { // 11NC6 T2+205
			return false
		}
		ahead = ranked
	}
	return s.skipTo(ahead)
}

// callAlone skips the years to the first call: NC2.
func (s *scanner) callAlone() bool {
	var call Reading
	ahead := *s
	return ahead.has("nc") && s.call(&call)
}

// priceAlone skips the issue price that a yield or a spread gives: @ 99.8.
func (s *scanner) priceAlone() bool {
	ahead := *s
	if !ahead.char('@') && !ahead.oneOf("at") {
		return false
	}
	ahead.space()
	n, ok := ahead.signedNumber(asPrice)
	return ok && issueBounds.contain(n.n) && s.skipTo(ahead)
}

// structure reads a structure with a call in one word, 10NC5: in priced at 72 NC5 the 72 is the price.
func (s *scanner) structure(r *Reading) bool {
	ahead := *s
	if !ahead.perpetual() && !ahead.ends(r) || !ahead.call(r) || bytes.ContainsAny(s.rest[:len(s.rest)-len(ahead.rest)], " -") {
		return false
	}
	return s.skipTo(ahead)
}

// exactPriceAlone skips an issue price without a word, which its three decimals tell: T+98, 3.987%, 99.842.
func (s *scanner) exactPriceAlone() bool {
	ahead := *s
	n, ok := ahead.signedNumber(decimal)
	return ok && n.isExactPrice() && ahead.remarkEnds() && s.skipTo(ahead)
}

// resetAlone skips the spread at which a coupon is reset: reset MS+262.
func (s *scanner) resetAlone(currency []byte) bool {
	ahead := *s
	return ahead.oneOf("reset at", "reset") && ahead.char(' ') && ahead.spreadAlone(currency) && s.skipTo(ahead)
}

// spreadAlone skips a spread over a benchmark, as the one that a yield is: 5.43% (T+120).
func (s *scanner) spreadAlone(currency []byte) bool {
	ahead := *s
	if over, ok := ahead.benchmark(bonds, currency); !ok || over.name == nil || over.kind == floating { // SOFR+95 (5.2%): the margin of a floater
		return false
	}
	ahead.space()
	if n, ok := ahead.signedNumber(decimal); !ok || !n.signed {
		return false
	}
	ahead.unit(basisPoints)
	ahead.noted("area", "a")
	return s.skipTo(ahead)
}

// moveWords are the words of a move, before and after its size, and those of what it is from.
var (
	moveBefore = []string{"tightened by", "tightened", "tighter by", "widened by", "widened", "in by", "in", "out by", "out", "moved in", "moved", "down by", "down", "up"}
	moveAfter  = []string{"tighter than", "tighter vs", "tighter vs.", "tighter from", "tighter", "wider than", "wider from", "wider", "inside", "through", "in from", "from", "vs.", "vs", "off", "outside", "back of"}
	moveFrom   = []string{"initial price thoughts", "initial guidance", "initial talk", "initial", "ipts", "ipt", "ipg", "guidance", "talk", "price talk", "launch", "the wides", "wides", "start", "open"}
)

// move skips how far a price has moved from an earlier one: -15 from IPT, 25bp inside IPTs. Without what it is from, the price before it
// may be that of before the move: S+350, tightened 25.
func (s *scanner) move() bool {
	ahead := *s
	ahead.oneOf(moveBefore...)
	ahead.space()
	if len(ahead.rest) == 0 || isLetter(ahead.rest[0]) {
		return false
	}
	ahead.sign()
	if _, n := ahead.count(); n == 0 {
		return false
	}
	if ahead.char('.') {
		ahead.count()
	}
	ahead.unit(basisPoints)
	ahead.space()
	from := ahead
	if !from.oneOf(moveAfter...) {
		return false
	}
	from.space()
	from.oneOf("the")
	from.space()
	return from.oneOf(moveFrom...) && !begins(from.rest, ":") && s.skipTo(from)
}
