package report

import (
	"dealflow/internal/chart"
	"dealflow/schemas/api"
)

// executionSection shows how bonds priced.
func executionSection(d *Data) section {
	return section{ID: "execution", Title: "Tightening and cover", Figures: []figure{
		measureFigure(d, tightening), measureFigure(d, cover), summaryFigure(d.Executions), ratingFigure(d.Executions),
	}}
}

// measure is one figure of how bonds price.
type measure struct {
	title, defined string
	name, unit     string
	used           string // condition for a bond to count, to follow "have"
	digits         int
	read           func(*Execution) (used int64, median *float64)
}

var (
	tightening = measure{
		title:   "Tightening from first talk to pricing, by month",
		defined: "Median of first talk less final, positive where it priced tighter: spread against the same benchmark, in HY yield",
		name:    "tightening", unit: "basis points", used: "a first talk and a final that compare", digits: 1,
		read: func(e *Execution) (int64, *float64) { return e.TighteningN, e.Tightening },
	}
	cover = measure{
		title:   "Cover, by month",
		defined: "Median of final books ÷ nominal",
		name:    "cover", unit: "times", used: "both stated", digits: 2,
		read: func(e *Execution) (int64, *float64) { return e.CoverN, e.Cover },
	}
)

// measureFigure shows a measure by month and market.
func measureFigure(d *Data, m measure) figure {
	f := figure{Title: m.title, Defined: m.defined, Analysis: "execution_metrics", Query: "execution"}
	keys := months(d.State.ObservedAt)
	c := &chart.Chart{Title: f.Title, Desc: "Lines: median " + m.name + " in each of 24 months, by market.", Unit: m.unit, Categories: keys}
	c.Series = byMarket(markets(api.Bond), keys, d.Execution, func(e *Execution) (key, code string, v float64) {
		_, median := m.read(e)
		return e.Month, e.Market, value(median)
	})
	f.Table.Columns = columns("month", "market", ">median "+m.name+", "+m.unit, ">used of bonds")
	var used, bonds int64
	for i := range d.Execution {
		e := &d.Execution[i]
		n, median := m.read(e)
		used += n
		bonds += e.Deals
		f.Table.Rows = append(f.Table.Rows, []string{e.Month, e.Market, maybe(median, m.digits), outOf(n, e.Deals)})
	}
	f.Notes = []string{outOf(used, bonds) + " bonds of these months have " + m.used + "."}
	f.picture(c, chart.Lines, "No bond of these months has "+m.used+".")
	return f
}

func summaryFigure(rows []ExecutionSummary) figure {
	f := figure{
		Title:    "All bonds, by market",
		Defined:  "Medians over all bonds that count; the window is the time from first to last talk",
		Analysis: "execution_summary", Query: "execution_summary",
		Table: table{Open: true, Columns: columns("market", "measure", ">median", "unit", ">used of bonds")},
	}
	if len(rows) == 0 {
		f.Empty = "There are no bonds."
	}
	var all ExecutionSummary
	for i := range rows {
		r := &rows[i]
		if r.Rating != allRatings {
			continue
		}
		all.Talk, all.OnlyFinal, all.FromGuidance = all.Talk+r.Talk, all.OnlyFinal+r.OnlyFinal, all.FromGuidance+r.FromGuidance
		all.TighteningN, all.CoverFlagged = all.TighteningN+r.TighteningN, all.CoverFlagged+r.CoverFlagged
		for _, m := range []struct {
			name, unit string
			median     *float64
			digits     int
			n          int64
		}{
			{"tightening", "basis points", r.Tightening, 1, r.TighteningN},
			{"cover", "times", r.Cover, 2, r.CoverN},
			{"new-issue premium", "basis points", r.NIP, 1, r.NIPN},
			{"window", "minutes", r.Window, 0, r.WindowN},
		} {
			f.Table.Rows = append(f.Table.Rows, []string{r.Market, m.name, maybe(m.median, m.digits), m.unit, outOf(m.n, r.Deals)})
		}
	}
	if len(rows) > 0 {
		f.Notes = []string{
			outOf(all.OnlyFinal, all.Talk) + " bonds with price talk have final talk only, and no tightening. " +
				outOf(all.FromGuidance, all.TighteningN) + " tightenings are measured from guidance.",
			chart.Count(all.CoverFlagged) + " covers are left out: the units of books and nominal seem to differ.",
		}
	}
	return f
}

// allRatings is the rating of the rows over all bonds of a market.
const allRatings = "all"

// ratingFigure shows tightening and premium by rating.
func ratingFigure(rows []ExecutionSummary) figure {
	f := figure{
		Title:    "All bonds, by market and rating",
		Defined:  "Medians over all bonds that count, by the letter of the composite rating",
		Analysis: "execution_summary", Query: "execution_summary",
		Table: table{Columns: columns("market", "rating", ">bonds", ">median tightening, basis points", ">used", ">median premium, basis points", ">used")},
	}
	if len(rows) == 0 {
		f.Empty = "There are no bonds."
	}
	for i := range rows {
		if r := &rows[i]; r.Rating != allRatings {
			f.Table.Rows = append(f.Table.Rows, []string{
				r.Market, r.Rating, chart.Count(r.Deals), maybe(r.Tightening, 1), chart.Count(r.TighteningN), maybe(r.NIP, 1), chart.Count(r.NIPN),
			})
		}
	}
	return f
}
