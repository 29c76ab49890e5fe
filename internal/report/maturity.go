package report

import (
	"fmt"
	"strconv"

	"dealflow/internal/chart"
)

// wallYears is the number of years with a bar of their own in the maturity wall. One more bar contains the rest.
const wallYears = 14

// maturitySection shows what matures when.
func maturitySection(d *Data) section {
	f := figure{
		Title:    "What falls due, by year",
		Defined:  "Nominal in USD of bond lines (with their increases) and loan tranches by year of maturity, of perpetual bonds by that of the first call",
		Analysis: "maturity_wall", Query: "maturities",
		Table: table{Columns: columns("year", "market", ">USD bn", ">lines", ">without USD")},
	}
	first := int64(d.State.ObservedAt.UTC().Year())
	c := &chart.Chart{Title: f.Title, Desc: "Vertical bars: what falls due in each year, by market.", Unit: "USD bn"}
	for i := range int64(wallYears) {
		c.Categories = append(c.Categories, strconv.FormatInt(first+i, 10))
	}
	c.Categories = append(c.Categories, "later")
	sums := map[[2]string]float64{} // by bar and market; all later years share a bar
	var lines, unknown, unconverted int64
	for _, m := range d.Maturities {
		lines += m.Lines
		unconverted += m.Unconverted
		year := "no known year"
		if m.Year == nil {
			unknown += m.Lines
		} else {
			year = strconv.FormatInt(*m.Year, 10)
			bar := year
			if *m.Year >= first+wallYears {
				bar = "later"
			}
			sums[[2]string{bar, m.Market}] += m.USD / 1e9
		}
		f.Table.Rows = append(f.Table.Rows, []string{year, market{Service: m.Service, Code: m.Market}.Name(), billions(m.USD), chart.Count(m.Lines), chart.Count(m.Unconverted)})
	}
	for _, m := range markets() {
		s := chart.Series{Name: m.Name(), Class: m.Class}
		for _, category := range c.Categories {
			s.Values = append(s.Values, sums[[2]string{category, m.Code}])
		}
		c.Series = append(c.Series, s)
	}
	f.Notes = []string{fmt.Sprintf("%s lines and tranches have a year; %s an amount that was not converted to USD.", outOf(lines-unknown, lines), plural(unconverted, "has", "have"))}
	f.picture(c, chart.Stacked, "Nothing falls due.")
	return section{ID: "maturities", Title: "Maturity wall", Figures: []figure{f}}
}
