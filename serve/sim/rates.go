package sim

import (
	"math"
	"strconv"
	"time"

	"dealflow/serve/sim/calibration"
)

// on returns the currency with its rate of a day. The rate is the same for all deals of that day.
func (c currency) on(at time.Time) currency {
	if c.Code == "USD" {
		c.nano = 1_000_000_000
		return c
	}
	value := yearly(c.Dollars, at) * (1 + 0.015*wobble(c.Code+"$", at))
	c.nano = int64(math.Round(fiveDigits(value) * 1e9))
	return c
}

// fiveDigits rounds a rate to five significant digits, as screens show it.
func fiveDigits(value float64) float64 {
	scale := math.Pow(10, 4-math.Floor(math.Log10(value)))
	return math.Round(value*scale) / scale
}

// government returns the yield of government securities of some years on a day, in thousandths of a per cent.
func (c currency) government(at time.Time, years int) int64 {
	level := 1000*yearly(c.Yields, at) + 120*wobble(c.Code, at)
	return int64(level) + int64((min(max(years, 1), 20)-5)*c.Slope)
}

// yearly returns the value of a day between those at the starts of its year and of the next one.
func yearly(values []float64, at time.Time) float64 {
	year, share := at.Year()-calibration.FirstYear, float64(at.YearDay()-1)/366
	if year < 0 {
		year, share = 0, 0
	}
	last := len(values) - 1
	if year >= last {
		return values[last]
	}
	return values[year] + share*(values[year+1]-values[year])
}

// wobble returns by how much a series is off its yearly line on a day, from -1 to 1: it drifts from week to week, and
// moves a little each day.
func wobble(series string, at time.Time) float64 {
	name := uint64(len(series))
	for _, c := range []byte(series) {
		name = name<<8 | uint64(c)
	}
	days := at.Unix() / 86400
	draw := func(grain uint64, n int64) float64 {
		return float64(mix(name, grain, uint64(n))>>11)/(1<<52) - 1
	}
	week, share := days/7, float64(days%7)/7
	return 0.75*((1-share)*draw(1, week)+share*draw(1, week+1)) + 0.25*draw(2, days)
}

// overText returns a level over a benchmark as text: T+95, B-3.
func overText(benchmark string, points int) string {
	sign := "+"
	if points < 0 {
		sign = ""
	}
	return benchmark + sign + strconv.Itoa(points)
}
