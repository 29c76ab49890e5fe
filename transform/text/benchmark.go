package text

// The benchmarks, as cells contain them.
var (
	ust     = []byte("UST")
	bund    = []byte("BUND")
	ukt     = []byte("UKT")
	oat     = []byte("OAT")
	swaps   = []byte("MS")
	euribor = []byte("EURIBOR")
	libor   = []byte("LIBOR")
	sofr    = []byte("SOFR")
	sonia   = []byte("SONIA")
	saron   = []byte("SARON")
	bbsw    = []byte("BBSW")
	estr    = []byte("ESTR")
	tona    = []byte("TONA")
	tibor   = []byte("TIBOR")
	stibor  = []byte("STIBOR")
	nibor   = []byte("NIBOR")
	hibor   = []byte("HIBOR")
	sora    = []byte("SORA")
	corra   = []byte("CORRA")
	cdor    = []byte("CDOR")
	bkbm    = []byte("BKBM")
	jibar   = []byte("JIBAR")
)

// benchmark is the rate that a spread is added to.
type benchmark struct {
	name     []byte // nil for a bare S whose currency does not say which index it is
	floating bool   // an index of floating rates
}

// benchmark reads the name of a benchmark: T, DBR, 3mE, SARON MS, mid-swaps. A bare S is SOFR or SONIA according to the
// currency; with any other currency it is a benchmark without a name.
func (s *scanner) benchmark(currency []byte) (b benchmark, ok bool) {
	ahead := *s
	if ahead.has("mid-swaps") || ahead.has("mid swaps") || ahead.has("m/s") {
		*s = ahead
		return benchmark{name: swaps}, true
	}
	months := ahead.months()
	var buffer [maxWord]byte
	b = benchmarkOf(fold(&buffer, ahead.letters()), currency)
	if b.name == nil && !b.floating || months && !b.floating {
		return b, false
	}
	if b.floating { // swaps into that index
		overnight := ahead
		overnight.space()
		if overnight.word("ms") {
			ahead = overnight
		}
	}
	*s = ahead
	return b, true
}

// months skips the months of an index: the 3m of 3mE.
func (s *scanner) months() bool {
	for _, months := range []string{"1m", "3m", "6m", "12m"} {
		if s.has(months) {
			s.space()
			return true
		}
	}
	return false
}

// benchmarkOf returns the benchmark for a word in lower case.
func benchmarkOf(word, currency []byte) benchmark {
	switch string(word) {
	case "t", "ust", "ct", "treasuries":
		return benchmark{name: ust}
	case "b", "dbr", "bund", "bunds":
		return benchmark{name: bund}
	case "g", "ukt", "gilt", "gilts":
		return benchmark{name: ukt}
	case "oat":
		return benchmark{name: oat}
	case "ms", "midswaps":
		return benchmark{name: swaps}
	case "s":
		return benchmark{overnight(currency), true}
	}
	return benchmark{name: index(word), floating: index(word) != nil}
}

// index returns the index of floating rates for a word in lower case; nil for none.
func index(word []byte) []byte {
	switch string(word) {
	case "e", "euribor":
		return euribor
	case "l", "libor":
		return libor
	case "sofr":
		return sofr
	case "sonia":
		return sonia
	case "saron":
		return saron
	case "bbsw", "bbsy":
		return bbsw
	case "estr":
		return estr
	case "tona", "tonar":
		return tona
	case "tibor":
		return tibor
	case "stibor":
		return stibor
	case "nibor":
		return nibor
	case "hibor":
		return hibor
	case "sora":
		return sora
	case "corra":
		return corra
	case "cdor":
		return cdor
	case "bkbm":
		return bkbm
	case "jibar":
		return jibar
	}
	return nil
}

// overnight returns the index that a bare S means in a currency; nil if no rule says so.
func overnight(currency []byte) []byte {
	switch string(currencyOf(currency)) {
	case "USD":
		return sofr
	case "GBP":
		return sonia
	}
	return nil
}
