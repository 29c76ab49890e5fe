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
	by     time.Time // the day of pricing: old margins are quoted over old rates
}

// facility is a type of loan and its short form.
type facility struct{ long, short string }

// purposes are what loans are for.
var purposes = []string{"refi", "repricing", "lbo", "acquisition", "dividend", "general", "sbo", "ipo", "other"}

// planLoan is the plan of an offer: a pure function of it. An add-on has a plan of its own.
func planLoan(o offer, tap uint64) loanPlan {
	plan := loanPlan{issuer: o.issuer(), addOn: tap != 0}
	d := stream(o.seed, tagPlan)
	backed := map[api.Market]float64{api.LL: 0.62, api.CF: 0.03, api.AF: 0.12}
	if d.chance(backed[o.market]) {
		for range pickWeighted(d, []weighted[int]{{82, 1}, {14, 2}, {4, 3}}) {
			plan.sponsors = append(plan.sponsors, sponsorName(d))
		}
	}
	plan.asset = pickWeighted(d, assets)
	plan.purpose = pickWeighted(d, []weighted[int]{{40, 0}, {20, 1}, {12, 2}, {14, 3}, {5, 4}, {4, 5}, {2, 6}, {1, 7}, {2, 8}})
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
	api.LL: {{34, 1}, {38, 2}, {18, 3}, {6.5, 4}, {3.5, 5}}, // add-ons have one
	api.CF: {{62, 1}, {26, 2}, {9, 3}, {3, 4}},
	api.AF: {{65, 1}, {22, 2}, {9, 3}, {4, 4}},
}

// facilities of a market: the type with its short form, a tranche's size in millions and its spread,
// and the usual margin in basis points.
var facilities = map[api.Market][]weighted[terms]{
	api.LL: {
		{34, terms{facility{"Term Loan B", "TLB"}, 540, 0.8, 385}}, {30, terms{facility{"Revolving Credit Facility", "RCF"}, 100, 0.8, 370}},
		{10, terms{facility{"Term Loan A", "TLA"}, 250, 0.8, 300}}, {12, terms{facility{"Term Loan", "TL"}, 300, 0.8, 360}},
		{3, terms{facility{"Bridge", "Bridge"}, 400, 0.8, 450}}, {4, terms{facility{"Capex/Acquisition Facility", "CAF"}, 80, 0.8, 375}},
		{3, terms{facility{"Delayed Draw Term Loan", "DDTL"}, 90, 0.8, 400}}, {1.5, terms{facility{"2nd Lien", "2L"}, 180, 0.7, 725}},
		{1, terms{facility{"Unitranche", "UNI"}, 300, 0.7, 575}}, {1.5, terms{facility{"Guarantee/L/C", "LC"}, 60, 0.7, 300}},
	},
	api.CF: {
		{55, terms{facility{"Revolving Credit Facility", "RCF"}, 400, 1, 85}}, {35, terms{facility{"Term Loan", "TL"}, 400, 1, 110}},
		{6, terms{facility{"Bridge", "Bridge"}, 700, 1, 90}}, {4, terms{facility{"Schuldschein", "SSD"}, 150, 0.8, 100}},
	},
	api.AF: {
		{70, terms{facility{"Term Loan", "TL"}, 180, 0.9, 200}}, {15, terms{facility{"Guarantee/L/C", "LC"}, 120, 0.9, 170}},
		{15, terms{facility{"Export credit", "ECA"}, 220, 0.9, 150}},
	},
}

// terms are what a type of loan usually comes to.
type terms struct {
	kind          facility
	median, sigma float64
	margin        int
}

// oids are the prices of leveraged loans.
var oids = []weighted[string]{
	{18, "par"}, {4, "100"}, {12, "99.75"}, {20, "99.5"}, {6, "99-99.5"}, {20, "99"}, {8, "98.75"}, {4, "98.5"}, {5, "97"}, {3, "96.5"}, {2, "0.5% UF"},
}

// covenantLite is the share of term loans B without covenants, in per cent.
var covenantLite = []point{{2010, 8}, {2012, 25}, {2013, 56}, {2015, 65}, {2018, 80}, {2021, 90}}

func planTranche(d *dice, o offer, who issuer, cur currency, i int) loanTranche {
	usual := pickWeighted(d, facilities[o.market])
	t := loanTranche{kind: usual.kind, cur: cur, by: o.target}
	t.amount = size(d, cur, usual.median, usual.sigma)
	if odd := d.chance(0.06); odd && t.amount > 100e6 { // what is left of a loan that was paid down
		t.amount -= int64(d.between(1, 30_000)) * 1000
	}
	t.margin = marginOf(d, o.market, usual.margin, who)
	t.months = 12 * d.between(3, 8)
	if o.market == api.AF {
		t.months = 12 * d.between(5, 15)
	}
	step := map[api.Market]int{api.LL: pick(d, 12, 25, 25, 50)}[o.market]
	t.flex = step * pickWeighted(d, regimeTerms[o.mood].flex)
	t.oid = pickWeighted(d, oids)
	t.name = pick(d, t.kind.short, fmt.Sprintf("Facility %c", 'A'+i), fmt.Sprintf("Tranche %d", i+1), fmt.Sprintf("%s%d", t.kind.short, i+1))
	labelled, green := d.chance(along(labels[o.market], o.target)/100), d.chance(0.4)
	t.green, t.linked = labelled && green, labelled && !green
	t.lite = d.chance(along(covenantLite, o.target)/100) && o.market == api.LL && t.kind.short == "TLB"
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

// quote is a margin as text.
func (t loanTranche) quote(margin int) string {
	base := map[string]string{"USD": "S", "EUR": "E", "GBP": "SONIA", "AUD": "BBSW"}[t.cur.code]
	switch {
	case t.by.Year() < 2022 && (t.cur.code == "USD" || t.cur.code == "GBP"):
		base = "L"
	case t.cur.code == "USD" && t.code[len(t.code)-1] == '7':
		base = "S+CSA"
	}
	if base == "" {
		return fmt.Sprintf("%dbp", margin)
	}
	return fmt.Sprintf("%s+%d", base, margin)
}

// maturity is when a tranche is due, as text.
func (t loanTranche) maturity(d *dice) string {
	end := t.by.AddDate(0, t.months, 0)
	return pick(d, date(end), date(end), end.Format("Jan-06"), fmt.Sprintf("%dyr", t.months/12), fmt.Sprintf("%d months", t.months))
}

// loanPlan is what a deal is about.
func (d *deal) loanPlan() loanPlan { return planLoan(d.offer, d.tap) }
