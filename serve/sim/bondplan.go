package sim

import (
	"fmt"
	"math"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// bondPlan is the final result of an offer of bonds. Records show it step by step.
type bondPlan struct {
	market  api.Market
	issuer  issuer
	regions []string
	covered bool
	lines   []bondLine
}

// bondLine is one security of an offer.
type bondLine struct {
	seed      uint64 // seed of its codes
	name      string
	cur       currency
	amount    int64
	years     int
	perpetual bool
	call      int // years to the first call, 0: none
	floating  bool
	basis     string // basis of the price: MS, T, …; empty if the price is a yield
	price     int    // final price, in basis points over basis or as a yield
	tighter   int    // basis points from initial price thoughts to the price
	premium   int    // new issue premium, in basis points
	yield     int64  // thousandths of a per cent
	coupon    int64  // thousandths of a per cent
	fpr       int64  // the price that gives the yield, in thousandths
	label     int    // 0: none, 1 green, 2 sustainable, 3 sustainability-linked, 4 social
	format    int    // 0 Reg S, 1 144A, 2 both, 3 SEC registered
	junior    int    // index of calibration.Ranks; 0 is senior
	cover     float64
	start     int64 // size at the announcement
	wng       bool  // "will not grow": the size is final from the start
	phantom   bool  // shown for a while, never priced
	american  bool  // it has an ISIN of the United States
	em        bool  // its texts use the words of emerging markets
}

// mostLines is the maximum number of lines of an offer.
const mostLines = 7

// planBond returns the plan of an offer. It is a pure function.
func planBond(o offer) bondPlan {
	d := stream(o.seed, tagPlan)
	plan := bondPlan{market: o.market, issuer: o.issuer()}
	plan.covered = plan.issuer.bankish && d.chance(coveredShare(o.market))
	plan.regions = regionsOf(d, o.market, plan.issuer)
	count := pickWeighted(d, calibration.LinesPerOffer[o.market]...)
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

// coveredShare returns the share of banks' deals that are covered bonds: about one in eleven of all IG deals.
func coveredShare(market api.Market) float64 { return byMarket(market, 0.25, 0, 0.03) }

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

// planLine draws one security. The lines of an offer share its stream, so they must be drawn in order.
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
	line.format = pickWeighted(d, calibration.BondFormats[o.market]...)
	line.demand(d, o.mood)
	return line
}

// reoffer sets the price at which the coupon gives about the yield.
func (l *bondLine) reoffer() {
	l.fpr = min(max(100_000-(l.yield-l.coupon)*int64(l.years)*85/100, 85_000), 112_000)
}

// demand draws a line's books, tightening, premium and growth, which depend on each other.
func (l *bondLine) demand(d *dice, mood calibration.Regime) {
	terms := calibration.Effects[mood]
	books := d.NormFloat64()
	along := func(correlation float64) float64 {
		return correlation*books + math.Sqrt(1-correlation*correlation)*d.NormFloat64()
	}
	l.cover = terms.Cover * math.Exp(0.4*books)
	l.tighter = max(int(math.Round(terms.Tighter+8*along(0.5))), 0)
	l.premium = int(math.Round(terms.Premium + 5*along(-0.5)))
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

// roundSize rounds an amount to multiples of 5 million. If near is below 50 million, it returns near.
func roundSize(amount float64, near int64) int64 {
	if near < 50e6 {
		return near
	}
	return int64(math.Round(amount/5e6) * 5e6)
}

// bondSize draws a line's size by market, currency and type of borrower.
func bondSize(d *dice, o offer, plan bondPlan, cur currency) int64 {
	median, sigma := 700.0, 0.55
	switch {
	case o.market == api.EM:
		median, sigma = 420, 0.75
	case o.market == api.HY && cur.Code == "USD":
		median, sigma = 450, 0.5
	case o.market == api.HY:
		median, sigma = 400, 0.45
	case plan.covered:
		median, sigma = 650, 0.40
	case plan.issuer.official():
		median, sigma = 1100, 0.80
	case cur.Code == "USD":
		median, sigma = 750, 0.60
	case cur.Code == "EUR":
		median, sigma = 650, 0.45
	}
	return size(d, cur, median, sigma)
}

// rates returns the approximate risk-free rate of a currency, in thousandths of a per cent.
func rates(cur currency, at time.Time) int64 {
	low := at.Year() >= 2012 && at.Year() <= 2021
	switch {
	case cur.Code == "EUR" || cur.Code == "CHF" || cur.Code == "JPY" || cur.Code == "SEK":
		if low && at.Year() >= 2015 {
			return -350
		}
		return 1500
	case low:
		return 1250
	}
	return 3250
}

// along returns the interpolated value of points at an instant.
func along(points []calibration.Point, at time.Time) float64 {
	year := float64(at.Year())
	for i, p := range points {
		if year > p.Year {
			continue
		}
		if i == 0 {
			return p.Value
		}
		last := points[i-1]
		return last.Value + (p.Value-last.Value)*(year-last.Year)/(p.Year-last.Year)
	}
	return points[len(points)-1].Value
}

func labelOf(d *dice, o offer) int {
	labelled := d.chance(along(calibration.LabelledShares[o.market], o.target) / 100)
	which := pickWeighted(d, calibration.LabelKinds...)
	if labelled {
		return which
	}
	return 0
}

func callShare(market api.Market) float64 { return byMarket(market, 0.345, 0.84, 0.21) }

func juniorOf(d *dice, market api.Market, plan bondPlan) int {
	roll := d.Float64()
	switch {
	case plan.covered:
		return calibration.RankCovered
	case plan.issuer.bankish && market == api.IG:
		return pickWeighted(d, calibration.BankRanksIG...)
	case plan.issuer.bankish:
		return pickWeighted(d, calibration.BankRanks...)
	case market == api.HY && roll < 0.35:
		return calibration.RankSecured
	case roll > 0.975 && !plan.issuer.official():
		return 5
	}
	return 0
}

func basisOf(d *dice, market api.Market, cur currency) string {
	if market == api.HY && d.chance(0.75) {
		return ""
	}
	switch cur.Code {
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
	name := pick(d, fmt.Sprintf("%dyr", line.years), fmt.Sprintf("%dyr", line.years), fmt.Sprintf("Long %dyr", line.years), fmt.Sprintf("%s Tranche %d", line.cur.Code, i+1))
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

// structure returns the line's short code: 10NC5, PNC5, 5yr FXD.
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

// quote returns a price as text: over the line's basis, or as a yield.
func (l bondLine) quote(points int) string {
	if l.basis == "" {
		return millis(int64(points)*10) + "%"
	}
	return fmt.Sprintf("%s%+d", l.basis, points)
}

// area returns a range of prices as text.
func (l bondLine) area(low, high int) string {
	if l.basis == "" {
		return millis(int64(low)*10) + "-" + l.quote(high)
	}
	return fmt.Sprintf("%s-%d", l.quote(low), high)
}

// maturity returns the maturity of a line that was priced at an instant.
func (l bondLine) maturity(at time.Time) time.Time { return at.AddDate(l.years, 0, 7) }

// tapped returns the line as an increase sells it: a smaller amount at another price.
func (l bondLine) tapped(seed uint64, mood calibration.Regime) bondLine {
	d := stream(seed)
	l.amount = size(d, l.cur, max(float64(l.amount)/1e6/l.cur.Scale*0.4, 5), 0.3)
	moved := int(d.NormFloat64() * 40)
	l.price, l.yield = l.price+moved, l.yield+int64(moved)*10
	l.reoffer()
	l.demand(d, mood)
	l.tighter /= 3
	return l
}

// codes are a line's identifiers. An increase has a temporary ISIN until it is merged.
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

// bondLine returns the line of a bond priced record, or of the expected deal of an increase.
func (d *deal) bondLine() bondLine {
	line := planBond(d.offer).lines[d.line]
	if d.tap != 0 {
		return line.tapped(d.tap, d.offer.mood)
	}
	return line
}

// bondLines returns all lines that an expected deal shows during its script.
func (d *deal) bondLines(plan bondPlan) []bondLine {
	if d.tap != 0 {
		return []bondLine{plan.lines[d.line].tapped(d.tap, d.offer.mood)}
	}
	return plan.lines
}
