package calibration

import (
	"time"

	"dealflow/schemas/api"
)

// Regime is the hidden state of the markets in a week.
type Regime uint8

// The regimes, from the busiest to the quietest.
const (
	Hot Regime = iota
	Normal
	Weak
	Shut
)

// RegimeEffects are what a regime does to deals.
type RegimeEffects struct {
	Arrivals           float64         // factor on the count of deals
	Tighter            float64         // tightening from first thoughts to the price: median, basis points
	Cover              float64         // final books by the size: median, times
	Premium            float64         // new issue premium: median, basis points
	BondPull, LoanPull float64         // share of the deals that are pulled, 0 to 1
	Flex               []Weighted[int] // change of a leveraged loan's margin, in steps
}

// Effects are the effects of each regime. Source: assumption; tightening and cover of the first two regimes are near
// public figures of US investment grade of late 2024 (28 bp, 2.8 to 4.8 times), premiums near those of euro bonds of
// 2021 to 2024.
var Effects = [...]RegimeEffects{
	Hot:    {1.25, 30, 3.9, 0, 0.003, 0.005, []Weighted[int]{{45, -1}, {4, 1}, {51, 0}}},
	Normal: {1, 25, 2.9, 4, 0.007, 0.012, []Weighted[int]{{28, -1}, {12, 1}, {60, 0}}},
	Weak:   {0.6, 14, 2.0, 12, 0.025, 0.05, []Weighted[int]{{10, -1}, {35, 1}, {55, 0}}},
	Shut:   {0.1, 5, 1.4, 20, 0.15, 0.20, []Weighted[int]{{2, -1}, {60, 1}, {38, 0}}},
}

// Moves are the regimes that can follow each regime in the next week. Source: assumption.
var Moves = [...][]Weighted[Regime]{
	Hot:    {{92, Hot}, {8, Normal}},
	Normal: {{2.5, Hot}, {95, Normal}, {2.5, Weak}},
	Weak:   {{10, Normal}, {88, Weak}, {2, Shut}},
	Shut:   {{30, Weak}, {70, Shut}},
}

// FirstWeek is the Monday on which the regimes begin; before it every week is Normal. Source: choice, before the first
// year.
var FirstWeek = time.Date(2009, time.January, 5, 0, 0, 0, 0, time.UTC)

// AnnualCounts are the numbers of priced records in each year from FirstYear on: securities for bonds, deals for
// loans. Source: assumption, shaped by public counts of some markets and years (US investment grade 2015, US high
// yield 2009 to 2013, emerging markets 2020 and 2021).
var AnnualCounts = map[api.Market][]float64{
	api.IG: {2700, 2750, 3100, 3150, 3350, 3400, 3500, 3600, 3300, 3700, 4500, 4100, 3500, 3600, 4200},
	api.HY: {790, 690, 880, 930, 900, 680, 640, 830, 560, 740, 900, 1180, 300, 430, 760},
	api.EM: {700, 690, 880, 930, 980, 820, 880, 1230, 1030, 1230, 1270, 1490, 680, 720, 930},
	api.LL: {620, 700, 780, 1150, 1050, 850, 950, 1350, 1150, 950, 800, 1500, 620, 800, 1600},
	api.CF: {900, 1050, 900, 1000, 1150, 1200, 1080, 1150, 1180, 1120, 1150, 1250, 1150, 1020, 1150},
	api.AF: {230, 260, 230, 230, 250, 260, 250, 270, 280, 280, 240, 290, 270, 280, 300},
}

// FirstYear is the year of the first entries of AnnualCounts.
const FirstYear = 2010

// MonthWeights are the seasons: the weight of each month, January first; 1 is about the mean. Source: investment grade
// and high yield from public US volumes of 2009, 2010, 2012 and 2013; the others assumptions.
var MonthWeights = map[api.Market][12]float64{
	api.IG: {1.32, 1.07, 1.47, 0.69, 0.93, 0.88, 0.81, 0.85, 1.50, 0.86, 1.12, 0.47},
	api.HY: {0.87, 0.93, 1.33, 1.02, 0.90, 0.39, 0.75, 0.85, 1.64, 1.28, 1.11, 0.94},
	api.EM: {1.60, 1.03, 1.08, 1.08, 1.00, 1.00, 0.88, 0.45, 1.25, 1.05, 1.08, 0.50},
	api.LL: loanMonths, api.CF: loanMonths, api.AF: loanMonths,
}

// loanMonths are the seasons of all loan markets.
var loanMonths = [12]float64{0.80, 0.95, 1.25, 0.95, 1.00, 1.30, 0.95, 0.60, 0.95, 1.00, 1.00, 1.25}

// Week is the share of the deals that comes on each day from Monday to Friday, in per cent.
type Week [5]float64

// The weeks of the markets, those of investment-grade bonds by currency. Source: assumption.
var (
	WeekEUR  = Week{17, 28, 26, 25, 4}  // investment-grade bonds in other currencies
	WeekUSD  = Week{22, 27, 22, 22, 7}  // investment-grade bonds in dollars of the United States and Canada
	WeekJPY  = Week{14, 18, 20, 20, 28} // investment-grade bonds in yen
	WeekHY   = Week{12, 19, 22, 27, 20} // high-yield bonds
	WeekEM   = Week{15, 27, 26, 24, 8}  // emerging-market bonds
	WeekLoan = Week{15, 20, 22, 24, 19} // loans
)
