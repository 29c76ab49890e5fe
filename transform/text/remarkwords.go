package text

// topics are what remarks are about.
type topics uint32

const (
	aboutSize topics = 1 << iota
	aboutOrders
	aboutPrice // of the issue
	aboutFees
	aboutIndex // of a floating rate: its floor, its cap, its adjustment
	aboutSteps // of a margin or a coupon
	aboutRates // other measures of the same margin
	aboutYield
	aboutSpread
	aboutDebt // ratios other than debt over EBITDA
	aboutTerms
	aboutDue
	aboutCalendar
	aboutTime
	aboutLife
	aboutValue // fair value
	aboutOffer
	aboutMove // from earlier talk
	aboutTranche
	aboutTenor
	aboutLimit    // of the index or of the size
	aboutTranches // several of them
	aboutCoupon
	aboutCurve     // a spread of the same price over another curve
	aboutSaidYield // a yield that its word names; aboutYield are those without a word, too
	aboutPremium   // the new issue premium
	aboutSecurity  // which security it is

	aboutEverything topics = 1<<iota - 1
	aboutYields            = aboutYield | aboutSaidYield
)

// place is where the word of a remark is.
type place uint8

const (
	first place = iota // before what it is about, which has a number: floor 0%, util fee 10/20/40
	last               // after one number: 0% floor, 45% LTV
	alone              // act/360, by ticket
)

// remarkRow is a row of remarkWords.
type remarkRow struct {
	about topics
	at    place
	words []string
}

// remarkIndex is the index of remarkWords.
var remarkIndex = indexOf(len(remarkWords), func(row int) []string { return remarkWords[row].words })

// remarkWords are the words by which a remark says what it is about. Of two words with a common start the longer one comes first.
var remarkWords = []remarkRow{
	{aboutSize, first, []string{"deal size", "issue size", "total size", "tranche size", "size"}},
	{aboutSize, alone, []string{"will not grow", "won't grow", "no grow", "no-grow", "not growing", "wng", "capped", "no upsize", "benchmark size", "benchmark", "bmk", "upsized"}},
	{aboutOrders, first, []string{"total books", "combined books", "final books", "books", "book", "bks", "orderbook", "order book", "orders", "demand", "iois", "ioi"}},
	{aboutOrders, last, []string{"covered", "oversubscribed", "subscribed", "cover"}},
	{aboutOffer, last, []string{"accounts", "accts", "accs", "investors", "buyers", "lines", "orders", "tickets"}},
	{aboutOrders, alone, []string{"book covered", "books covered", "covered", "well covered", "oversubscribed"}},
	{aboutPrice, first, []string{"re-offer price", "reoffer price", "re-offer", "reoffer", "issue price", "offer price", "cash price", "price", "oid", "px"}},
	{aboutPrice, last, []string{"oip", "oid", "issue price", "re-offer", "reoffer"}},
	{aboutFees, first, []string{"util fees", "util fee", "util. fee", "utilisation fees", "utilisation fee", "utilization fees", "utilization fee", "utilisation", "utilization", "utils", "util", "commitment fee", "commit fee", "cf", "undrawn fee", "undrawn", "upfront fee", "up-front fee", "upfront", "uf", "arrangement fee", "arr. fee", "arr fee", "participation fee", "part. fee", "part fee", "ticking fees", "ticking fee", "agency fee", "mla fee", "fees", "fee"}},
	{aboutFees, alone, []string{"plus util fee", "util fee", "util fees", "utilisation fee", "utilization fee", "plus utilisation fee"}},
	{aboutFees, last, []string{"util fee", "utilisation fee", "utilization fee", "util", "commitment fee", "cf", "undrawn", "upfront fee", "upfront", "up-front", "uf", "arrangement fee", "participation fee", "ticking fee", "fees", "fee"}},
	{aboutIndex, first, []string{"index floor", "floored at", "floored", "floor", "flr", "collar", "csa", "cas"}},
	{aboutLimit, first, []string{"capped at", "cap"}},
	{aboutIndex, last, []string{"index floor", "libor floor", "sofr floor", "euribor floor", "sonia floor", "floor", "flr", "cap", "csa", "cas"}},
	{aboutIndex, alone, []string{"no floor", "zero floor", "floored at zero", "no csa", "no cas", "csa", "cas"}},
	{aboutSteps, first, []string{"stepping up to", "stepping down to", "stepping to", "stepping", "steps up to", "steps down to", "steps to", "steps up", "steps down", "steps", "step-downs", "step-down", "step downs", "step down", "stepdowns", "stepdown", "step-ups", "step-up", "step ups", "step up", "ratchets", "ratchet", "margin ratchet", "leverage grid", "margin grid", "grid", "esg ratchet", "esg", "kpis", "kpi", "sll", "sustainability"}},
	{aboutSteps, last, []string{"step-downs", "step-down", "step downs", "step down", "stepdowns", "stepdown", "step-up", "step up", "margin ratchet", "esg ratchet", "ratchet", "esg"}},
	{aboutSteps, alone, []string{"with step-downs", "step-downs", "stepdowns", "margin ratchet", "esg ratchet", "esg-linked", "with ratchet", "ratchet", "subject to ratchet", "leverage grid", "sll"}},
	{aboutRates, first, []string{"abr", "alternate base rate", "alt base rate", "base rate", "all-in spread", "all-in", "all in", "aisc", "dm", "disc. margin", "disc margin", "discount margin", "equiv. to", "equivalent to", "equates to", "equating to", "equal to"}},
	{aboutRates, last, []string{"dm", "all-in", "all in"}},
	{aboutSaidYield, first, []string{"all-in yield", "all in yield", "yielding", "yield", "yld", "ytm", "ytw", "ytc", "3yr yield", "4yr yield", "3-yr yield", "4-yr yield"}},
	{aboutSaidYield, last, []string{"ytm", "ytw", "ytc", "yield", "yld"}},
	{aboutCurve, first, []string{"z-spread", "z spread", "g-spread", "g spread", "i-spread", "i spread", "asw"}},
	{aboutCalendar, alone, []string{"reset at initial margin", "reset at initial spread", "no step-up", "no step"}},
	{aboutCalendar, last, []string{"day lag", "days lag", "d lag", "bd lag", "day lookback", "days lookback", "d lookback"}},
	{aboutDebt, first, []string{"ltv", "icr", "dscr", "fccr", "equity"}},
	{aboutDebt, last, []string{"ltv", "equity", "icr", "dscr"}},
	{aboutDebt, alone, []string{"cov-lite", "cov lite", "covlite", "covenant-lite", "covenant lite"}},
	{aboutTerms, first, []string{"soft call", "soft-call", "hard call", "call protection", "non-call", "noncall", "nc", "par call", "make whole", "make-whole", "mwc", "extension", "amort", "amortising", "amortizing", "springing maturity", "callable"}},
	{aboutDue, first, []string{"maturity", "tenor", "due"}},
	{aboutTerms, last, []string{"soft call", "soft-call", "hard call", "call protection", "par call", "amort", "amortisation", "amortization"}},
	{aboutTerms, alone, []string{"ext. at lenders' discretion", "ext at lenders' discretion", "extension at lenders' discretion", "at lenders' discretion", "at lender's discretion", "at lenders' option", "lenders' discretion", "subject to lender consent", "at borrower's option", "at the borrower's option", "bullet", "unsecured", "secured", "senior notes", "senior", "notes", "bonds", "guaranteed", "portable", "portability", "amortising", "amortizing", "amort", "amortiser"}},
	{aboutTranche, alone, []string{"rcf", "tla", "tlb", "term loan b", "term loan a", "term loan", "tl", "revolver"}},
	{aboutTranches, alone, trancheWords},
	{aboutCoupon, first, []string{"coupon", "cpn"}},
	{aboutCoupon, last, []string{"coupon", "cpn"}},
	{aboutCalendar, alone, []string{"act/360", "act/365", "act/act", "a/360", "a/365", "30/360", "30e/360", "daily compounded", "daily comp.", "daily comp", "compounded daily", "compounded", "comp. daily", "per annum", "a.a.", "a.a", "p.a.", "p.a", "pa", "s.a.", "s.a", "sa", "s/a", "semi-annually", "semi-annual", "semiannual", "semi", "annually", "annual", "ann.", "ann", "quarterly", "qtrly", "q/q", "monthly", "paid quarterly", "paid annually", "paid semi"}},
	{aboutTime, first, []string{"as of", "as at", "books close", "books closing", "closing at", "timing", "settles", "settlement", "commitments due", "commitments by"}},
	{aboutTime, first, []string{"skewed to", "skewed"}},
	{aboutTime, last, []string{"am", "pm", "uk", "ukt", "uk time", "cet", "ldn", "london", "london time", "hkt", "sgt", "nyt", "gmt", "bst"}},
	{aboutTime, alone, []string{"books open", "books closed", "going subject", "subject", "allocs out", "allocs to follow", "allocations to follow", "pricing today", "pricing tomorrow", "pricing later today", "pricing this week", "today", "tomorrow", "later today", "this morning", "this afternoon", "today's business", "update", "updated", "latest update", "latest", "last update", "last heard", "for now", "at this stage", "so far", "currently", "as expected", "unchanged", "no change", "closed", "at close", "at closing", "post closing", "post-closing", "on closing", "at signing", "day one", "day 1", "pro forma", "pf"}},
	{aboutLife, first, []string{"weighted average life", "average life", "avg. life", "avg life", "av. life", "av life", "wal", "w.a.l.", "al", "duration"}},
	{aboutLife, last, []string{"weighted average life", "average life", "avg. life", "avg life", "av. life", "av life", "wal", "al"}},
	{aboutLife, last, []string{"conv.", "conv", "convention", "yield convention"}},
	{aboutValue, first, []string{"fair value", "fv"}},
	{aboutPremium, last, []string{"new issue premium", "nip", "nic"}},
	{aboutPremium, first, []string{"new issue premium", "nip", "nic"}},
	{aboutLife, alone, []string{"to first call", "to the first call", "to call", "to maturity"}},
	{aboutOffer, alone, []string{"144a for life", "144a/regs for life", "144a/reg s for life", "144a/reg s", "144a / reg s", "144a/regs", "reg s/144a", "regs/144a", "144a", "3(a)(2)", "3(a)2", "3a2", "reg s only", "reg s", "regs", "sec-registered", "sec registered", "green", "social", "sustainable", "fxd", "fixed", "fixed rate", "sukuk", "multi-ccy", "multi-currency", "multicurrency", "debut", "inaugural", "pp", "private placement", "expected", "exp.", "indicative", "indic.", "indic"}},
}
