package report

import "dealflow/schemas/api"

// executionSection shows how bonds priced.
func executionSection(d *Data) section {
	return section{ID: "execution", Title: "Tightening and cover", Figures: []figure{
		measureFigure(d, tightening), measureFigure(d, cover), summaryFigure(d.Executions),
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
	c := &chart{Title: f.Title, Desc: "Lines: median " + m.name + " in each of 24 months, by market.", Unit: m.unit, Categories: keys}
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
	f.picture(c, lines, "No bond of these months has "+m.used+".")
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
	for i := range rows {
		r := &rows[i]
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
	return f
}
