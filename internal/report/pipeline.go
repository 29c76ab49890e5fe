package report

import (
	"fmt"

	"dealflow/internal/chart"
)

// ages are the classes of how long deals have been listed, indexed by PipelineAge.Age. The last class is for deals that
// were listed when their feed was first read.
var ages = []chart.Series{
	{Name: "0–2 days", Class: "q0"}, {Name: "3–7 days", Class: "q1"}, {Name: "8–30 days", Class: "q2"}, {Name: "over 30 days", Class: "q3"},
	{Name: "since before the first run", Class: "none"},
}

// pipelineSection shows the live tranches that have not priced.
func pipelineSection(d *Data) section {
	return section{ID: "pipeline", Title: "Pipeline", Figures: []figure{pipelineFigure(d.Pipeline), biggestFigure(d.Biggest)}}
}

func pipelineFigure(rows []PipelineAge) figure {
	f := figure{
		Title:    "Live tranches",
		Defined:  "Tranches of expected deals that are current and have not priced, by full days from the deal's first commit to the last pull",
		Analysis: "pipeline_as_of", Query: "pipeline",
		Table: table{Columns: columns("market")},
	}
	c := &chart.Chart{Title: f.Title, Desc: "Horizontal bars: for each market, the number of live tranches by days listed.", Unit: "tranches", Series: make([]chart.Series, len(ages))}
	for i, age := range ages {
		f.Table.Columns = append(f.Table.Columns, column{age.Name, true})
		c.Series[i] = chart.Series{Name: age.Name, Class: age.Class}
	}
	f.Table.Columns = append(f.Table.Columns, column{"all", true})
	var all int64
	for _, m := range markets() {
		counts := make([]int64, len(ages))
		var sum int64
		for _, row := range rows {
			if row.Market == m.Code && row.Service == m.Service {
				counts[row.Age] += row.Tranches
				sum += row.Tranches
			}
		}
		cells := []string{m.Name()}
		for i, n := range counts {
			c.Series[i].Values = append(c.Series[i].Values, float64(n))
			cells = append(cells, chart.Count(n))
		}
		c.Categories = append(c.Categories, m.Name())
		c.Notes = append(c.Notes, chart.Count(sum))
		f.Table.Rows = append(f.Table.Rows, append(cells, chart.Count(sum)))
		all += sum
	}
	f.Notes = []string{plural(all, "live tranche", "live tranches") + "."}
	f.picture(c, chart.Bars, "Nothing is in the pipeline.")
	return f
}

func biggestFigure(rows []Tranche) figure {
	f := figure{
		Title:    "The largest of them",
		Defined:  "By the volume read from its text (the middle of a range), in USD at the median rate at which bonds of its currency were converted that priced in the year before",
		Analysis: "pipeline_as_of", Query: "biggest",
		Table: table{Columns: columns("market", ">deal", "borrower", "tranche", "status", "volume", ">USD bn")},
	}
	c := &chart.Chart{Title: f.Title, Desc: "Horizontal bars: the ten largest live tranches by volume in USD.", Unit: "USD bn"}
	bar := chart.Series{Name: "volume", Class: "s0"}
	for _, row := range rows {
		c.Categories = append(c.Categories, row.Market+" · "+row.Borrower)
		c.Notes = append(c.Notes, chart.Decimals(row.USD/1e9, 2))
		bar.Values = append(bar.Values, row.USD/1e9)
		f.Table.Rows = append(f.Table.Rows, []string{
			market{Service: row.Service, Code: row.Market}.Name(), fmt.Sprint(row.DealID), row.Borrower, row.Name, row.Status, row.VolumeText, billions(row.USD),
		})
	}
	c.Series = []chart.Series{bar}
	f.picture(c, chart.Bars, "No live tranche states a volume that can be compared.")
	if len(rows) > 0 {
		f.Notes = []string{outOf(rows[0].Comparable, rows[0].Tranches) + " live tranches state a volume that can be compared."}
	}
	return f
}
