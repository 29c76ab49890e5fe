package report

import "dealflow/internal/chart"

// section is a part of the page.
type section struct {
	ID, Title string // ID is for links
	Facts     []fact
	Figures   []figure
}

// fact is a line at the head of a section.
type fact struct{ Name, Value string }

// figure is a chart with its definition, notes and numbers. If Chart is nil, Empty says why.
type figure struct {
	Title    string
	Defined  string   // the definition: a sentence without a full stop, which the page follows with Analysis
	Analysis string   // name of the analysis in the catalog
	Query    string   // name of the statement in Data.Queries
	Notes    []string // how much of the data the figure uses
	Chart    *chart.Drawing
	Empty    string
	Table    table
}

// table contains the numbers of a figure.
type table struct {
	Columns []column
	Rows    [][]string
	Open    bool // initially shown
}

// column is a table's column.
type column struct {
	Name   string
	Number bool // aligned to the right
}

// columns returns columns with these names. A name that starts with ">" is a column of numbers.
func columns(names ...string) []column {
	all := make([]column, len(names))
	for i, name := range names {
		all[i] = column{Name: name}
		if name[0] == '>' {
			all[i] = column{Name: name[1:], Number: true}
		}
	}
	return all
}

// picture sets the figure's chart, or Empty if there is nothing to draw.
func (f *figure) picture(c *chart.Chart, draw func(*chart.Chart) *chart.Drawing, empty string) {
	if !c.HasValues() {
		f.Empty = empty
		return
	}
	f.Chart = draw(c)
}
