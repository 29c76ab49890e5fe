package calibration

// Remarks are sentences of messages and deal histories.
var Remarks = []string{
	"Proceeds will refinance existing debt and pay fees and expenses.",
	"The borrower last came to the market in 2023, when it raised $750m of 5yr notes at T+180bp.",
	"A banker away from the trade said: \"It's a fair level, but there's no free lunch\".",
	"Investors said the deal looked \"cheap\" to the curve, by around 5bp-7bp.",
	"Secondary levels were quoted -0.125 to +0.25 around reoffer.",
	"Roadshow: London (Mon), Zürich (Tue), 東京 (Wed) & São Paulo (Thu).",
	"Ratings: Ba2/BB/BB+ (stable/stable/positive).",
	"Orders came from more than 120 accounts – real money took about two thirds.",
	"The leads' own interest is included in the books (incl. 150m JLM).",
	"Fair value was seen at mid-swaps plus 95bp to 100bp, so that the concession comes to 3bp–5bp.",
	"The deal carries a make-whole call, a 3-month par call and a change-of-control put at 101%.",
	"Format: Reg S, bearer; listing: Luxembourg (Euro MTF); denominations: 100k+1k.",
	"UK MiFIR/PRIIPs: no sales to retail in the EEA or the UK.",
	"The framework has a second-party opinion; an amount equal to the net proceeds goes to eligible green projects.",
}
