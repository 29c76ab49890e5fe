package report

import (
	"fmt"
	"strings"

	"dealflow/internal/chart"
)

// restatementSection shows how often new priced deals are edited later.
func restatementSection(d *Data) section {
	return section{ID: "restatements", Title: "Restatements", Figures: []figure{restatedFigure(d.Restatements), fieldsFigure(d)}}
}

func restatedFigure(rows []Restatement) figure {
	f := figure{
		Title:    "Deals edited within thirty days",
		Defined:  "Of the priced deals that became known while the lake watched, thirty days ago or earlier: those in which a value was edited within thirty days",
		Analysis: "restatement_stats", Query: "restatements",
		Table: table{Columns: columns("market", ">deals", ">restated", ">restated, %", ">edits", ">median lag, days", ">there before the first run", ">known for less than thirty days")},
	}
	c := &chart.Chart{Title: f.Title, Desc: "Horizontal bars: for each market, the part of its deals that was edited.", Unit: "% of deals"}
	bar := chart.Series{Name: "restated", Class: "s1"}
	var used, all int64
	for _, r := range rows {
		name := market{Service: r.Service, Code: r.Market}.Name()
		c.Categories = append(c.Categories, name)
		c.Notes = append(c.Notes, outOf(r.Restated, r.Deals))
		bar.Values = append(bar.Values, value(r.Percent))
		f.Table.Rows = append(f.Table.Rows, []string{
			name, chart.Count(r.Deals), chart.Count(r.Restated), maybe(r.Percent, 1), chart.Count(r.Edits), maybe(r.MedianLag, 1), chart.Count(r.LeftCensored), chart.Count(r.TooYoung),
		})
		used += r.Deals
		all += r.Deals + r.LeftCensored + r.TooYoung
	}
	c.Series = []chart.Series{bar}
	f.Notes = []string{outOf(used, all) + " priced deals have been watched for thirty days from their first."}
	empty := "None of them was edited."
	if used == 0 {
		empty = "No deal has been watched for thirty days yet."
	}
	f.picture(c, chart.Bars, empty)
	return f
}

func fieldsFigure(d *Data) figure {
	f := figure{
		Title:    "Fields edited in most deals",
		Defined:  "The same deals and edits, by field; a deal counts for each of its fields",
		Analysis: "restatement_fields", Query: "restated_fields",
		Table: table{Columns: columns("field", ">deals", ">of deals", ">share, %")},
	}
	base := map[string]int64{}
	for _, r := range d.Restatements {
		base[r.Service] += r.Deals
	}
	c := &chart.Chart{Title: f.Title, Desc: "Horizontal bars: for each field, the number of deals in which it was edited.", Unit: "deals"}
	bar := chart.Series{Name: "deals", Class: "s1"}
	for _, r := range d.Restated {
		name := strings.TrimSuffix(r.Table+"."+r.Field, ".")
		if r.Field == "" {
			name += " (whole rows)"
		}
		share := percent(ratio(r.Deals, base[r.Service]))
		c.Categories = append(c.Categories, name)
		c.Notes = append(c.Notes, fmt.Sprintf("%s · %s %%", chart.Count(r.Deals), share))
		bar.Values = append(bar.Values, float64(r.Deals))
		f.Table.Rows = append(f.Table.Rows, []string{name, chart.Count(r.Deals), chart.Count(base[r.Service]), share})
	}
	c.Series = []chart.Series{bar}
	f.picture(c, chart.Bars, "There are no such edits.")
	return f
}
