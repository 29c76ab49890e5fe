package sim

import (
	"fmt"
	"strings"
)

// report is what is said when something happens to a deal.
type report struct{ headline, message string }

// reportOf words a step. what is the tranche or size it is mostly about, price the state of its
// price.
func reportOf(d *dice, kind stepKind, who, what, price string) report {
	lead := pick(d, leads...)
	var headline, first string
	switch kind {
	case stepThoughts:
		headline = fmt.Sprintf("%s opens books on %s: %s", who, what, price)
		first = fmt.Sprintf("Books are open for %s at initial price thoughts of %s. %s is billing and delivering.", what, price, lead)
	case stepGuidance:
		headline = fmt.Sprintf("%s %s: guidance %s", who, what, price)
		first = fmt.Sprintf("Guidance is out at %s, after demand that the leads call solid.", price)
	case stepRevised:
		headline = fmt.Sprintf("%s tightens %s to %s", who, what, price)
		first = fmt.Sprintf("Guidance was revised to %s, will price in range; books passed the size twice over.", price)
	case stepFinal:
		headline = fmt.Sprintf("%s sets size of %s at %s", who, what, price)
		first = fmt.Sprintf("The size is set. The deal is launched at %s; allocations are expected later today.", price)
	case stepPrice:
		headline = fmt.Sprintf("%s prices %s at %s", who, what, price)
		first = fmt.Sprintf("Priced. The %s came at %s, through the lead %s.", what, price, lead)
	case stepAddLine:
		headline = fmt.Sprintf("%s adds %s", who, what)
		first = fmt.Sprintf("A further tranche, %s, has been added after reverse inquiry.", what)
	case stepDropLine:
		headline = fmt.Sprintf("%s drops a tranche", who)
		first = "One tranche has been dropped; orders may be moved to the others until noon London."
	case stepPostpone:
		headline = fmt.Sprintf("%s puts %s off", who, what)
		first = "The deal has been postponed owing to market conditions. The leads will come back to investors."
	case stepCommitments:
		headline = fmt.Sprintf("%s: commitments due on %s", who, what)
		first = "Commitments are due today at 17:00; lenders get a 50bp fee for tickets of €50m and above."
	default:
		headline = fmt.Sprintf("%s %s", who, pick(d, "mandates banks for "+what, "to meet investors for "+what, "plans "+what, "picks leads for "+what))
		first = fmt.Sprintf("%s has mandated %s and %s to arrange investor calls. %s may follow, subject to market conditions.", who, lead, pick(d, leads...), what)
	}
	return report{headline, passage(d, first)}
}

// passage follows a first sentence with some of the usual ones: mostly few, rarely all of them.
func passage(d *dice, first string) string {
	return passageOf(d, first, 1+min(int(d.lognormal(3.5, 0.7)), len(remarks)))
}

func passageOf(d *dice, first string, count int) string {
	glue := pick(d, " ", " ", " ", "\r\n\r\n", "\n", "<br/>")
	sentences := append([]string{first}, some(d, count, remarks)...)
	return strings.Join(sentences, glue)
}

var leads = banks[:24]

var remarks = []string{
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

// longHistory is a deal history as one text, as priced bonds carry it.
func longHistory(d *dice, entries []string) string {
	var text strings.Builder
	for i, entry := range entries {
		if i > 0 {
			text.WriteString(pick(d, "\n\n", "\r\n\r\n"))
		}
		text.WriteString(passageOf(d, entry, d.between(3, 11)))
	}
	return text.String()
}
