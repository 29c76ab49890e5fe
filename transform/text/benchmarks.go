package text

// This file contains the names of benchmarks as data. The governments' securities have the tickers by which dealers and
// their screens call them, the indices the names of their administrators. The API document lists none of them.

// benchmarkKind is what a spread over the benchmark is.
type benchmarkKind uint8

const (
	unsettled  benchmarkKind = iota // a letter that has several meanings, of which the currency settles none
	government                      // a spread over a government's security
	swap                            // a spread over swaps, or over a curve
	floating                        // a margin over an index of floating rates
)

// benchmarkNames are the benchmarks, each with the words for it in lower case. The upper-case name is what cells contain.
var benchmarkNames = []struct {
	kind  benchmarkKind
	name  string
	words []string
}{
	{government, "UST", []string{"ust", "usts", "ct", "tsy", "tsys", "treasury", "treasuries", "treas"}},
	{government, "BUND", []string{"dbr", "bund", "bunds", "obl", "bobl", "bobls", "bko", "schatz"}},
	{government, "UKT", []string{"ukt", "ukts", "gilt", "gilts"}},
	{government, "OAT", []string{"oat", "oats", "frtr"}},
	{government, "OATI", []string{"oati", "oatei"}},
	{government, "BTP", []string{"btp", "btps"}},
	{government, "SPGB", []string{"spgb", "spgbs", "bono", "bonos"}},
	{government, "PGB", []string{"pgb"}},
	{government, "DSL", []string{"dsl"}},
	{government, "RAGB", []string{"ragb"}},
	{government, "OLO", []string{"olo", "bgb"}},
	{government, "JGB", []string{"jgb", "jgbs"}},
	{government, "GOC", []string{"goc", "gocs", "cans", "can"}},
	{government, "ACGB", []string{"acgb", "acgbs"}},
	{government, "NZGB", []string{"nzgb", "nzgbs"}},
	{swap, "MS", []string{"ms", "swap", "midswap", "midswaps", "mids", "swaps", "irs", "ois", "yms"}},
	{swap, "ASW", []string{"asw", "asws"}},
	{swap, "G_SPREAD", []string{"gspread"}},
	{swap, "I_SPREAD", []string{"i", "ispread"}},
	{swap, "Z_SPREAD", []string{"z", "zspread"}},
	{floating, "EURIBOR", []string{"e", "euribor"}},
	{floating, "LIBOR", []string{"l", "libor"}},
	{floating, "SOFR", []string{"sofr", "tsfr"}},
	{floating, "SONIA", []string{"sonia"}},
	{floating, "SARON", []string{"saron"}},
	{floating, "BBSW", []string{"bbsw"}},
	{floating, "BBSY", []string{"bbsy"}},
	{floating, "ESTR", []string{"estr", "ester"}},
	{floating, "TONA", []string{"tona", "tonar"}},
	{floating, "TIBOR", []string{"tibor"}},
	{floating, "STIBOR", []string{"stibor", "stib"}},
	{floating, "NIBOR", []string{"nibor"}},
	{floating, "CIBOR", []string{"cibor"}},
	{floating, "HIBOR", []string{"hibor"}},
	{floating, "SIBOR", []string{"sibor"}},
	{floating, "SORA", []string{"sora"}},
	{floating, "CORRA", []string{"corra"}},
	{floating, "CDOR", []string{"cdor"}},
	{floating, "BKBM", []string{"bkbm"}},
	{floating, "JIBAR", []string{"jibar"}},
	{floating, "SAIBOR", []string{"saibor"}},
	{floating, "EIBOR", []string{"eibor"}},
	{floating, "TAIBOR", []string{"taibor"}},
	{floating, "WIBOR", []string{"wibor"}},
	{floating, "PRIBOR", []string{"pribor"}},
	{floating, "BUBOR", []string{"bubor"}},
	{floating, "SHIBOR", []string{"shibor"}},
	{floating, "LPR", []string{"lpr"}},
	{floating, "SOR", []string{"sor"}},
	{floating, "TIIE", []string{"tiie"}},
	{floating, "CDI", []string{"cdi"}},
	{floating, "PRIME", []string{"prime"}},
	{floating, "KLIBOR", []string{"klibor"}},
	{floating, "THOR", []string{"thor"}},
	{floating, "JIBOR", []string{"jibor"}},
	{floating, "KIBOR", []string{"kibor"}},
	{floating, "BSBY", []string{"bsby"}},
	{floating, "TORF", []string{"torf"}},
	{floating, "COF", []string{"cof"}},
	{floating, "MCLR", []string{"mclr"}},
	{floating, "EONIA", []string{"eonia"}},
}

// benchmarkPhrases are names of more than one word, or with other characters than letters. Of two with a common start
// the longer one comes first.
var benchmarkPhrases = []struct {
	words []string
	name  string
}{
	{[]string{"s/q mid-swaps", "s/q mid swaps", "s/q m/s", "s/q ms", "s/q swaps", "sq mid-swaps", "sq ms", "semi-quarterly mid-swaps", "semi-quarterly ms", "q/q ms", "q/q swaps", "s/a ms", "sa ms", "a/a ms", "semi ms", "annual ms"}, "midswaps"},
	{[]string{"mid-swaps", "mid swaps", "mid-swap", "mid swap", "m/s", "m.s."}, "midswaps"},
	{[]string{"us treasuries", "us treasury"}, "treasuries"},
	{[]string{"g-spread", "g spread", "g+t", "g + t"}, "gspread"}, // G+T+62.5 is a G-spread over Treasuries, in any currency
	{[]string{"i-spread", "i spread"}, "ispread"},
	{[]string{"z-spread", "z spread"}, "zspread"},
	{[]string{"s/q asw", "sq asw", "asset-swaps", "asset-swap", "asset swaps", "asset swap"}, "asw"},
	{[]string{"term sofr", "compounded daily sofr", "daily compounded sofr", "daily sofr", "compounded sofr", "cmpd sofr", "cpd sofr", "comp. sofr", "comp sofr", "cme term sofr", "t. sofr", "o/n sofr", "sofrrate"}, "sofr"},
	{[]string{"eur003m", "eur006m"}, "euribor"},
	{[]string{"compounded daily sonia", "daily compounded sonia", "daily sonia", "compounded sonia", "cmpd sonia", "cpd sonia", "comp. sonia", "comp sonia"}, "sonia"},
}

// phraseIndex is the index of benchmarkPhrases.
var phraseIndex = indexOf(len(benchmarkPhrases), func(row int) []string { return benchmarkPhrases[row].words })

// benchmarkSymbols are names with a euro sign.
var benchmarkSymbols = []struct{ written, name string }{{"€3m", "euribor"}, {"€6m", "euribor"}, {"€str", "estr"}, {"€ster", "estr"}, {"oat€i", "oati"}, {"oat €i", "oati"}}

// benchmarkLetters are letters whose meaning depends on the market and the currency. In each market the first row that
// has the letter and the currency counts. A row without a currency is for all others, also for none.
//   - G of a bond is gilts in sterling. Next to another currency it is the spread over an interpolated government curve.
//   - B of a bond is Bunds. In Australia and New Zealand it may as well be bank bills.
//   - T and B of a loan are names of several rates.
//   - S is SOFR or SONIA according to the currency, and N in Norwegian kroner NIBOR. SMS are swaps into that index, and TMS those into TONA.
var benchmarkLetters = []struct {
	word     string
	in       market
	currency string
	kind     benchmarkKind
	name     string
	index    string // of swaps
}{
	{"t", bonds, "", government, "UST", ""},
	{"b", bonds, "AUD", unsettled, "", ""},
	{"b", bonds, "NZD", unsettled, "", ""},
	{"b", bonds, "", government, "BUND", ""},
	{"g", bonds, "GBP", government, "UKT", ""},
	{"g", bonds, "none", government, "UKT", ""},
	{"g", bonds, "", swap, "G_SPREAD", ""},
	{"s", bonds, "USD", floating, "SOFR", ""},
	{"s", bonds, "GBP", floating, "SONIA", ""},
	{"s", bonds, "", unsettled, "", ""},
	{"n", bonds, "NOK", floating, "NIBOR", ""},
	{"h", bonds, "HKD", floating, "HIBOR", ""},
	{"sn", bonds, "GBP", floating, "SONIA", ""},
	{"sn", loans, "GBP", floating, "SONIA", ""},
	{"w", loans, "PLN", floating, "WIBOR", ""},
	{"c", loans, "DKK", floating, "CIBOR", ""},
	{"n", loans, "NOK", floating, "NIBOR", ""},
	{"sms", bonds, "USD", swap, "MS", "SOFR"},
	{"sms", bonds, "GBP", swap, "MS", "SONIA"},
	{"sms", bonds, "", swap, "MS", ""},
	{"tms", bonds, "", swap, "MS", "TONA"},
	{"s", loans, "USD", floating, "SOFR", ""},
	{"s", loans, "GBP", floating, "SONIA", ""},
	{"s", loans, "", unsettled, "", ""},
	{"b", loans, "AUD", floating, "BBSW", ""},
	{"b", loans, "NZD", floating, "BKBM", ""},
	{"b", loans, "", unsettled, "", ""},
	{"h", loans, "HKD", floating, "HIBOR", ""},
	{"p", loans, "USD", floating, "PRIME", ""},
	{"t", loans, "", unsettled, "", ""},
	{"g", loans, "", unsettled, "", ""},
}

// termLetters are letters that name an index in a currency if a term is before them: in SEK, 3mS is STIBOR, and S alone may
// be SOFR. So does 3m Eur in EUR.
var termLetters = []struct{ word, currency, name string }{{"s", "SEK", "stibor"}, {"eur", "EUR", "euribor"}}

// curveWords are words before a benchmark that say how it is interpolated or compounded.
var curveWords = []string{"interp.", "interp", "interpolated", "matched maturity", "matched-maturity", "curve-adjusted", "curve adjusted", "daily compounded", "compounded daily", "compounded", "cmpd", "cmp.", "cmp", "cpd", "daily", "term"}

// leastLine is the least number of two digits that is the line of a government's security: a smaller one may be a tenor.
const leastLine = 60

// numberedBenchmarks are the words after which a number without a unit is the benchmark's tenor in years: CT5.
var numberedBenchmarks = map[string]bool{"ct": true, "t": true, "ust": true}

// benchmarksByWord contains benchmarkNames by word, as benchmarks.
var benchmarksByWord = func() map[string]benchmark {
	all := map[string]benchmark{}
	for _, named := range benchmarkNames {
		for _, word := range named.words {
			b := benchmark{kind: named.kind, name: []byte(named.name)}
			if b.kind == floating {
				b.index = b.name
			}
			all[word] = b
		}
	}
	return all
}()

// benchmarkText contains the names and indices of benchmarkLetters as cells contain them.
var benchmarkText = func() map[string][]byte {
	all := map[string][]byte{}
	for _, b := range benchmarksByWord {
		all[string(b.name)] = b.name
	}
	return all
}()
