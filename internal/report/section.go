package report

// section is a part of the page.
type section struct {
	ID, Title string // ID is for links
	Facts     []fact
	Figures   []figure
}

// fact is a line of a section's head.
type fact struct{ Name, Value string }

// figure is a chart with what it says in words and numbers. Without a chart Empty says why.
type figure struct {
	Title    string
	Defined  string   // how it is defined: a sentence, behind which stands the analysis that it is taken from
	Analysis string   // that analysis: of the catalog, by name
	Query    string   // the statement that asked it: of Data.Queries, by name
	Notes    []string // what was used of what
	Chart    *drawing
	Empty    string
	Table    table
}

// table is the numbers behind a figure.
type table struct {
	Columns []column
	Rows    [][]string
	Open    bool // shown without being asked for
}

// column is a table's column.
type column struct {
	Name   string
	Number bool // set to the right
}

// columns names columns; those whose name starts with ">" are numbers.
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

// picture sets a figure's chart, or says why there is none.
func (f *figure) picture(c *chart, draw func(*chart) *drawing, empty string) {
	if !c.hasValues() {
		f.Empty = empty
		return
	}
	f.Chart = draw(c)
}
