package sim

import (
	"strings"

	"dealflow/schemas/api"
)

// bondBorrower is an issuer as bond records show it.
func (c clerk) bondBorrower(who issuer) api.BondBorrower {
	return api.BondBorrower{
		Name: c.say(c.spelled(who.name)), Region: who.region, Type: who.kind,
		Country: c.text(0.95, who.country), Sector: c.text(0.8, who.sector),
		Subsector: c.text(0.4, who.subsector), Ticker: c.text(0.7, who.ticker),
	}
}

// spelled is a name as one clerk or another spells its ending.
func (c clerk) spelled(name string) string {
	if stem, found := strings.CutSuffix(name, " plc"); c.chance(0.3) && found {
		return stem + " PLC"
	}
	return name
}

// loanBorrower is an issuer as loan records show it. Only priced records have ratings and the
// leveraged multiple.
func (c clerk) loanBorrower(who issuer, plan loanPlan, market api.Market, priced bool) api.LoanBorrower {
	borrower := api.LoanBorrower{
		Name: c.say(c.spelled(who.name)), Region: who.region,
		Country: c.text(0.95, who.country), Type: c.text(0.8, who.kind), Sector: c.text(0.85, who.sector),
		Subsector: c.text(0.4, who.subsector), SecondarySubsector: c.text(0.2, subsectors[who.quality%len(subsectors)]),
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

// levered is the share of borrowers whose debt is given as a multiple.
func levered(market api.Market) float64 {
	if market == api.LL {
		return 0.55
	}
	return 0.05
}

// sponsors is the sponsor group, which may be {}.
func (c clerk) sponsors(plan loanPlan) api.LoanSponsorGroup {
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

var (
	moodys = []string{"Aaa", "Aa1", "Aa2", "Aa3", "A1", "A2", "A3", "Baa1", "Baa2", "Baa3", "Ba1", "Ba2", "Ba3", "B1", "B2", "B3", "Caa1", "Caa2", "Caa3", "Ca", "C"}
	others = []string{"AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "BB-", "B+", "B", "B-", "CCC+", "CCC", "CCC-", "CC", "C"}
)

// notch is an agency's view: rarely one off the others', with an outlook, or none.
func (c clerk) notch(scale []string, quality int) string {
	off := pickWeighted(c.dice, []weighted[int]{{75, 0}, {12, 1}, {13, -1}})
	text := scale[min(max(quality+off, 0), len(scale)-1)]
	return pickWeighted(c.dice, []weighted[string]{{80, text}, {6, text + " (stable)"}, {5, text + " (neg)"}, {3, "(P)" + text}, {2, text + "/Sta"}, {1, text + "(EXP)"}, {3, "NR"}})
}

// presence of the agencies' ratings by market, of records that have any.
var agencies = map[api.Market][3]float64{api.IG: {0.70, 0.76, 0.57}, api.HY: {0.91, 0.93, 0.41}, api.EM: {0.57, 0.52, 0.54}}

func (c clerk) bondRatings(who issuer, market api.Market) api.BondRatings {
	share := agencies[market]
	return api.BondRatings{
		Moodys:           c.text(share[0], c.notch(moodys, who.quality)),
		StandardAndPoors: c.text(share[1], c.notch(others, who.quality)),
		Fitch:            c.text(share[2], c.notch(others, who.quality)),
	}
}

// ratingsOrNone is the required rating of a priced bond, which may be {}.
func (c clerk) ratingsOrNone(who issuer, market api.Market) api.BondRatings {
	rating, _ := object(c, 1, c.bondRatings(who, market)).Get()
	return rating
}

// loanRating has a text for every agency: loans say NR, - or nothing where bonds leave it out.
func (c clerk) loanRating(who issuer) api.LoanRating {
	or := func(scale []string, share float64) string {
		text, none := c.notch(scale, who.quality), pick(c.dice, "NR", "NR", "-", "", "WR")
		if c.chance(share) {
			return text
		}
		return none
	}
	return api.LoanRating{Moodys: or(moodys, 0.6), StandardAndPoors: or(others, 0.6), Fitch: or(others, 0.3)}
}

// grade is a bond's grade in its market's words.
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
