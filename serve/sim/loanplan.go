package sim

import (
	"fmt"
	"slices"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// loanPlan is the final result of a loan. Records show it step by step.
type loanPlan struct {
	issuer   issuer
	sponsors []string
	asset    string // asset that asset finance pays for
	purpose  int    // index of calibration.Purposes
	club     bool
	addOn    bool
	tranches []loanTranche
}

// loanTranche is one facility of a loan.
type loanTranche struct {
	kind   calibration.Facility
	name   string
	cur    currency
	amount int64
	months int
	margin int // basis points
	flex   int // change of the margin in syndication, basis points
	oid    string
	green  bool
	linked bool // sustainability-linked
	lite   bool // covenant-light
	fixed  bool
	figi   string
	code   string
	by     time.Time // day of pricing, which determines the reference rate of the margin
}

// planLoan returns the plan of an offer that prices on a day. It is a pure function. An add-on has its own plan.
func planLoan(o offer, tap uint64, at time.Time) loanPlan {
	plan := loanPlan{issuer: o.issuer(), addOn: tap != 0}
	d := stream(o.seed, tagPlan)
	if d.chance(calibration.SponsoredShares[o.market]) {
		for range pickWeighted(d, calibration.SponsorCounts...) {
			if name := sponsorName(d); !slices.Contains(plan.sponsors, name) {
				plan.sponsors = append(plan.sponsors, name)
			}
		}
	}
	plan.asset = pickWeighted(d, calibration.Assets...)
	purposes := calibration.PurposeShares
	if len(plan.sponsors) > 0 {
		purposes = calibration.SponsoredPurposeShares
	}
	plan.purpose = pickWeighted(d, purposes...)
	plan.club = d.chance(calibration.ClubShares[o.market])
	count := pickWeighted(d, calibration.TranchesPerLoan[o.market]...)
	if tap != 0 {
		d, count = stream(tap, tagPlan), 1
	}
	cur := currency{Currency: calibration.Currencies[o.code]}
	for i := range count {
		if other := currencyOf(d, o.market); i > 0 && d.chance(0.25) {
			cur = other
		}
		plan.tranches = append(plan.tranches, planTranche(d, o, plan.issuer, cur.on(at), i))
	}
	return plan
}

// buyout says whether sponsors buy the borrower with the loan.
func (p loanPlan) buyout() bool {
	purpose := calibration.Purposes[p.purpose]
	return purpose == "lbo" || purpose == "sbo"
}

func planTranche(d *dice, o offer, who issuer, cur currency, i int) loanTranche {
	usual := pickWeighted(d, calibration.Facilities[o.market]...)
	t := loanTranche{kind: usual.Facility, cur: cur, by: o.target}
	t.amount = size(d, cur, usual.Median, usual.Sigma)
	if odd := d.chance(0.06); odd && t.amount > 100e6 { // the rest of a loan that was repaid in part
		t.amount -= int64(d.between(1, 30_000)) * 1000
	}
	t.margin = marginOf(d, o.market, usual.Margin, who)
	t.months = 12 * pick(d, usual.Years...)
	step := map[api.Market]int{api.LL: pick(d, 12, 25, 25, 50)}[o.market]
	t.flex = step * pickWeighted(d, calibration.Effects[o.mood].Flex...)
	t.oid = pickWeighted(d, calibration.OIDs...)
	t.name = pick(d, t.kind.Short, fmt.Sprintf("Facility %c", 'A'+i), fmt.Sprintf("Tranche %d", i+1), fmt.Sprintf("%s%d", t.kind.Short, i+1))
	labelled, green := d.chance(along(calibration.LabelledShares[o.market], o.target)/100), d.chance(0.4)
	t.green, t.linked = labelled && green, labelled && !green
	t.lite = d.chance(along(calibration.CovenantLite, o.target)/100) && o.market == api.LL && t.kind.Short == "TLB"
	t.fixed = d.chance(0.04)
	t.figi, t.code = figi(d), bloomberg(d, pick(d, "BL", "LX"))
	return t
}

// marginOf draws a margin: in steps of 25 for leveraged loans, of 5 for others.
func marginOf(d *dice, market api.Market, median int, who issuer) int {
	if market == api.LL {
		return max((median+(who.quality-13)*8+int(d.NormFloat64()*75)+12)/25*25, 100)
	}
	spread := 0.3
	if market == api.CF {
		spread = 0.25
	}
	return max(int(d.lognormal(float64(median), spread))/5*5, 30)
}

// quote returns a margin as text.
func (t loanTranche) quote(margin int) string {
	base := map[string]string{"USD": "S", "EUR": "E", "GBP": "SONIA", "AUD": "BBSW"}[t.cur.Code]
	switch {
	case t.by.Year() < 2022 && (t.cur.Code == "USD" || t.cur.Code == "GBP"):
		base = "L"
	case t.cur.Code == "USD" && t.code[len(t.code)-1] == '7':
		base = "S+CSA"
	}
	if base == "" {
		return fmt.Sprintf("%dbp", margin)
	}
	return fmt.Sprintf("%s+%d", base, margin)
}

// maturity returns when a tranche is due, as text.
func (t loanTranche) maturity(d *dice) string {
	end := t.by.AddDate(0, t.months, 0)
	return pick(d, date(end), date(end), end.Format("Jan-06"), fmt.Sprintf("%dyr", t.months/12), fmt.Sprintf("%d months", t.months))
}

// loanPlan returns the plan of a deal.
func (d *deal) loanPlan() loanPlan {
	at := d.offer.target
	switch {
	case d.dated != 0:
		at = time.Unix(int64(d.dated)*86400, 0).UTC()
	case d.tap != 0:
		at = d.target
	}
	return planLoan(d.offer, d.tap, at)
}
