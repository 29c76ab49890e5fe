package sim

import (
	"math"
	"time"

	"dealflow/schemas/api"
)

// calendar says how busy a market is on a day: counts by year, seasons, days of the week, holidays,
// and the regimes of the market, which come and go by the week. It is a pure function of a seed.
type calendar struct {
	seed    uint64
	dice    *dice    // draws the regimes, week after week
	regimes []regime // of the weeks since firstWeek
	years   map[marketYear]*[366]float64
}

type marketYear struct {
	market api.Market
	year   int
}

// regime is the hidden state of the markets in a week.
type regime uint8

const (
	hot regime = iota
	normal
	weak
	shut
)

// regimeTerms are what a regime does to deals: arrivals, tightening in basis points, how often the
// books are covered, the premium, and the shares of deals that are pulled.
var regimeTerms = [...]struct {
	arrivals, tighter, cover, premium, bondPull, loanPull float64
	flex                                                  []weighted[int] // in steps of a leveraged loan's margin
}{
	hot:    {1.25, 30, 3.9, 0, 0.003, 0.005, []weighted[int]{{45, -1}, {4, 1}, {51, 0}}},
	normal: {1, 25, 2.9, 4, 0.007, 0.012, []weighted[int]{{28, -1}, {12, 1}, {60, 0}}},
	weak:   {0.6, 14, 2.0, 12, 0.025, 0.05, []weighted[int]{{10, -1}, {35, 1}, {55, 0}}},
	shut:   {0.1, 5, 1.4, 20, 0.15, 0.20, []weighted[int]{{2, -1}, {60, 1}, {38, 0}}},
}

// moves are where a regime goes after a week.
var moves = [...][]weighted[regime]{
	hot:    {{92, hot}, {8, normal}},
	normal: {{2.5, hot}, {95, normal}, {2.5, weak}},
	weak:   {{10, normal}, {88, weak}, {2, shut}},
	shut:   {{30, weak}, {70, shut}},
}

// firstWeek is the Monday on which the regimes begin; before it all is normal.
var firstWeek = time.Date(2009, time.January, 5, 0, 0, 0, 0, time.UTC)

func newCalendar(seed uint64) *calendar {
	return &calendar{seed: seed, dice: stream(seed, tagRegime), years: map[marketYear]*[366]float64{}}
}

// regime is the state of the markets in a day's week.
func (c *calendar) regime(at time.Time) regime {
	week := int(at.Sub(firstWeek) / (7 * day))
	if at.Before(firstWeek) {
		return normal
	}
	for len(c.regimes) <= week {
		last := normal
		if len(c.regimes) > 0 {
			last = c.regimes[len(c.regimes)-1]
		}
		next := pickWeighted(c.dice, moves[last])
		if start := firstWeek.AddDate(0, 0, 7*len(c.regimes)); crisis(start) {
			next = max(next, weak)
		}
		c.regimes = append(c.regimes, next)
	}
	return c.regimes[week]
}

// crisis says whether the markets were all but closed.
func crisis(at time.Time) bool {
	year, month := at.Year(), at.Month()
	return year == 2020 && month == time.March || year == 2022 && month >= time.March && month <= time.October
}

// annual are the priced records of the years since firstYear: of bonds securities, of loans deals.
var annual = map[api.Market][]float64{
	api.IG: {2700, 2750, 3100, 3150, 3350, 3400, 3500, 3600, 3300, 3700, 4500, 4100, 3500, 3600, 4200},
	api.HY: {790, 690, 880, 930, 900, 680, 640, 830, 560, 740, 900, 1180, 300, 430, 760},
	api.EM: {700, 690, 880, 930, 980, 820, 880, 1230, 1030, 1230, 1270, 1490, 680, 720, 930},
	api.LL: {620, 700, 780, 1150, 1050, 850, 950, 1350, 1150, 950, 800, 1500, 620, 800, 1600},
	api.CF: {900, 1050, 900, 1000, 1150, 1200, 1080, 1150, 1180, 1120, 1150, 1250, 1150, 1020, 1150},
	api.AF: {230, 260, 230, 230, 250, 260, 250, 270, 280, 280, 240, 290, 270, 280, 300},
}

const firstYear = 2010

// annualCount is the count of a year; beyond the known years it is that of the nearest.
func annualCount(market api.Market, year int) float64 {
	counts := annual[market]
	return counts[min(max(year-firstYear, 0), len(counts)-1)]
}

// meanRate is the mean count of priced records on a day of business.
func meanRate(market api.Market, year int) float64 { return annualCount(market, year) / 261 }

// rate is the expected count of priced records on a day, of a market in its full size.
func (c *calendar) rate(market api.Market, at time.Time) float64 {
	key := marketYear{market, at.Year()}
	days, known := c.years[key]
	if !known {
		days = c.year(key)
		c.years[key] = days
	}
	return days[at.YearDay()-1]
}

// year spreads a year's count over its days: by month, within the month by day and regime.
func (c *calendar) year(key marketYear) *[366]float64 {
	var days [366]float64
	var months [13]float64
	start := time.Date(key.year, time.January, 1, 0, 0, 0, 0, time.UTC)
	each := func(do func(i int, at time.Time)) {
		for at := start; at.Year() == key.year; at = at.AddDate(0, 0, 1) {
			do(at.YearDay()-1, at)
		}
	}
	each(func(i int, at time.Time) {
		days[i] = dayWeight(key.market, at)
		months[at.Month()] += days[i]
	})
	total := 0.0
	each(func(i int, at time.Time) {
		days[i] *= monthWeights[key.market][at.Month()-1] / months[at.Month()] * c.weather(key.market, at)
		total += days[i]
	})
	for i := range days {
		days[i] *= annualCount(key.market, key.year) / total
	}
	return &days
}

// weather is what regime and crisis do to a day's count. The shock of 2022 closed the risky markets;
// the others went on.
func (c *calendar) weather(market api.Market, at time.Time) float64 {
	factor := regimeTerms[c.regime(at)].arrivals
	risky := market == api.HY || market == api.EM || market == api.LL
	if crisis(at) && (risky || at.Year() == 2020) {
		factor *= 0.3
	}
	return factor
}

// monthWeights are the markets' seasons.
var monthWeights = map[api.Market][12]float64{
	api.IG: {1.32, 1.07, 1.47, 0.69, 0.93, 0.88, 0.81, 0.85, 1.50, 0.86, 1.12, 0.47},
	api.HY: {0.87, 0.93, 1.33, 1.02, 0.90, 0.39, 0.75, 0.85, 1.64, 1.28, 1.11, 0.94},
	api.EM: {1.60, 1.03, 1.08, 1.08, 1.00, 1.00, 0.88, 0.45, 1.25, 1.05, 1.08, 0.50},
	api.LL: loanMonths, api.CF: loanMonths, api.AF: loanMonths,
}

var loanMonths = [12]float64{0.80, 0.95, 1.25, 0.95, 1.00, 1.30, 0.95, 0.60, 0.95, 1.00, 1.00, 1.25}

// week is what share of the deals comes on a Monday, Tuesday …, in per cent.
type week [5]float64

var (
	weekEUR  = week{17, 28, 26, 25, 4}
	weekUSD  = week{22, 27, 22, 22, 7}
	weekJPY  = week{14, 18, 20, 20, 28}
	weekHY   = week{12, 19, 22, 27, 20}
	weekEM   = week{15, 27, 26, 24, 8}
	weekLoan = week{15, 20, 22, 24, 19}
)

// weekOf is the week of a currency in a market.
func weekOf(market api.Market, code string) week {
	switch {
	case market == api.HY:
		return weekHY
	case market == api.EM:
		return weekEM
	case market != api.IG:
		return weekLoan
	case code == "JPY":
		return weekJPY
	case code == "USD" || code == "CAD":
		return weekUSD
	}
	return weekEUR
}

// currencyFactor is how much of a currency's deals fall on a day, 1 on a mean day.
func currencyFactor(market api.Market, code string, at time.Time) float64 {
	if weekend(at) {
		return 0
	}
	factor := weekOf(market, code)[at.Weekday()-time.Monday] / 20
	if code == "EUR" && at.Month() == time.August && at.Day() <= 20 {
		factor *= 0.35 // the first half of August is all but empty
	}
	return factor
}

// dayWeight is how busy a day is within its month.
func dayWeight(market api.Market, at time.Time) float64 {
	weight, total := 0.0, 0.0
	for _, share := range currencyMix[market] {
		weight += share.weight * currencyFactor(market, share.value, at)
		total += share.weight
	}
	return weight / total * holidays(market, at)
}

// holidays are the days on which little or nothing comes, and the one on which most does.
func holidays(market api.Market, at time.Time) float64 {
	month, dom, bond := at.Month(), at.Day(), market == api.IG || market == api.HY || market == api.EM
	switch {
	case month == time.December && dom >= 15 || month == time.January && dom <= 2:
		return 0.08
	case month == time.November && dom >= 22 && dom <= 28 && at.Weekday() >= time.Wednesday:
		return 0.15
	case !bond:
		return 1
	case month == time.September && at.Weekday() == time.Tuesday && dom >= 2 && dom <= 8:
		return 2.5 // the day after Labor Day
	case at.Weekday() == time.Wednesday && dom >= 15 && dom <= 21 && month%3 == 0:
		return 0.5 // central banks
	case market == api.EM && (month == time.February && dom <= 8 || month == time.October && dom <= 7):
		return 0.6 // Lunar New Year and Golden Week
	case (month-1)%3 == 0 && dom >= 10 && dom <= 22:
		return 0.75 // before results
	}
	return 1
}

// overdispersed is a count of mean deals, whose variance is that of a negative binomial with k = 3.
func overdispersed(r *dice, mean float64) int {
	gamma := -math.Log((1 - r.Float64()) * (1 - r.Float64()) * (1 - r.Float64()))
	return r.poisson(mean * gamma / 3)
}
