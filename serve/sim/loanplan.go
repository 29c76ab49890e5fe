package sim

import (
	"fmt"
	"time"

	"dealflow/schemas/api"
)

// loanPlan is a loan: what it comes to in the end, before anybody knows.
type loanPlan struct {
	issuer   issuer
	sponsors []string
	asset    string // what asset finance pays for
	purpose  int    // index of purposes
	club     bool
	addOn    bool
	tranches []loanTranche
}

// loanTranche is one facility of a loan.
type loanTranche struct {
	kind   facility
	name   string
	cur    currency
	amount int64
	months int
	margin int // basis points
	flex   int // how the margin changes in syndication
	oid    string
	green  bool
	linked bool // sustainability-linked
	lite   bool // covenant-light
	fixed  bool
	figi   string
	code   string
}

// facility is a type of loan and its short form.
type facility struct{ long, short string }

// purposes are what loans are for.
var purposes = []string{"refi", "repricing", "lbo", "acquisition", "dividend", "general", "sbo", "ipo", "other"}

// planLoan is the plan of an offer: a pure function of it. An add-on has a plan of its own.
func planLoan(o offer, tap uint64) loanPlan {
	plan := loanPlan{issuer: o.issuer(), addOn: tap != 0}
	d := stream(o.seed, tagPlan)
	backed := map[api.Market]float64{api.LL: 0.62, api.CF: 0.06, api.AF: 0.15}
	if d.chance(backed[o.market]) {
		for range pickWeighted(d, []weighted[int]{{82, 1}, {14, 2}, {4, 3}}) {
			plan.sponsors = append(plan.sponsors, sponsorName(d))
		}
	}
	plan.asset = pickWeighted(d, assets)
	plan.purpose = pickWeighted(d, []weighted[int]{{45, 0}, {12, 1}, {12, 2}, {14, 3}, {5, 4}, {6, 5}, {2, 6}, {1, 7}, {3, 8}})
	plan.club = d.chance(map[api.Market]float64{api.LL: 0.08, api.CF: 0.38, api.AF: 0.45}[o.market])
	count := pickWeighted(d, tranchesPerLoan[o.market])
	if tap != 0 {
		d, count = stream(tap, tagPlan), 1
	}
	cur := currencyOf(d, o.market)
	for i := range count {
		if other := currencyOf(d, o.market); i > 0 && d.chance(0.25) {
			cur = other
		}
		plan.tranches = append(plan.tranches, planTranche(d, o, plan.issuer, cur, i))
	}
	return plan
}

var assets = []weighted[string]{{24, "Aircraft"}, {18, "Shipping"}, {22, "Renewables"}, {9, "Transport infra"}, {7, "Digital/data centre"}, {8, "Oil & gas/LNG"}, {6, "Real estate"}, {3, "Rail"}, {3, "Other"}}

var tranchesPerLoan = map[api.Market][]weighted[int]{
	api.LL: {{45, 1}, {33, 2}, {14, 3}, {5, 4}, {3, 5}},
	api.CF: {{62, 1}, {26, 2}, {9, 3}, {3, 4}},
	api.AF: {{65, 1}, {22, 2}, {9, 3}, {4, 4}},
}

var facilities = map[api.Market][]weighted[facility]{
	api.LL: {
		{34, facility{"Term Loan B", "TLB"}}, {30, facility{"Revolving Credit Facility", "RCF"}}, {10, facility{"Term Loan A", "TLA"}},
		{4, facility{"Capex/Acquisition Facility", "CAF"}}, {3, facility{"Delayed Draw Term Loan", "DDTL"}}, {3, facility{"2nd Lien", "2L"}},
		{2, facility{"Unitranche", "UNI"}}, {2, facility{"Guarantee/L/C", "LC"}},
	},
	api.CF: {{55, facility{"Revolving Credit Facility", "RCF"}}, {35, facility{"Term Loan", "TL"}}, {7, facility{"Bridge", "Bridge"}}, {3, facility{"Schuldschein", "SSD"}}},
	api.AF: {{70, facility{"Term Loan", "TL"}}, {15, facility{"Guarantee/L/C", "LC"}}, {15, facility{"Export credit", "ECA"}}},
}

func planTranche(d *dice, o offer, who issuer, cur currency, i int) loanTranche {
	t := loanTranche{kind: pickWeighted(d, facilities[o.market]), cur: cur}
	median := map[api.Market]float64{api.LL: 400, api.CF: 400, api.AF: 180}[o.market]
	if t.kind.short == "RCF" && o.market == api.LL {
		median = 100
	}
	t.amount = size(d, cur, median, 0.8)
	t.months = 12 * d.between(3, 12)
	t.margin = 25 * (1 + who.quality + d.between(0, 4))
	t.flex = pickWeighted(d, []weighted[int]{{28, -25}, {12, 25}, {60, 0}})
	t.oid = pick(d, "par", "99.75", "99.5", "99.5", "99", "99-99.5", "98.75", "97", "0.5% UF", "100")
	t.name = pick(d, t.kind.short, fmt.Sprintf("Facility %c", 'A'+i), fmt.Sprintf("Tranche %d", i+1), fmt.Sprintf("%s%d", t.kind.short, i+1))
	t.green, t.linked = d.chance(0.08), d.chance(0.12)
	t.lite = o.market == api.LL && t.kind.short == "TLB" && d.chance(0.88)
	t.fixed = d.chance(0.04)
	t.figi, t.code = figi(d), bloomberg(d, pick(d, "BL", "LX"))
	return t
}

// quote is a margin as text.
func (t loanTranche) quote(margin int) string {
	base := map[string]string{"USD": "S", "EUR": "E", "GBP": "SONIA", "AUD": "BBSW"}[t.cur.code]
	if base == "" {
		return fmt.Sprintf("%dbp", margin)
	}
	return fmt.Sprintf("%s+%d", base, margin)
}

func (t loanTranche) maturity(d *dice, at time.Time) string {
	end := at.AddDate(0, t.months, 0)
	return pick(d, date(end), date(end), end.Format("Jan-06"), fmt.Sprintf("%dyr", t.months/12), fmt.Sprintf("%d months", t.months))
}

// loanPlan is what a deal is about.
func (d *deal) loanPlan() loanPlan { return planLoan(d.offer, d.tap) }
