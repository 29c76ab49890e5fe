package report

import (
	"fmt"
	"strings"

	"dealflow/internal/chart"
)

// worst is the largest number of checks in the chart of data quality.
const worst = 15

// qualitySection shows the weak points of the data.
func qualitySection(d *Data) section {
	return section{ID: "quality", Title: "Data quality", Figures: []figure{qualityFigure(d.Quality), coverageFigure(d.Coverage)}}
}

func qualityFigure(rows []Quality) figure {
	f := figure{
		Title:    "Worst shares",
		Defined:  "The part of what a check looked at that departs from what it should be; names without an alias are in the table alone",
		Analysis: "data_quality", Query: "quality",
		Table: table{Columns: columns("feed", "check", ">found", ">of", ">share, %", "for example", "what")},
	}
	c := &chart.Chart{Title: f.Title, Desc: "Horizontal bars: the checks with the greatest share of findings, by feed.", Unit: "%"}
	bar := chart.Series{Name: "share", Class: "s3"}
	for _, r := range rows {
		name := feedName(r.Service, r.Market, r.Kind)
		f.Table.Rows = append(f.Table.Rows, []string{name, r.Name, chart.Count(r.Value), chart.Count(r.Total), percent(r.Share), r.Example, r.Note})
		if strings.HasPrefix(r.Name, "unknown_") || len(c.Categories) == worst {
			continue
		}
		c.Categories = append(c.Categories, r.Market+" "+strings.TrimPrefix(r.Name, "unparsed_"))
		c.Notes = append(c.Notes, fmt.Sprintf("%s %% · %s", percent(r.Share), outOf(r.Value, r.Total)))
		bar.Values = append(bar.Values, 100*r.Share)
	}
	c.Series = []chart.Series{bar}
	f.picture(c, chart.Bars, "The checks found nothing.")
	return f
}

func coverageFigure(rows []Coverage) figure {
	f := figure{
		Title:    "Texts read as numbers, by field",
		Defined:  "Of the texts that should say a number, those that were read as one or as a range",
		Analysis: "parse_coverage", Query: "coverage",
		Table: table{Columns: columns("field", ">texts", ">ok", ">range", ">verbal", ">no number", ">ambiguous", ">unparsed", ">read, %")},
	}
	c := &chart.Chart{Title: f.Title, Desc: "Horizontal bars: for each field, the part of its texts that was read.", Unit: "%"}
	bar := chart.Series{Name: "read", Class: "s2"}
	for _, r := range rows {
		name := r.Table + "." + r.Field
		read := ratio(r.OK+r.Ranges, r.Texts-r.NoNumber)
		c.Categories = append(c.Categories, name)
		c.Notes = append(c.Notes, fmt.Sprintf("%s %% · %s", percent(read), outOf(r.OK+r.Ranges, r.Texts-r.NoNumber)))
		bar.Values = append(bar.Values, 100*read)
		f.Table.Rows = append(f.Table.Rows, []string{
			name, chart.Count(r.Texts), chart.Count(r.OK), chart.Count(r.Ranges), chart.Count(r.Verbal), chart.Count(r.NoNumber), chart.Count(r.Ambiguous), chart.Count(r.Unparsed), percent(read),
		})
	}
	c.Series = []chart.Series{bar}
	f.picture(c, chart.Bars, "There are no such texts.")
	return f
}
