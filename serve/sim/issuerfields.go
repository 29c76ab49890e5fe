package sim

import (
	"strings"

	"dealflow/schemas/api"
)

// bondBorrower returns an issuer as bond records show it.
func (c recordWriter) bondBorrower(who issuer) api.BondBorrower {
	return api.BondBorrower{
		Name: c.say(c.spelled(who.name)), Region: who.region, Type: who.kind,
		Country: c.word(0.95, who.country), Sector: c.word(0.8, who.sector),
		Subsector: c.word(0.4, who.subsector), Ticker: c.plain(0.7, who.ticker),
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
		Country: c.word(0.95, who.country), Type: c.word(0.8, who.kind), Sector: c.word(0.85, who.sector),
		Subsector: c.word(0.4, who.subsector), SecondarySubsector: c.word(0.2, who.second),
		Grade: c.word(0.6, loanGrade(who)), Ticker: c.plain(0.3, who.ticker),
	}
	asset := c.word(0.97, plan.asset)
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

// sponsors returns the sponsor group, which can be {}. A buyout always names its sponsors.
func (c recordWriter) sponsors(plan loanPlan) api.LoanSponsorGroup {
	list := []api.LoanSponsor{}
	for _, name := range plan.sponsors {
		list = append(list, api.LoanSponsor{Name: c.say(name)})
	}
	named := 0.9
	if nameless := c.chance(0.06); plan.buyout() {
		named = 1
	} else if nameless {
		list = []api.LoanSponsor{}
	}
	group := api.LoanSponsorGroup{SponsorBacked: opt(c, 0.97, len(plan.sponsors) > 0), Sponsors: opt(c, named, list)}
	value, _ := object(c, 1, group).Get()
	if plan.buyout() {
		return group
	}
	return value
}
