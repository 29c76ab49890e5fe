package sim

import (
	"math"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// calendar returns how busy a market is on a day: by year, season, day of the week, holiday, and the regime of the
// week. It is a pure function of a seed. It caches years, so it is not safe for concurrent use.
type calendar struct {
	seed    uint64
	dice    *dice                // draws the regimes, week after week
	regimes []calibration.Regime // of the weeks since calibration.FirstWeek
	years   map[marketYear]*[366]float64
}

type marketYear struct {
	market api.Market
	year   int
}

func newCalendar(seed uint64) *calendar {
	return &calendar{seed: seed, dice: stream(seed, tagRegime), years: map[marketYear]*[366]float64{}}
}

// regime returns the state of the markets in a day's week.
func (c *calendar) regime(at time.Time) calibration.Regime {
	week := int(at.Sub(calibration.FirstWeek) / (7 * day))
	if at.Before(calibration.FirstWeek) {
		return calibration.Normal
	}
	for len(c.regimes) <= week {
		last := calibration.Normal
		if len(c.regimes) > 0 {
			last = c.regimes[len(c.regimes)-1]
		}
		next := pickWeighted(c.dice, calibration.Moves[last]...)
		if start := calibration.FirstWeek.AddDate(0, 0, 7*len(c.regimes)); crisis(start) {
			next = max(next, calibration.Weak)
		}
		c.regimes = append(c.regimes, next)
	}
	return c.regimes[week]
}

// crisis says whether the markets were nearly closed.
func crisis(at time.Time) bool {
	year, month := at.Year(), at.Month()
	return year == 2020 && month == time.March || year == 2022 && month >= time.March && month <= time.October
}

// annualCount returns the count of priced records of a year. Outside the known years it is that of the nearest one.
func annualCount(market api.Market, year int) float64 {
	counts := calibration.AnnualCounts[market]
	return counts[min(max(year-calibration.FirstYear, 0), len(counts)-1)]
}

// meanRate returns the mean count of priced records on a business day.
func meanRate(market api.Market, year int) float64 { return annualCount(market, year) / 261 }

// rate returns the expected count of priced records on a day, for Config.Scale 1.
func (c *calendar) rate(market api.Market, at time.Time) float64 {
	key := marketYear{market, at.Year()}
	days, known := c.years[key]
	if !known {
		days = c.year(key)
		c.years[key] = days
	}
	return days[at.YearDay()-1]
}

// year returns a year's count by day: spread by month, and within the month by day and regime.
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
		days[i] *= calibration.MonthWeights[key.market][at.Month()-1] / months[at.Month()] * c.dayFactor(key.market, at)
		total += days[i]
	})
	for i := range days {
		days[i] *= annualCount(key.market, key.year) / total
	}
	return &days
}

// dayFactor returns the factor of regime and crisis on a day's count. The shock of 2022 closed only the risky markets.
func (c *calendar) dayFactor(market api.Market, at time.Time) float64 {
	factor := calibration.Effects[c.regime(at)].Arrivals
	risky := market == api.HY || market == api.EM || market == api.LL
	if crisis(at) && (risky || at.Year() == 2020) {
		factor *= 0.3
	}
	return factor
}

// weekOf returns the shares of the days of the week, by market and currency.
func weekOf(market api.Market, code string) calibration.Week {
	switch {
	case market == api.HY:
		return calibration.WeekHY
	case market == api.EM:
		return calibration.WeekEM
	case market != api.IG:
		return calibration.WeekLoan
	case code == "JPY":
		return calibration.WeekJPY
	case code == "USD" || code == "CAD":
		return calibration.WeekUSD
	}
	return calibration.WeekEUR
}

// currencyFactor returns the factor of a day on a currency's deals, 1 on a mean day.
func currencyFactor(market api.Market, code string, at time.Time) float64 {
	if weekend(at) {
		return 0
	}
	factor := weekOf(market, code)[at.Weekday()-time.Monday] / 20
	if code == "EUR" && at.Month() == time.August && at.Day() <= 20 {
		factor *= 0.35 // the first half of August is nearly empty
	}
	return factor
}

// dayWeight returns the weight of a day within its month.
func dayWeight(market api.Market, at time.Time) float64 {
	weight, total := 0.0, 0.0
	for _, share := range calibration.CurrencyMix[market] {
		weight += share.Weight * currencyFactor(market, share.Value, at)
		total += share.Weight
	}
	return weight / total * holidays(market, at)
}

// holidays returns the factor of a day: below 1 on holidays and quiet days, above 1 on the day after Labor Day, else 1.
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

// overdispersed draws a count with a mean, from a negative binomial distribution with k = 3.
func overdispersed(r *dice, mean float64) int {
	gamma := -math.Log((1 - r.Float64()) * (1 - r.Float64()) * (1 - r.Float64()))
	return r.poisson(mean * gamma / 3)
}
