package sim

import (
	"fmt"
	"math"
	"time"

	"dealflow/schemas/api"
)

// bondPlan is an offer of bonds: what it comes to in the end, before anybody knows.
type bondPlan struct {
	market  api.Market
	issuer  issuer
	regions []string
	covered bool
	lines   []bondLine
}

// bondLine is one security of an offer.
type bondLine struct {
	seed      uint64 // of its codes
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
	premium   int    // new issue premium, in basis points
	yield     int64  // thousandths of a per cent
	coupon    int64  // thousandths of a per cent
	fpr       int64  // the price that gives the yield, in thousandths
	label     int    // 0: none, 1 green, 2 sustainable, 3 sustainability-linked, 4 social
	format    int    // 0 Reg S, 1 144A, 2 both, 3 SEC registered
	junior    int    // 0 senior … as ranks has it
	cover     float64
	start     int64 // the size that was first spoken of
	wng       bool  // the size will not grow
	phantom   bool  // shown for a while, never priced
	american  bool  // its ISIN is one of the United States
	em        bool  // it is sold in the words of emerging markets
}

// mostLines bounds the lines of an offer.
const mostLines = 7

// planBond is the plan of an offer: a pure function of it.
func planBond(o offer) bondPlan {
	d := stream(o.seed, tagPlan)
	plan := bondPlan{market: o.market, issuer: o.issuer()}
	plan.covered = plan.issuer.bankish && d.chance(coveredShare(o.market))
	plan.regions = regionsOf(d, o.market, plan.issuer)
	count := pickWeighted(d, linesPerOffer[o.market])
	cur := o.currency()
	base := d.between(3, 7)
	for i := range count {
		line := planLine(d, o, plan, cur)
		line.years = base + i*d.between(1, 6)
		line.reoffer()
		if !line.perpetual {
			line.call = min(line.call, line.years-1)
		}
		line.name = lineName(d, line, i, count)
		plan.lines = append(plan.lines, line)
	}
	if phantom := d.chance(0.05); phantom && count < mostLines {
		line := planLine(d, o, plan, cur)
		line.phantom, line.name = true, fmt.Sprintf("%dyr", line.years)
		plan.lines = append(plan.lines, line)
	}
	return plan
}

// coveredShare makes about one investment-grade deal in eleven one of covered bonds.
func coveredShare(market api.Market) float64 { return byMarket(market, 0.25, 0, 0.03) }

var linesPerOffer = map[api.Market][]weighted[int]{
	api.IG: {{70, 1}, {18, 2}, {7, 3}, {2.5, 4}, {2.5, 5}}, // offers
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
	line := bondLine{seed: d.Uint64(), cur: cur, years: d.between(3, 12), american: plan.issuer.country == "United States", em: o.market == api.EM}
	line.amount = bondSize(d, o, plan, cur)
	line.junior = juniorOf(d, o.market, plan)
	if line.junior == 4 || line.junior == 5 { // additional tier 1 and hybrids
		line.perpetual = d.chance(0.9)
	}
	if roll := d.Float64(); roll < callShare(o.market) || line.perpetual {
		line.call = d.between(2, 5)
	}
	line.floating = d.chance(0.07)
	line.basis = basisOf(d, o.market, cur)
	wide := 25 + plan.issuer.quality*plan.issuer.quality*2 + d.between(0, 40) + min(line.junior, 5)*30
	line.price = wide
	if line.basis == "" {
		line.price = 350 + plan.issuer.quality*25 + d.between(0, 80)
	}
	line.yield = int64(line.price) * 10
	if line.basis != "" {
		line.yield += rates(cur, o.target) + int64(d.between(-400, 400))
	}
	if par := d.chance(byMarket(o.market, 0.2, 0.65, 0.3)); par && line.yield > 0 {
		line.yield = max((line.yield+125)/250*250, 250)
	}
	if line.basis == "" {
		line.price = int(line.yield / 10)
	}
	line.coupon = max(line.yield/125*125, 0)
	line.reoffer()
	line.label = labelOf(d, o)
	line.format = pickWeighted(d, formats[o.market])
	line.demand(d, o.mood)
	return line
}

// reoffer is the price at which the coupon gives the yield, or nearly so.
func (l *bondLine) reoffer() {
	l.fpr = min(max(100_000-(l.yield-l.coupon)*int64(l.years)*85/100, 85_000), 112_000)
}

// demand draws how a line is received: books, tightening, premium and growth hang together.
func (l *bondLine) demand(d *dice, mood regime) {
	terms := regimeTerms[mood]
	books := d.NormFloat64()
	along := func(correlation float64) float64 {
		return correlation*books + math.Sqrt(1-correlation*correlation)*d.NormFloat64()
	}
	l.cover = terms.cover * math.Exp(0.4*books)
	l.tighter = max(int(math.Round(terms.tighter+8*along(0.5))), 0)
	l.premium = int(math.Round(terms.premium + 5*along(-0.5)))
	grows, by := along(0.4), 1.1+0.4*d.Float64()
	l.wng, l.start = d.chance(0.2), l.amount
	switch {
	case l.wng:
	case grows > 0.23: // about two in five of those that may
		l.start = roundSize(float64(l.amount)/by, l.amount)
	case grows < -1.8:
		l.start = roundSize(float64(l.amount)*1.2, l.amount)
	}
}

// roundSize rounds a size that is near another to fives of millions.
func roundSize(amount float64, near int64) int64 {
	if near < 50e6 {
		return near
	}
	return int64(math.Round(amount/5e6) * 5e6)
}

// bondSize draws a line's size: by market, currency and kind of borrower.
func bondSize(d *dice, o offer, plan bondPlan, cur currency) int64 {
	median, sigma := 700.0, 0.55
	switch {
	case o.market == api.EM:
		median, sigma = 420, 0.75
	case o.market == api.HY && cur.code == "USD":
		median, sigma = 450, 0.5
	case o.market == api.HY:
		median, sigma = 400, 0.45
	case plan.covered:
		median, sigma = 650, 0.40
	case plan.issuer.official():
		median, sigma = 1100, 0.80
	case cur.code == "USD":
		median, sigma = 750, 0.60
	case cur.code == "EUR":
		median, sigma = 650, 0.45
	}
	return size(d, cur, median, sigma)
}

// rates is about what money without risk costs in a currency, in thousandths of a per cent.
func rates(cur currency, at time.Time) int64 {
	low := at.Year() >= 2012 && at.Year() <= 2021
	switch {
	case cur.code == "EUR" || cur.code == "CHF" || cur.code == "JPY" || cur.code == "SEK":
		if low && at.Year() >= 2015 {
			return -350
		}
		return 1500
	case low:
		return 1250
	}
	return 3250
}

// labels are the shares of labelled bonds by year, in per cent, and of which kind they are.
var labels = map[api.Market][]point{
	api.IG: {{2013, 0}, {2015, 2}, {2019, 7}, {2021, 20}, {2024, 18}},
	api.HY: {{2015, 0}, {2019, 2}, {2021, 12}, {2024, 8}},
	api.EM: {{2013, 0}, {2015, 1}, {2019, 5}, {2021, 14}, {2024, 12}},
	api.LL: {{2015, 0}, {2019, 1}, {2021, 12}, {2024, 8}},
	api.CF: {{2013, 0}, {2015, 1}, {2019, 8}, {2021, 28}, {2024, 25}},
	api.AF: {{2010, 1}, {2015, 5}, {2019, 15}, {2021, 30}, {2024, 30}},
}

// point is a value that holds in a year; between two points it changes evenly.
type point struct{ year, value float64 }

// along is the value of a line of points at an instant's year.
func along(points []point, at time.Time) float64 {
	year := float64(at.Year())
	for i, p := range points {
		if year > p.year {
			continue
		}
		if i == 0 {
			return p.value
		}
		last := points[i-1]
		return last.value + (p.value-last.value)*(year-last.year)/(p.year-last.year)
	}
	return points[len(points)-1].value
}

func labelOf(d *dice, o offer) int {
	labelled := d.chance(along(labels[o.market], o.target) / 100)
	which := pickWeighted(d, []weighted[int]{{59, 1}, {17, 2}, {6, 3}, {18, 4}})
	if labelled {
		return which
	}
	return 0
}

var formats = map[api.Market][]weighted[int]{
	api.IG: {{45, 0}, {3, 1}, {14, 2}, {38, 3}},
	api.HY: {{10, 0}, {15, 1}, {72, 2}, {3, 3}},
	api.EM: {{50, 0}, {3, 1}, {45, 2}, {2, 3}},
}

func callShare(market api.Market) float64 { return byMarket(market, 0.345, 0.84, 0.21) }

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
	case plan.issuer.bankish && market == api.IG:
		return pickWeighted(d, []weighted[int]{{34, 0}, {23, 1}, {25, 2}, {11.5, 3}, {5, 4}, {0.6, 6}, {0.4, 7}})
	case plan.issuer.bankish:
		return pickWeighted(d, []weighted[int]{{60, 0}, {10, 1}, {7, 2}, {13, 3}, {8, 4}, {1, 6}, {1, 7}})
	case market == api.HY && roll < 0.35:
		return rankSecured
	case roll > 0.975 && !plan.issuer.official():
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
func (l bondLine) tapped(seed uint64, mood regime) bondLine {
	d := stream(seed)
	l.amount = size(d, l.cur, max(float64(l.amount)/1e6/l.cur.scale*0.4, 5), 0.3)
	moved := int(d.NormFloat64() * 40)
	l.price, l.yield = l.price+moved, l.yield+int64(moved)*10
	l.reoffer()
	l.demand(d, mood)
	l.tighter /= 3
	return l
}

// codes are a line's identifiers; an increase has a number of its own until it is merged.
type codes struct{ isin, tempISIN, figi, bloomberg string }

func (l bondLine) codes(tap uint64) codes {
	d := stream(l.seed, tagCodes)
	c := codes{isin: isin(d, l.american), bloomberg: bloomberg(d, "ZX"), figi: figi(d)}
	if tap != 0 {
		d = stream(tap, tagCodes)
		c.figi = figi(d)
	}
	c.tempISIN = isin(d, l.american)
	return c
}

// bondLine is the line that a bond priced record, or the expected deal of an increase, is about.
func (d *deal) bondLine() bondLine {
	line := planBond(d.offer).lines[d.line]
	if d.tap != 0 {
		return line.tapped(d.tap, d.offer.mood)
	}
	return line
}

// bondLines are the lines that an expected deal shows in the course of its life.
func (d *deal) bondLines(plan bondPlan) []bondLine {
	if d.tap != 0 {
		return []bondLine{plan.lines[d.line].tapped(d.tap, d.offer.mood)}
	}
	return plan.lines
}
