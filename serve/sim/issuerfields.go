package sim

import (
	"strings"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// bondBorrower returns an issuer as bond records show it.
func (c recordWriter) bondBorrower(who issuer) api.BondBorrower {
	return api.BondBorrower{
		Name: c.say(c.spelled(who.name)), Region: who.region, Type: who.kind,
		Country: c.text(0.95, who.country), Sector: c.text(0.8, who.sector),
		Subsector: c.text(0.4, who.subsector), Ticker: c.text(0.7, who.ticker),
	}
}

// spelled returns a name with one of the spellings of its ending.
func (c recordWriter) spelled(name string) string {
	if stem, found := strings.CutSuffix(name, " plc"); c.chance(0.3) && found {
		return stem + " PLC"
	}
	return name
}

// loanBorrower returns an issuer as loan records show it. Only priced records have ratings and the leveraged multiple.
func (c recordWriter) loanBorrower(who issuer, plan loanPlan, market api.Market, priced bool) api.LoanBorrower {
	borrower := api.LoanBorrower{
		Name: c.say(c.spelled(who.name)), Region: who.region,
		Country: c.text(0.95, who.country), Type: c.text(0.8, who.kind), Sector: c.text(0.85, who.sector),
		Subsector: c.text(0.4, who.subsector), SecondarySubsector: c.text(0.2, calibration.Subsectors[who.quality%len(calibration.Subsectors)]),
		Grade: c.text(0.6, pick(c.dice, "Leveraged", "Investment grade", "Unrated")), Ticker: c.text(0.3, who.ticker),
	}
	asset := c.text(0.97, plan.asset)
	if market == api.AF {
		borrower.AssetCategory = asset
	}
	multiple := c.text(levered(market), pick(c.dice, "5.2x", "4.5x/6.0x", "3.75x net", "4.8x", "6.1x"))
	rating := c.loanRating(who)
	if priced {
		borrower.LeveragedMultiple, borrower.Ratings = multiple, api.Some(rating)
	}
	borrower.Sponsors = c.sponsors(plan)
	return borrower
}

// levered returns the share of borrowers whose debt is given as a multiple.
func levered(market api.Market) float64 {
	if market == api.LL {
		return 0.55
	}
	return 0.05
}

// sponsors returns the sponsor group, which can be {}.
func (c recordWriter) sponsors(plan loanPlan) api.LoanSponsorGroup {
	list := []api.LoanSponsor{}
	for _, name := range plan.sponsors {
		list = append(list, api.LoanSponsor{Name: c.say(name)})
	}
	if nameless := c.chance(0.06); nameless {
		list = []api.LoanSponsor{}
	}
	group := object(c, 1, api.LoanSponsorGroup{
		SponsorBacked: opt(c, 0.97, len(plan.sponsors) > 0),
		Sponsors:      opt(c, 0.9, list),
	})
	value, _ := group.Get()
	return value
}

// notch returns an agency's rating: rarely one notch from the issuer's quality, with an outlook, or none.
func (c recordWriter) notch(scale []string, quality int) string {
	off := pickWeighted(c.dice, calibration.NotchOffsets...)
	text := scale[min(max(quality+off, 0), len(scale)-1)]
	return pickWeighted(c.dice,
		choice(80, text), choice(6, text+" (stable)"), choice(5, text+" (neg)"), choice(3, "(P)"+text), choice(2, text+"/Sta"), choice(1, text+"(EXP)"), choice(3, "NR"))
}

func (c recordWriter) bondRatings(who issuer, market api.Market) api.BondRatings {
	share := calibration.Agencies[market]
	return api.BondRatings{
		Moodys:           c.text(share.Moodys, c.notch(calibration.MoodysScale, who.quality)),
		StandardAndPoors: c.text(share.StandardAndPoors, c.notch(calibration.OtherScale, who.quality)),
		Fitch:            c.text(share.Fitch, c.notch(calibration.OtherScale, who.quality)),
	}
}

// ratingsOrNone returns the required rating of a priced bond, which can be {}.
func (c recordWriter) ratingsOrNone(who issuer, market api.Market) api.BondRatings {
	rating, _ := object(c, 1, c.bondRatings(who, market)).Get()
	return rating
}

// loanRating returns a text for every agency. Loans say NR, - or "" where bonds omit the member.
func (c recordWriter) loanRating(who issuer) api.LoanRating {
	or := func(scale []string, share float64) string {
		text, none := c.notch(scale, who.quality), pick(c.dice, "NR", "NR", "-", "", "WR")
		if c.chance(share) {
			return text
		}
		return none
	}
	return api.LoanRating{Moodys: or(calibration.MoodysScale, 0.6), StandardAndPoors: or(calibration.OtherScale, 0.6), Fitch: or(calibration.OtherScale, 0.3)}
}

// grade returns a bond's grade in the words of its market.
func grade(who issuer, market api.Market) string {
	switch {
	case who.quality%7 == 6:
		return "UNRATED"
	case who.quality <= 9:
		return "INVESTMENT"
	case market == api.EM:
		return "SUB_INVESTMENT"
	}
	return "HIGH_YIELD"
}
