package sim

import (
	"fmt"
	"strings"

	"dealflow/serve/sim/calibration"
)

// report is the text of a step of a deal.
type report struct{ headline, message string }

// reportOf returns the report of a step. what is its tranche or size, price the state of the price.
func reportOf(d *dice, kind stepKind, who, what, price string) report {
	lead := pick(d, calibration.Leads...)
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
		first = fmt.Sprintf("%s has mandated %s and %s to arrange investor calls. %s may follow, subject to market conditions.", who, lead, pick(d, calibration.Leads...), what)
	}
	return report{headline, passage(d, first)}
}

// passage returns a first sentence and some of the usual ones: mostly few, rarely all.
func passage(d *dice, first string) string {
	return passageOf(d, first, 1+min(int(d.lognormal(3.5, 0.7)), len(calibration.Remarks)))
}

func passageOf(d *dice, first string, count int) string {
	glue := pick(d, " ", " ", " ", "\r\n\r\n", "\n", "<br/>")
	sentences := append([]string{first}, some(d, count, calibration.Remarks)...)
	return strings.Join(sentences, glue)
}

// longHistory returns a deal history as one text, as priced bonds contain it.
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
