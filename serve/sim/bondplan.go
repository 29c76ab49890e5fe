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
	tighter   int    // basis points from initial price thoughts to the price; negative if the price is wider
	guide     guide  // guidance
	premium   int    // new issue premium, in basis points
	par       bool   // it is sold at par: the coupon is the yield
	yield     int64  // thousandths of a per cent
	gov       int    // yield less that of government securities, tenths of a basis point
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
	calls     calls
}

// guide is the guidance on a line's price: a range, in basis points like the price.
type guide struct {
	low, high int
	wpir      bool // "will price in range"
}

// calls are the clauses on early repayment.
type calls struct{ control, cleanUp, makeWhole bool }

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
		line.value(o.target, line.years)
		if !line.perpetual {
			line.call = min(line.call, line.years-1)
		}
		line.name = lineName(d, line, i, count)
		plan.lines = append(plan.lines, line)
	}
	if phantom := d.chance(0.05); phantom && count < mostLines {
		line := planLine(d, o, plan, cur)
		line.phantom, line.name = true, fmt.Sprintf("%dyr", line.years)
		line.value(o.target, line.years)
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
	quality := plan.issuer.quality
	switch {
	case line.basis == "":
		line.price = 350 + quality*25 + d.between(0, 80)
	case plan.covered:
		line.price = 8 + quality*2 + d.between(0, 15)
	default:
		line.price = 25 + quality*quality*2 + d.between(0, 40) + min(line.junior, 5)*30
	}
	line.par = d.chance(byMarket(o.market, 0.2, 0.65, 0.3))
	line.calls = callsOf(d, plan, line)
	line.label = labelOf(d, o)
	line.format = pickWeighted(d, calibration.BondFormats[o.market]...)
	line.demand(d, o.mood)
	return line
}

// callsOf draws the clauses on early repayment, by type of borrower.
func callsOf(d *dice, plan bondPlan, line bondLine) calls {
	share := calibration.CallsCorporate
	switch {
	case line.junior == 3 || plan.issuer.bankish || plan.issuer.official():
		share = calibration.CallsBank
	case plan.market == api.HY:
		share = calibration.CallsHY
	}
	return calls{d.chance(share.Control), d.chance(share.CleanUp), d.chance(share.MakeWhole)}
}

// value sets yield, coupon and price from the level over the basis, on a day on which the line has some years to run.
func (l *bondLine) value(at time.Time, years int) {
	government, swap := l.cur.government(at, years), int64(l.cur.Swap*10)
	l.yield = int64(l.price) * 10
	switch l.basis {
	case "":
		if l.par {
			l.yield = (l.yield + 125) / 250 * 250 // in quarters of a per cent
			moved := int(l.yield/10) - l.price
			l.price, l.guide.low, l.guide.high = l.price+moved, l.guide.low+moved, l.guide.high+moved
		}
	case "MS", "SARON MS", "BBSW":
		l.yield += government + swap
	default:
		l.yield += government
	}
	l.gov = int(l.yield - government)
	l.coupon = max(l.yield/125*125, 0)
	if l.par && l.yield > 0 {
		l.coupon = l.yield
	}
	l.reoffer(years)
}

// overMidSwaps returns the price over mid-swaps, in basis points.
func (l bondLine) overMidSwaps() int {
	if l.basis == "MS" {
		return l.price
	}
	return l.overGovernment() - l.cur.Swap
}

// overGovernment returns the price over government securities, in basis points.
func (l bondLine) overGovernment() int { return int(math.Round(float64(l.gov) / 10)) }

// reoffer sets the price at which the coupon gives about the yield.
func (l *bondLine) reoffer(years int) {
	l.fpr = min(max(100_000-(l.yield-l.coupon)*int64(years)*85/100, 60_000), 140_000)
}

// demand draws a line's books, tightening, premium and growth, which depend on each other.
func (l *bondLine) demand(d *dice, mood calibration.Regime) {
	terms := calibration.Effects[mood]
	books := d.NormFloat64()
	along := func(correlation float64) float64 {
		return correlation*books + math.Sqrt(1-correlation*correlation)*d.NormFloat64()
	}
	l.cover = terms.Cover * math.Exp(0.4*books)
	l.tighter = int(math.Round(terms.Tighter + 8*along(0.5)))
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
	l.guide = l.guidance(d)
}

// guidance draws the guidance: a range that is not wider than the first talk, with the price at an end, inside, or
// outside.
func (l bondLine) guidance(d *dice) guide {
	width := pick(d, 5, 5, 5, 10)
	if l.em {
		width = 10
	}
	g := guide{wpir: d.chance(calibration.PricesInRange)}
	ends, inside := calibration.Guided, d.between(1, width-1)
	if g.wpir {
		ends = calibration.GuidedInRange
	}
	beyond := d.between(2, 4) * width / 2
	ending := pickWeighted(d, ends...)
	if l.tighter <= 0 { // guidance does not go wider than the first talk to come back
		ending = calibration.AtWideEnd
	}
	switch ending {
	case calibration.AtTightEnd:
		g.low = l.price
	case calibration.Inside:
		g.low = l.price - inside
	case calibration.AtWideEnd:
		g.low = l.price - width
	case calibration.Tighter:
		g.low = l.price + min(beyond, max(l.tighter-width, 1))
	default:
		g.low = l.price - width - min(beyond, 3)
	}
	g.high = g.low + width
	return g
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
	case "EUR":
		return pick(d, "MS", "MS", "MS", "B")
	case "USD", "GBP", "CAD":
		return cur.Government
	case "AUD":
		return "BBSW"
	case "CHF":
		return "SARON MS"
	}
	return "MS"
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
	return overText(l.basis, points)
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

// tapped returns the line as an increase sells it on a day: a smaller amount at that day's level.
func (l bondLine) tapped(seed uint64, o offer, at time.Time) bondLine {
	d := stream(seed)
	l.amount = size(d, l.cur, max(float64(l.amount)/1e6/l.cur.Scale*0.4, 5), 0.3)
	left := l.yearsLeft(o, at)
	if l.basis == "" { // its yield has moved with those of government securities
		l.price += int(l.cur.government(at, left)-l.cur.government(o.target, l.years)) / 10
	}
	l.price = max(l.price+int(d.NormFloat64()*min(40, float64(l.price)/4)), l.price/2)
	coupon := l.coupon
	l.par = false
	l.value(at, left)
	l.coupon = coupon
	l.reoffer(left)
	l.demand(d, o.mood)
	l.tighter /= 3
	l.guide = l.guidance(d)
	return l
}

// yearsLeft returns the years from a day to the maturity of a line of an offer, at least 1.
func (l bondLine) yearsLeft(o offer, at time.Time) int {
	return max(int(l.maturity(o.target).Sub(at)/(365*day)), 1)
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
		return line.tapped(d.tap, d.offer, d.target)
	}
	return line
}

// bondLines returns all lines that an expected deal shows during its script.
func (d *deal) bondLines(plan bondPlan) []bondLine {
	if d.tap != 0 {
		return []bondLine{plan.lines[d.line].tapped(d.tap, d.offer, d.target)}
	}
	return plan.lines
}
