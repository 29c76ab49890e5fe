package text

// market says whose texts a parser reads: one letter is one benchmark in bonds, and another in loans.
type market uint8

const (
	bonds market = iota
	loans
)

// benchmark is the rate that a spread is added to.
type benchmark struct {
	kind  benchmarkKind
	name  []byte // nil if the currency does not settle the meaning of a letter
	index []byte // the index of floating rates that it is, or that its swaps are into; nil if the text names none
	tenor Number // years; unset if the text names none
}

// benchmark reads the name of a benchmark with an optional tenor: T, DBR, 3mE, SARON MS, 5yr mid-swaps, CT5, UST 5yr.
func (s *scanner) benchmark(in market, currency []byte) (b benchmark, ok bool) {
	ahead := *s
	if ahead.oneOf(curveWords...) {
		ahead.space()
	}
	tenor, before := ahead.benchmarkTenor()
	if code := ahead; !before && len(code.rest) > 3 && code.rest[3] == ' ' && currencyOf(code.letters()) != nil && code.char(' ') { // EUR mid-swaps
		if b, ok = code.benchmark(in, currency); ok && (b.kind == swap || b.kind == floating) && b.name != nil {
			return b, s.skipTo(code)
		}
	}
	months := ahead.months()
	var buffer [maxWord]byte
	word, phrase := ahead.benchmarkWord(&buffer)
	if months && phrase == "" {
		phrase = ahead.afterTerm(word, currency)
	}
	if b, ok = benchmarkOf(word, phrase, in, currency); !ok || months && (b.kind == government || b.kind == swap) {
		return b, false
	}
	if b.kind == floating || b.kind == unsettled {
		if after := ahead; !months && b.name != nil { // Euribor 3m
			if term := after; len(word) > 4 && len(term.rest) > 1 && (term.char('3') || term.char('6') || term.char('1')) && (term.rest[0] == ' ' || term.rest[0] == '+') { // CIBOR3
				ahead = term
			} else if after.space(); after.months() {
				ahead = after
			}
		}
		ahead.swapsInto(&b)
		if side := ahead; b.kind == floating && side.char(' ') && side.oneOf("bid", "bid rate") {
			ahead = side
		}
	}
	if obl := ahead; string(b.name) == "BUND" && string(word) == "obl" && obl.spanish() {
		b.name = nil
	}
	b.tenor = tenor
	if numbered := numberedBenchmarks[string(word)]; !before || numbered {
		after := ahead.tenorAfter(numbered)
		if before && after.Set && after != tenor {
			return b, false
		}
		if after.Set {
			b.tenor = after
		}
	}
	if curve := ahead; b.kind == government || b.kind == swap { // GoC curve
		if curve.space(); curve.oneOf("curve") {
			ahead = curve
		}
	}
	*s = ahead
	return b, true
}

// afterTerm returns the name of an index that only the term before it makes clear, "" if there is none: 3m€, and 3mS of Swedish
// kronor.
func (s *scanner) afterTerm(word, currency []byte) string {
	if word != nil && len(word) == 0 && s.has("€") { // nil is a word that is too long
		return "euribor"
	}
	for _, l := range termLetters {
		if l.word == string(word) && l.currency == string(currencyOf(currency)) {
			return l.name
		}
	}
	return ""
}

// benchmarkWord reads the word of a benchmark, in lower case. phrase is the word that a phrase means, else "".
func (s *scanner) benchmarkWord(buffer *[maxWord]byte) (word []byte, phrase string) {
	for _, w := range phraseIndex.next(s) {
		if s.word(w.word) {
			return nil, benchmarkPhrases[w.row].name
		}
	}
	for _, symbol := range benchmarkSymbols {
		if s.has(symbol.written) {
			return nil, symbol.name
		}
	}
	return fold(buffer, s.letters()), ""
}

// swapsInto reads what makes swaps of an index: the MS of SARON MS.
func (s *scanner) swapsInto(b *benchmark) {
	ahead := *s
	if !ahead.char('-') {
		ahead.space()
	}
	if ahead.oneOf("ms", "mid-swaps", "mid swaps", "midswaps", "mid-swap", "m/s", "swaps", "swap", "ois") {
		*s, b.kind, b.name = ahead, swap, benchmarkText["MS"]
	}
}

// benchmarkTenor reads the tenor before a benchmark: the 5yr of 5yr MS.
func (s *scanner) benchmarkTenor() (tenor Number, ok bool) {
	ahead := *s
	tenor, ok = ahead.years()
	if !ok {
		return Number{}, false
	}
	ahead.char(':')
	ahead.space()
	*s = ahead
	return tenor, true
}

// tenorAfter reads the tenor after a benchmark: UST 5yr, CT5. numbered says that a number without a unit is one.
func (s *scanner) tenorAfter(numbered bool) Number {
	ahead := *s
	if numbered {
		if n, count := ahead.count(); count == 1 || count == 2 {
			if next := ahead; !next.char('.') && !next.char('%') && !next.char('/') {
				ahead.oneOf("yr", "y", "years")
				*s = ahead
				return whole(n)
			}
		}
		ahead = *s
	}
	ahead.space()
	tenor, ok := ahead.years()
	if !ok {
		return Number{}
	}
	*s = ahead
	return tenor
}

// months skips the months of an index: the 3m of 3mE.
func (s *scanner) months() bool {
	ahead := *s
	n, count := ahead.count()
	if count == 0 || n != 1 && n != 3 && n != 6 && n != 12 {
		return false
	}
	if !ahead.char('-') {
		ahead.space()
	}
	if !ahead.oneOf("monats-", "monats", "months", "month", "mths", "mth", "mo", "m") && !ahead.has("m") {
		return false
	}
	if !ahead.char('-') {
		ahead.space()
	}
	*s = ahead
	return true
}

// benchmarkOf returns the benchmark for a word in lower case, or for a phrase.
func benchmarkOf(word []byte, phrase string, in market, currency []byte) (b benchmark, ok bool) {
	if phrase != "" {
		b, ok = benchmarksByWord[phrase]
		return b, ok
	}
	if len(word) == 0 {
		return b, false
	}
	if b, ok = benchmarksByWord[string(word)]; ok {
		return b, ok
	}
	code := currencyOf(currency)
	for i := range benchmarkLetters {
		l := &benchmarkLetters[i]
		if l.word == string(word) && l.in == in && (l.currency == "" || l.currency == string(code) || l.currency == "none" && code == nil) {
			b = benchmark{kind: l.kind, name: benchmarkText[l.name], index: benchmarkText[l.index]}
			if l.kind == floating {
				b.index = b.name
			}
			return b, true
		}
	}
	return b, false
}

// set copies a benchmark to a reading.
func (b *benchmark) set(r *Reading) {
	r.Benchmark, r.Index, r.BenchmarkTenor = b.name, b.index, b.tenor
}

// spanish reports whether the security after OBL may be a Spanish one, which has a coupon or a date: Obl 3.45% 10/34. The German ones are
// numbered: OBL 189.
func (s *scanner) spanish() bool {
	s.space()
	if s.end() || !isDigit(s.rest[0]) {
		return !s.end() && isLetter(s.rest[0])
	}
	_, digits := s.count()
	return digits != 3
}
