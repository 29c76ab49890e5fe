package calibration

// Fact is something that is true of a deal. Facts are bits: a set of them is their sum.
type Fact uint32

// The facts of deals.
const (
	Bond Fact = 1 << iota
	Loan
	Rated
	Labelled      // green, social or sustainable
	Linked        // sustainability-linked
	Control       // a put on a change of control, or its like in a loan
	MakeWhole     // a make-whole call
	CleanUp       // a clean-up call
	Callable      // a first call
	Covered       // a covered bond
	Subordinated  // below senior
	Company       // neither a bank nor a state
	Official      // a state, or owned by one
	Increase      // an increase of a line or a loan
	Refinancing   // of a loan
	Repricing     // of a loan
	Buyout        // of a loan, by sponsors
	Takeover      // of a loan, by the borrower
	CovenantLight // a loan without maintenance covenants
	Club          // a club loan
	Asset         // asset finance
	Leveraged     // a leveraged loan
	Corporate     // a corporate loan
	Multiple      // of several tranches
)

// Sentence is a sentence of messages and deal histories of the deals of which all its facts are true. Of words in
// brackets with strokes between them, [one|another], one is chosen. Words in braces are taken from the deal.
type Sentence struct {
	When Fact
	Text string
}

// Sentences are what messages say besides the step that they report. Source: invented.
var Sentences = []Sentence{
	{Bond | Company, "[Proceeds|Net proceeds|The proceeds] will [refinance existing debt|repay bank debt|go to general corporate purposes|fund capital expenditure][ and pay fees and expenses||, the company said]."},
	{Bond | Official, "[The funding programme for the year|This year's programme] is [about half|more than half|nearly] done[ after this deal|, the treasury said|]."},
	{Bond, "[It last came to the market|It was last seen in primary|Its last deal was] in {before}[, in another currency|, with a shorter maturity|, at a wider level|]."},
	{Bond, "[A banker away from the trade said|One syndicate head said|A rival said]: \"[It's a fair level|That's a decent print|It got there in the end], but there's no free lunch\"."},
	{Bond, "[Investors said|Accounts said|Buyers thought that] the deal looked \"[cheap|fair|full]\" to the curve, by [around|some|up to] {few}bp."},
	{Bond, "Secondary levels were quoted [{few}/32 either side of|a little above|a touch below|around] reoffer[ in early trading| by late afternoon|]."},
	{Bond, "[Roadshow|Investor calls|Meetings]: London [(Mon)|(Tue)], Zürich [(Tue)|(Wed)], 東京 (Wed) & São Paulo (Thu)."},
	{Bond | Rated, "[Ratings|Expected ratings|The ratings are]: {ratings}."},
	{Bond | Rated, "The agencies have it at {ratings}[, all unchanged|, reviewed last quarter|]."},
	{Bond, "[Orders|Bids] came from [real money|asset managers|a mix of banks and funds|insurers and pension funds] – [fast money was cut back|hedge funds got little|the rest went to hedge funds]."},
	{Bond, "[Books|Final books|Orders] were [above|in excess of|about] {books}[ at the end| when they closed|, good at reoffer|]."},
	{Bond, "[The leads' own interest is|JLM interest is] included in the books (incl. {jlm} JLM)."},
	{Bond, "[Fair value was seen|Fair value was put|Comparables pointed] at [around|about] the level of [the curve|secondary|recent deals], so that the [concession|premium] [is small|is what the market asks for now|comes to a few basis points]."},
	{Bond | Control, "[The documents have|There is|It carries] a change-of-control put at 101%[ on a loss of investment grade||, as is usual]."},
	{Bond | MakeWhole, "[It has|There is|The documents allow] a make-whole call[ and a 3-month par call| until the par call date|]."},
	{Bond | CleanUp, "A clean-up call [applies|comes in] once [75%|80%|85%] of the line has been bought back."},
	{Bond | Callable, "The first call is [after the non-call period|on the first reset date|as usual for the structure], the structure is {what}."},
	{Bond, "Format: {format}[, bearer|, registered]; listing: [Luxembourg (Euro MTF)|Dublin|London|Frankfurt]; denominations: [100k+1k|200k+1k|1k+1k]."},
	{Bond, "[The documents are|It comes as] {format}[, off the issuer's programme|, standalone|]."},
	{Bond, "UK MiFIR/PRIIPs: [no sales to retail|professionals only|no key information document] in the EEA or the UK."},
	{Bond | Labelled, "The {label} framework has a second-party opinion; [an amount equal to the net proceeds|the money raised] goes to eligible projects."},
	{Bond | Labelled, "[Dark green accounts|Funds with a label mandate|ESG portfolios] [took|bought|asked for] [more than half|a good part|about 40%] of the {label} [line|paper]."},
	{Bond | Linked, "[The coupon steps up|There is a step-up] by 25bp if the [sustainability target|sustainability performance target] is missed[ in the test year|]."},
	{Bond | Covered, "[The cover pool|The pool] [is domestic mortgages|has mortgages and public-sector loans|is prime mortgages], with [overcollateralisation of about 20%|a comfortable surplus]."},
	{Bond | Subordinated, "The [paper|line] is below senior[, and so is its price|; accounts that may not buy it stayed away|]."},
	{Bond | Increase, "[The new paper|The tap] is fungible with the line [from the start|after 40 days|at once]."},
	{Bond, "{lead} [is billing and delivering|handles logistics|runs the books][, with {second}| for the leads|]."},
	{Bond, "[The size|The amount] [was capped|is what the issuer wanted|leaves room for a tap]: {size}."},
	{Bond | Multiple, "[Another tranche|A second line] [prices|comes] [alongside|on the same day][, through the same banks|]."},
	{Bond, "[Attrition was low|A few orders dropped|Hardly an order dropped] when the level was [moved|set|tightened]."},
	{Loan, "[The facilities|The money] [will|is to] [run for|be outstanding for up to] {tenor}."},
	{Loan | Rated, "[The borrower is rated|Ratings of the borrower:|Corporate ratings are] {ratings}."},
	{Loan | Refinancing, "[Proceeds|The money] [will refinance|repay|take out] existing [debt|facilities|bank debt][ due in the next two years||, and pay fees]."},
	{Loan | Repricing, "[Lenders are asked to agree to|The borrower asks for] a lower margin[; those who do not are repaid|, with soft call protection of six months|]."},
	{Loan | Buyout, "[The money backs|It finances|The debt supports] the buyout by {sponsor}[, with equity of about 45%|, which closes next quarter|]."},
	{Loan | Takeover, "[It pays for an acquisition|It finances a purchase in the same trade|The borrower buys a competitor with it][, subject to approval||, to close within months]."},
	{Loan | CovenantLight, "[It is covenant-lite|There are no maintenance covenants|The terms are cov-lite][, in line with the market||, as lenders have come to expect]."},
	{Loan | Leveraged, "[Institutional lenders|CLOs|Credit funds] [took|committed to|hold] [most of it|about two thirds|the larger part]."},
	{Loan | Leveraged, "A lender [away from the deal|who passed|in the existing loan] said: \"[It's tight|Fair for the credit|There is not much to buy], but [cash is there|we are in|it clears]\"."},
	{Loan | Club, "[It is a club deal|The loan was placed with a club] of [relationship|core|house] banks."},
	{Loan | Corporate, "[The syndicate|The bank group] is [much the same|a little smaller|unchanged] [as in|since] the last loan[, in {before}|]."},
	{Loan | Corporate, "[Ancillary business|Side business] [decides who is in|is what the banks count on|pays for the rest]."},
	{Loan | Asset, "[The security is|It is secured on] the {asset} [assets|portfolio] that it pays for[, and their cash flow|]."},
	{Loan | Asset, "[Export credit agencies|Development banks|Insurers] [may join|have shown interest|take the long end]."},
	{Loan | Linked, "The margin [moves by|steps by] {few}bp with the borrower's [sustainability|emissions] targets."},
	{Loan | Labelled, "It is a green loan[ under the loan market's principles|: the money may pay for eligible projects only|]."},
	{Loan | Control, "[A change of control|A sale of the borrower] [repays it|lets lenders out]."},
	{Loan, "{lead} [is agent|is sole coordinator|acts as documentation agent][, with {second} as arranger|]."},
	{Loan, "[Lenders get|The fee is|Tickets of {ticket} and above get] [an upfront fee|a participation fee|a fee by size of the ticket]."},
	{Loan, "[The documents follow|Terms follow] [the last deal|the market's standard form|those of a year ago][ closely|, with small changes|]."},
	{Loan | Increase, "[The add-on|It] [is fungible with|ranks with|has the terms of] the loan[ that is outstanding|]."},
	{Loan | Multiple, "[All tranches|The tranches] [share|have] the same [security|guarantors|documents]."},
	{Loan, "[The borrower|Its treasurer] [last borrowed|was last in the loan market] in {before}."},
}

// Opening is how a step is reported: a headline and the first sentence of a message, in the form of Sentence.
type Opening struct{ Headline, First string }

// BondOpenings and LoanOpenings are the openings of each step of a deal. Source: invented.
var (
	BondOpenings = map[string]Opening{
		"news": {
			"{who} [mandates banks for|meets accounts for|plans|picks leads for] {what}",
			"{who} has [mandated|picked|hired] {lead} and {second} to arrange [investor calls|meetings|a series of calls]. A deal of {what} may follow, subject to [market conditions|demand|the market].",
		},
		"thoughts": {"{who} opens books on {what}: {price}", "Books are open for {what} at [initial price thoughts of|first levels of] {price}. {lead} is [billing and delivering|running the books]."},
		"guidance": {"{who} {what}: guidance {price}", "[Guidance is out|Leads have gone out with guidance] at {price}, after [demand that the leads call solid|a busy morning|a steady start]."},
		"revised":  {"{who} [revises|moves] {what} to {price}", "Guidance [was revised|has moved] to {price}; [books have grown|demand has held|orders are still coming in]."},
		"final":    {"{who} sets size of {what} at {price}", "The size is set at {size}. The deal is [launched|done] at {price}; allocations are expected [later today|this afternoon|shortly]."},
		"price":    {"{who} prices {what} at {price}", "Priced. The {what} came at {price}, through [the lead|the books of] {lead}."},
		"added":    {"{who} adds {what}", "A further tranche, {what}, has been added after [reverse inquiry|early demand]."},
		"dropped":  {"{who} drops a tranche", "One tranche has been dropped; orders may be moved to the others until [noon|one o'clock] London."},
		"off":      {"{who} puts {what} off", "The deal has been postponed owing to [market conditions|volatility|the news]. The leads will come back to [investors|accounts]."},
	}
	LoanOpenings = map[string]Opening{
		"news": {
			"{who} [mandates banks for|sounds out lenders on|plans|picks arrangers for] {what}",
			"{who} has [mandated|picked|asked] {lead} and {second} to arrange [a loan|facilities|a syndication]: {what}.",
		},
		"thoughts":    {"{who} launches {what}: {price}", "{what} [was launched|went into syndication|was presented to lenders] at a margin of {price}. {lead} is [coordinating|taking commitments]."},
		"guidance":    {"{who} {what}: talk {price}", "The margin is talked at {price}, after [a bank meeting|a lender call|first feedback]."},
		"revised":     {"{who} [flexes|changes terms of] {what} to {price}", "The terms [were changed|have moved]: the margin is now {price}; [lenders have until the same day to recommit|the date for commitments stays]."},
		"final":       {"{who} allocates {what} at {price}", "Allocations are [out|with lenders] for {what}, at a margin of {price}."},
		"price":       {"{who} completes {what} at {price}", "Done. {what} [was placed|cleared|closed] at {price}, arranged by {lead}."},
		"added":       {"{who} adds a tranche to {what}", "A further tranche has been added after [feedback|demand] from lenders."},
		"dropped":     {"{who} drops a tranche", "One tranche has been dropped; commitments may be moved to the others."},
		"off":         {"{who} puts {what} off", "The loan has been postponed owing to [market conditions|a change of plan]. The arrangers will come back to lenders."},
		"commitments": {"{who}: commitments due on {due}", "Commitments are due [today|by the end of the day]; lenders get [a 50bp fee|a fee of 75bp|an upfront fee] for tickets of {ticket} and above."},
	}
)
