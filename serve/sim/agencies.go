package sim

import (
	"slices"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// agencyRatings are the ratings of a borrower as texts, "" where an agency has none, and their grade.
type agencyRatings struct {
	moodys, standardAndPoors, fitch string
	grade                           int // the middle of the notches, the worse of two; noGrade without ratings
}

const noGrade = -1

// rate draws a borrower's ratings: rarely one notch from its quality, some with an outlook.
func rate(d *dice, market api.Market, quality int) agencyRatings {
	share, known := calibration.Agencies[market]
	if !known {
		share = calibration.LoanAgencies
	}
	unrated := d.chance(calibration.UnratedShares[market])
	var found []int
	one := func(scale []string, share float64) string {
		notch := min(max(quality+pickWeighted(d, calibration.NotchOffsets...), 0), len(scale)-1)
		text := scale[notch]
		text = pickWeighted(d, choice(82, text), choice(7, text+" (stable)"), choice(5, text+" (neg)"), choice(3, "(P)"+text), choice(2, text+"/Sta"), choice(1, text+"(EXP)"))
		if !d.chance(share) || unrated {
			return ""
		}
		found = append(found, notch)
		return text
	}
	r := agencyRatings{grade: noGrade}
	r.moodys = one(calibration.MoodysScale, share.Moodys)
	r.standardAndPoors = one(calibration.OtherScale, share.StandardAndPoors)
	r.fitch = one(calibration.OtherScale, share.Fitch)
	if len(found) > 0 {
		slices.Sort(found)
		r.grade = found[len(found)/2]
	}
	return r
}

// lowestInvestment is the last notch of investment grade: BBB-.
const lowestInvestment = 9

// all returns the ratings that are there, in the order of the agencies, with a stroke between them.
func (r agencyRatings) all() string {
	text := ""
	for _, one := range []string{r.moodys, r.standardAndPoors, r.fitch} {
		if one != "" && text != "" {
			text += "/"
		}
		text += one
	}
	return text
}

// bondRatings returns the ratings as bond records show them.
func (c recordWriter) bondRatings(who issuer) api.BondRatings {
	r := who.agencies
	return api.BondRatings{
		Moodys: c.plain(presence(r.moodys), r.moodys), StandardAndPoors: c.plain(presence(r.standardAndPoors), r.standardAndPoors),
		Fitch: c.plain(presence(r.fitch), r.fitch),
	}
}

// ratingsOrNone returns the required rating of a priced bond, which can be {}.
func (c recordWriter) ratingsOrNone(who issuer) api.BondRatings {
	rating, _ := object(c, 1, c.bondRatings(who)).Get()
	return rating
}

// loanRating returns a text for every agency. Loans say NR, - or "" where bonds omit the member.
func (c recordWriter) loanRating(who issuer) api.LoanRating {
	or := func(text string) string {
		if none := pick(c.dice, "NR", "NR", "-", "", "WR"); text == "" {
			return none
		}
		return text
	}
	return api.LoanRating{Moodys: or(who.agencies.moodys), StandardAndPoors: or(who.agencies.standardAndPoors), Fitch: or(who.agencies.fitch)}
}

// grade returns a bond's grade in the words of its market.
func grade(who issuer, market api.Market) string {
	switch {
	case who.agencies.grade == noGrade:
		return "UNRATED"
	case who.agencies.grade <= lowestInvestment:
		return "INVESTMENT"
	case market == api.EM:
		return "SUB_INVESTMENT"
	}
	return "HIGH_YIELD"
}

// loanGrade returns the grade of a loan's borrower.
func loanGrade(who issuer) string {
	switch {
	case who.agencies.grade == noGrade:
		return "Unrated"
	case who.agencies.grade <= lowestInvestment:
		return "Investment grade"
	}
	return "Leveraged"
}
