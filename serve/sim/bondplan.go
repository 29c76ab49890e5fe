package sim

import (
	"fmt"
	"time"

	"dealflow/schemas/api"
)

// bondPlan is an offer of bonds: what it comes to in the end, before anybody knows.
type bondPlan struct {
	issuer  issuer
	regions []string
	covered bool
	lines   []bondLine
}

// bondLine is one security of an offer.
type bondLine struct {
	name      string
	cur       currency
	amount    int64
	years     int
	perpetual bool
	call      int // years to the first call, 0: none
	floating  bool
	basis     string // what the price is quoted over: MS, T, …; empty: a yield
	price     int    // final price, in basis points over basis or as a yield
	tighter   int    // by how many basis points it came in since first thoughts
	fpr       int64  // thousandths
	coupon    int64  // thousandths of a per cent
	label     int    // 0: none, 1 green, 2 sustainable, 3 sustainability-linked, 4 social
	format    int    // 0 Reg S, 1 144A, 2 both, 3 SEC registered
	junior    int    // 0 senior … as ranks has it
	cover     float64
	wng       bool // the size will not grow
	phantom   bool // shown for a while, never priced
	isin      string
	tempISIN  string
	figi      string
	bloomberg string
}

// mostLines bounds the lines of an offer.
const mostLines = 7

// planBond is the plan of an offer: a pure function of it.
func planBond(o offer) bondPlan {
	d := stream(o.seed, tagPlan)
	plan := bondPlan{issuer: o.issuer()}
	plan.covered = plan.issuer.bankish && d.chance(0.25)
	plan.regions = regionsOf(d, o.market, plan.issuer)
	count := pickWeighted(d, linesPerOffer[o.market])
	cur := currencyOf(d, o.market)
	base := d.between(3, 7)
	for i := range count {
		line := planLine(d, o, plan, cur)
		line.years = base + i*d.between(1, 6)
		if !line.perpetual {
			line.call = min(line.call, line.years-1)
		}
		line.name = lineName(d, line, i, count)
		plan.lines = append(plan.lines, line)
	}
	if phantom := d.chance(0.06); phantom && count < mostLines {
		line := planLine(d, o, plan, cur)
		line.phantom, line.name = true, fmt.Sprintf("%dyr", line.years)
		plan.lines = append(plan.lines, line)
	}
	return plan
}

var linesPerOffer = map[api.Market][]weighted[int]{
	api.IG: {{70, 1}, {18, 2}, {7, 3}, {2.5, 4}, {2.5, 5}},
	api.HY: {{72, 1}, {22, 2}, {5, 3}, {1, 4}},
	api.EM: {{80, 1}, {14, 2}, {5, 3}, {1, 4}},
}

func regionsOf(d *dice, market api.Market, who issuer) []string {
	if market != api.EM {
		if who.region == "North America" || who.region == "LATAM" {
			return []string{"Americas"}
		}
		return []string{}
	}
	regions := map[string]string{"LATAM": "Latam", "CEEMEA": "CEEMEA", "Asia Pacific": "Asia(NJ)"}
	both := d.chance(0.04)
	found := []string{regions[who.region]}
	if both && found[0] != "CEEMEA" {
		found = append(found, "CEEMEA")
	}
	return found
}

// planLine draws one security. Its stream is the offer's: lines are drawn in order.
func planLine(d *dice, o offer, plan bondPlan, cur currency) bondLine {
	line := bondLine{cur: cur, years: d.between(3, 12)}
	line.amount = size(d, cur, bondMedian[o.market], 0.6)
	line.junior = juniorOf(d, o.market, plan)
	if line.junior >= 4 { // additional tier 1 and hybrids
		line.perpetual = d.chance(0.7)
	}
	if roll := d.Float64(); roll < callShare(o.market) || line.perpetual {
		line.call = d.between(2, 5)
	}
	line.floating = d.chance(0.07)
	line.basis = basisOf(d, o.market, cur)
	wide := 25 + plan.issuer.quality*plan.issuer.quality*2 + d.between(0, 40) + line.junior*30
	line.price = wide
	if line.basis == "" {
		line.price = 350 + plan.issuer.quality*25 + d.between(0, 80)
	}
	line.tighter = max(int(22+8*d.NormFloat64()), 0)
	line.coupon = int64(300+wide+d.between(-40, 40)) / 25 * 250
	line.fpr = 100_000 - int64(d.between(0, 1900))
	if par := d.chance(0.3); par {
		line.fpr = 100_000
	}
	line.label = pickWeighted(d, []weighted[int]{{80, 0}, {11, 1}, {4, 2}, {2, 3}, {3, 4}})
	line.format = pickWeighted(d, formats[o.market])
	line.cover = d.lognormal(2.6, 0.4)
	line.wng = d.chance(0.2)
	us := plan.issuer.country == "United States"
	line.isin, line.tempISIN = isin(d, us), isin(d, us)
	line.figi, line.bloomberg = figi(d), bloomberg(d, "ZX")
	return line
}

var bondMedian = map[api.Market]float64{api.IG: 700, api.HY: 440, api.EM: 420}

var formats = map[api.Market][]weighted[int]{
	api.IG: {{46, 0}, {2, 1}, {14, 2}, {38, 3}},
	api.HY: {{10, 0}, {15, 1}, {72, 2}, {3, 3}},
	api.EM: {{50, 0}, {3, 1}, {45, 2}, {2, 3}},
}

func callShare(market api.Market) float64 {
	switch market {
	case api.IG:
		return 0.35
	case api.HY:
		return 0.82
	}
	return 0.22
}

// ranks are the rankings, their tiers, and how senior they are.
var ranks = []struct{ name, tier string }{
	{"Snr unsec", ""}, {"SP", ""}, {"SNP", ""}, {"T2", "T2"}, {"AT1", "AT1"}, {"Jnr sub (hybrid)", ""}, {"RT1", "RT1"}, {"T1", "T1"}, {"Snr sec", ""}, {"Covered", ""},
}

const (
	rankSecured = 8
	rankCovered = 9
)

func juniorOf(d *dice, market api.Market, plan bondPlan) int {
	roll := d.Float64()
	switch {
	case plan.covered:
		return rankCovered
	case plan.issuer.bankish:
		return pickWeighted(d, []weighted[int]{{25, 0}, {22, 1}, {22, 2}, {14, 3}, {10, 4}, {3, 6}, {4, 7}})
	case market == api.HY && roll < 0.35:
		return rankSecured
	case roll > 0.96:
		return 5
	}
	return 0
}

func basisOf(d *dice, market api.Market, cur currency) string {
	if market == api.HY && d.chance(0.75) {
		return ""
	}
	switch cur.code {
	case "USD":
		return "T"
	case "GBP":
		return "UKT"
	case "AUD":
		return "BBSW"
	case "CHF":
		return "SARON MS"
	}
	return pick(d, "MS", "MS", "MS", "B")
}

func lineName(d *dice, line bondLine, i, count int) string {
	name := pick(d, fmt.Sprintf("%dyr", line.years), fmt.Sprintf("%dyr", line.years), fmt.Sprintf("Long %dyr", line.years), fmt.Sprintf("%s Tranche %d", line.cur.code, i+1))
	switch {
	case line.perpetual:
		return "Perp " + line.structure()
	case line.label == 1 && d.chance(0.6):
		return name + " Green"
	case count > 1 && d.chance(0.1):
		return string(rune('A' + i))
	}
	return name
}

// structure is the line's short code: 10NC5, PNC5, 5yr FXD.
func (l bondLine) structure() string {
	switch {
	case l.perpetual:
		return fmt.Sprintf("PNC%d", max(l.call, 1))
	case l.call > 0 && l.call < l.years:
		return fmt.Sprintf("%dNC%d", l.years, l.call)
	case l.floating:
		return fmt.Sprintf("%dyr FRN", l.years)
	}
	return fmt.Sprintf("%dyr FXD", l.years)
}

// quote is a price as text: over the line's basis, or as a yield.
func (l bondLine) quote(points int) string {
	if l.basis == "" {
		return millis(int64(points)*10) + "%"
	}
	return fmt.Sprintf("%s%+d", l.basis, points)
}

// area is a range of prices as text.
func (l bondLine) area(low, high int) string {
	if l.basis == "" {
		return millis(int64(low)*10) + "-" + l.quote(high)
	}
	return fmt.Sprintf("%s-%d", l.quote(low), high)
}

// maturity is when a line is due that was priced at.
func (l bondLine) maturity(at time.Time) time.Time { return at.AddDate(l.years, 0, 7) }

// tapped is the line as an increase sells it: less of it, at a price of its own.
func (l bondLine) tapped(seed uint64) bondLine {
	d := stream(seed)
	l.amount = size(d, l.cur, max(float64(l.amount)/1e6/l.cur.scale*0.4, 5), 0.3)
	l.price = max(l.price+d.between(-20, 20), 5)
	l.fpr += int64(d.between(-4000, 3000))
	l.tighter = d.between(2, 15)
	l.cover = d.lognormal(2.2, 0.3)
	l.figi = figi(d)
	return l
}

// bondLine is the line that a bond priced record, or the expected deal of an increase, is about.
func (d *deal) bondLine() bondLine {
	line := planBond(d.offer).lines[d.line]
	if d.tap != 0 {
		return line.tapped(d.tap)
	}
	return line
}

// bondLines are the lines that an expected deal shows in the course of its life.
func (d *deal) bondLines(plan bondPlan) []bondLine {
	if d.tap != 0 {
		return []bondLine{plan.lines[d.line].tapped(d.tap)}
	}
	return plan.lines
}
