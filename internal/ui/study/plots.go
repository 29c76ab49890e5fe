package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"dealflow/internal/chart"
	"dealflow/internal/ui/asof"
	"dealflow/schemas/api"
)

// plot says how an answer is drawn. Values of the same category and series add up, so a column that does not add up must have
// one row for each.
type plot struct {
	kind       func(*chart.Chart) *chart.Drawing // nil: no chart
	categories []string                          // columns
	series     string                            // column; "" for one series
	value      string                            // column
	divide     float64                           // by which values are divided; 0: 1
	unit       string
	count      string // column with the number of deals that a value is of, which bars show; "" for none
	few        bool   // bars of fewer than 5 deals are hatched
	ascending  bool   // the categories are in ascending order, not in that of the rows
	most       int    // categories; 0: all

	lower, upper string // columns of the band around the value; "" for none
	times        string // of which the categories are, with gaps where one is missing: a key of steps, or the parameter that names it; "" for no time
	absent       string // what a category says for NULL in its last column; "" for nothing
}

// overTime is the plot of a cut of execution_by by time: the median in the band of the quartiles.
func overTime(p plot, cut string) plot {
	p.kind, p.value, p.lower, p.upper, p.times = chart.Bands, "median", "lower_quartile", "upper_quartile", cut
	p.ascending, p.few, p.count, p.most = true, false, "", 0
	return p
}

// steps are the months and days from one time of an axis to the next.
var steps = map[string][2]int{"week": {0, 7}, "month": {1, 0}, "quarter": {3, 0}, "year": {12, 0}}

// withGaps returns all times, such as weeks or years, from the first to the last of some; the same if one of them is no such time, or
// if they are too many for a screen. A time is a day, a month or a year.
func withGaps(sorted []string, unit string) []string {
	step, isTime := steps[unit]
	if !isTime {
		return sorted
	}
	var all []string
	var next time.Time
	for i, text := range sorted {
		form := time.DateOnly[:min(len(text), len(time.DateOnly))]
		at, err := time.Parse(form, text)
		if err != nil {
			return sorted
		}
		for ; i > 0 && next.Before(at) && len(all) <= mostTimes; next = next.AddDate(0, step[0], step[1]) {
			all = append(all, next.Format(form))
		}
		all, next = append(all, text), at.AddDate(0, step[0], step[1])
	}
	if len(all) > mostTimes {
		return sorted
	}
	return all
}

const mostTimes = 1000

// plots are the charts of analyses, by name. Those that are not in it have a table alone.
var plots = map[string]plot{
	"execution_by":        {kind: chart.Bars, categories: []string{"cut"}, value: "mean", count: "n", few: true, most: 30},
	"execution_summary":   {kind: chart.Bars, categories: []string{"market", "rating"}, value: "tightening_bp_mean", unit: "bp of tightening, mean", count: "tightening_bp_n", few: true},
	"issuance_growth":     {kind: chart.Lines, categories: []string{"period"}, series: "market", value: "growth_pct", unit: "% against the year before", ascending: true, times: "grain"},
	"issuance_volume":     {kind: chart.Stacked, categories: []string{"period"}, series: "market", value: "usd", divide: 1e9, unit: "USD bn", ascending: true, times: "grain"},
	"league_table":        {kind: chart.Bars, categories: []string{"bank"}, value: "credit_usd", divide: 1e6, unit: "USD m", count: "deals", most: 25},
	"loan_terms_summary":  {kind: chart.Lines, categories: []string{"year"}, series: "market", value: "leverage_median", unit: "total leverage, median", ascending: true, times: "year"},
	"maturity_wall":       {kind: chart.Stacked, categories: []string{"year"}, series: "market", value: "usd", divide: 1e9, unit: "USD bn", ascending: true, times: "year"},
	"pipeline_conversion": {kind: chart.Bars, categories: []string{"service", "market"}, value: "conversion_pct", unit: "% priced", count: "tranches", few: true},
	"restatement_fields":  {kind: chart.Bars, categories: []string{"market", "table_name", "field"}, absent: "(rows)", value: "share", divide: 0.01, unit: "% of deals", count: "deals_restated", most: 30},
	"restatement_stats":   {kind: chart.Bars, categories: []string{"service", "market"}, value: "restated_pct", unit: "% restated", count: "deals", few: true},
}

// units are those of the measures of execution_by.
var units = map[string]string{"tightening": "bp of tightening, mean", "cover": "times covered, mean", "premium": "bp of premium, mean", "window": "minutes, mean"}

// fewDeals is the number of deals below which a mean says little.
const fewDeals = 5

// points are what a plot draws of an answer.
type points struct {
	categories   []string                      // in the order of the rows
	values       map[string]map[string]float64 // by series, then category
	lower, upper map[string]float64            // by category
	counts       map[string]int64              // of deals, by category
	missing      int                           // rows without a value or a category
}

// pointsOf returns the points of an answer.
func (p plot) pointsOf(found *asof.Answer) *points {
	all := &points{
		values: map[string]map[string]float64{}, lower: map[string]float64{}, upper: map[string]float64{}, counts: map[string]int64{},
	}
	for _, r := range found.All() {
		category, series := p.category(r), ""
		v, err := strconv.ParseFloat(r.Text(p.value), 64)
		if err != nil || category == "" {
			all.missing++
			continue
		}
		if !slices.Contains(all.categories, category) {
			all.categories = append(all.categories, category)
		}
		if p.series != "" {
			series = r.Text(p.series)
		}
		if p.count != "" {
			all.counts[category] += r.Int(p.count)
		}
		if p.few && r.Int(p.count) < fewDeals {
			series = fewSeries
		}
		if all.values[series] == nil {
			all.values[series] = map[string]float64{}
		}
		all.values[series][category] += v / cmp.Or(p.divide, 1)
		if p.lower != "" {
			all.lower[category], all.upper[category] = numberOf(r, p.lower), numberOf(r, p.upper)
		}
	}
	return all
}

// category returns the category of a row; "" for none.
func (p plot) category(r asof.Row) string {
	var parts []string
	for _, column := range p.categories {
		if !r.Null(column) {
			parts = append(parts, r.Text(column))
		}
	}
	if p.absent != "" && r.Null(p.categories[len(p.categories)-1]) {
		parts = append(parts, p.absent)
	}
	return strings.Join(parts, " ")
}

// draw draws an answer. It returns nil if there is nothing to draw, what the chart leaves out, and its first bar in words.
func (p plot) draw(name string, found *asof.Answer, args asof.Args) (drawing *chart.Drawing, said, first string) {
	if cut := args["cut"]; cut == "month" || cut == "year" {
		p = overTime(p, cut)
	}
	all := p.pointsOf(found)
	categories, said := p.shown(all, args)
	c := &chart.Chart{
		Title: name, Desc: fmt.Sprintf("%s by %s. The table has the numbers.", p.value, strings.Join(p.categories, ", ")), Unit: p.unitOf(args),
		Categories: categories, Series: p.seriesOf(all.values, categories),
	}
	if p.count != "" {
		for _, category := range categories {
			c.Notes = append(c.Notes, p.note(all.values, category)+"n "+chart.Count(all.counts[category]))
		}
	}
	if p.lower != "" && len(c.Series) == 1 {
		s := &c.Series[0]
		for _, category := range categories {
			s.Lower, s.Upper = append(s.Lower, numberOr(all.lower, category)), append(s.Upper, numberOr(all.upper, category))
		}
	}
	if !c.HasValues() {
		return nil, said, ""
	}
	if len(c.Notes) > 0 {
		first = fmt.Sprintf("%s: %s (%s)", categories[0], c.Notes[0], c.Unit)
	}
	return chart.Both(func(narrow bool) *chart.Drawing {
		c.Narrow = narrow
		return p.kind(c)
	}), said, first
}

// shown returns the categories of the chart, in order, and what the chart leaves out.
func (p plot) shown(all *points, args asof.Args) (categories []string, leftOut string) {
	categories = all.categories
	if p.ascending {
		slices.Sort(categories)
	}
	if p.times != "" {
		categories = withGaps(categories, cmp.Or(args[p.times], p.times))
	}
	if p.most > 0 && len(categories) > p.most {
		leftOut = fmt.Sprintf("The chart has the first %d of %d.", p.most, len(categories))
		categories = categories[:p.most]
	}
	if all.missing > 0 {
		leftOut = strings.TrimSpace(leftOut + fmt.Sprintf(" %s without a value or a category: the table has them.", plural(all.missing)))
	}
	return categories, leftOut
}

// unitOf returns what the axis of values says.
func (p plot) unitOf(args asof.Args) string {
	measure, ok := args["measure"]
	switch {
	case !ok:
		return p.unit
	case p.lower != "":
		return strings.Replace(units[measure], "mean", "median and quartiles", 1)
	}
	return units[measure]
}

// numberOf returns a number of a row; NaN for none.
func numberOf(r asof.Row, column string) float64 {
	v, err := strconv.ParseFloat(r.Text(column), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// numberOr returns a value of a map; NaN for none.
func numberOr(values map[string]float64, key string) float64 {
	v, ok := values[key]
	if !ok {
		return math.NaN()
	}
	return v
}

func plural(rows int) string {
	if rows == 1 {
		return "1 row is"
	}
	return chart.Count(int64(rows)) + " rows are"
}

// note is the value at the end of a bar.
func (p plot) note(values map[string]map[string]float64, category string) string {
	for _, series := range []string{"", fewSeries} {
		if v, ok := values[series][category]; ok {
			return chart.Decimals(v, 1) + ", "
		}
	}
	return ""
}

const fewSeries = "fewer than 5 deals"

// seriesOf returns the series in the order of markets, which have one colour each on all pages.
func (p plot) seriesOf(values map[string]map[string]float64, categories []string) []chart.Series {
	names := []string{""}
	classes := map[string]string{"": "s0", fewSeries: "s0"}
	for i, market := range slices.Concat(api.Markets(api.Bond), api.Markets(api.Loan)) {
		names = append(names, string(market))
		classes[string(market)] = fmt.Sprintf("s%d", i%6)
	}
	var all []chart.Series
	for _, name := range append(names, fewSeries) {
		byCategory, ok := values[name]
		if !ok {
			continue
		}
		s := chart.Series{Name: cmp.Or(name, p.value), Class: classes[name], Hatched: name == fewSeries}
		for _, category := range categories {
			s.Values = append(s.Values, numberOr(byCategory, category))
		}
		all = append(all, s)
	}
	return all
}
