package study

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"dealflow/internal/chart"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/grid"
	"dealflow/schemas/lake"
	"dealflow/sql/explorer"
)

// valuesShown is the most values of a column on its page. A download has all.
const valuesShown = 20

// restatedDays is the number of days within which edits of a column are counted.
const restatedDays = "7"

func columnLink(q *frame.Request, t *lake.Table, c *lake.Column) string {
	return q.Link("tables/" + t.Name + "/" + c.Name)
}

// findColumn returns the column that a path names, and its table.
func findColumn(q *frame.Request) (*lake.Table, *lake.Column, error) {
	if t, ok := lake.TableByName(q.Vars["table"]); ok {
		all := t.HistoryColumns()
		if i := slices.IndexFunc(all, func(c lake.Column) bool { return c.Name == q.Vars["column"] }); i >= 0 {
			return t, &all[i], nil
		}
	}
	return nil, nil, frame.Errorf(http.StatusNotFound, "No column %s of a table %s; the list of tables has all.", q.Vars["column"], q.Vars["table"])
}

func valuesOf(t *lake.Table, column string) asof.Query {
	return asof.Query{Name: "values/" + t.Name + "." + column}
}

func mainColumn(q *frame.Request) (asof.Query, error) {
	t, c, err := findColumn(q)
	if err != nil {
		return asof.Query{}, err
	}
	return valuesOf(t, c.Name), nil
}

type columnData struct {
	Table    string // its name
	Back     string // address of the table's page
	Changes  string // address of the versions of the newest day in which it changed
	Facts    []frame.Fact
	Values   *grid.Table
	Status   *frame.Part[*grid.Table] // how its texts were read; nil if they are not
	From     []frame.Choice
	Helpers  []frame.Choice           // columns that are read from it
	Readers  []frame.Choice           // analyses that name it
	Restated *frame.Part[*grid.Table] // nil for columns of expected deals
	Days     string
}

// showColumn is the page of a column: what it means, its values, what is read from it, and how often it is edited.
func showColumn(q *frame.Request) (*frame.Content, error) {
	t, c, err := findColumn(q)
	if err != nil {
		return nil, err
	}
	data := &columnData{Table: t.Name, Back: q.Link("tables/" + t.Name), Changes: q.Link("changes?field=" + t.Name + "." + c.Name), Days: restatedDays}
	page := &frame.Content{Title: c.Name, Lead: c.Doc, Template: "column", Data: data}
	if data.Values, err = data.valueTable(q, t, c.Name, "Values"); err != nil {
		return nil, err
	}
	data.Facts = append([]frame.Fact{
		{Name: "Type", Value: c.Type.SQL()}, {Name: "Unit", Value: cmp.Or(c.Unit, chart.None)}, {Name: "In the record", Value: cmp.Or(c.Pointer, chart.None)},
		{Name: "Number", Value: fmt.Sprint(c.Number)}, {Name: "Since schema", Value: fmt.Sprint(max(c.Since, 1))},
	}, data.Facts...)
	for _, other := range t.HistoryColumns() {
		link := frame.Choice{Text: other.Name, Address: columnLink(q, t, &other)}
		switch {
		case other.Parse.From == c.Name:
			data.Helpers = append(data.Helpers, link)
			if other.Parse.Part == lake.PartStatus {
				name := other.Name
				data.Status = frame.Later(q, func() (*grid.Table, error) { return data.valueTable(q, t, name, "How the texts were read") })
			}
		case c.Parse.From != "" && (other.Name == c.Parse.From || other.Name == c.Parse.With):
			data.From = append(data.From, link)
		}
	}
	readers, err := q.Ask(asof.Query{Name: "readers", Args: asof.Args{"column": c.Name}})
	if err != nil {
		return nil, err
	}
	for _, r := range readers.All() {
		if slices.ContainsFunc(explorer.Analyses(), func(a explorer.Analysis) bool { return a.Name == r.Text("name") }) {
			data.Readers = append(data.Readers, frame.Choice{Text: r.Text("name"), Address: q.Link("analyses/" + r.Text("name"))})
		}
	}
	if strings.Contains(t.Name, "_priced_") && c.Parse.From == "" && c.Pointer != "" {
		data.Restated = frame.Later(q, func() (*grid.Table, error) { return restated(q, t, c) })
	}
	return page, nil
}

// valueTable lists the most frequent values of a column. Of those of the page's own column, it also says how many there are.
func (d *columnData) valueTable(q *frame.Request, t *lake.Table, column, caption string) (*grid.Table, error) {
	query := valuesOf(t, column)
	query.Rows = valuesShown
	found, err := q.Ask(query)
	if err != nil {
		return nil, err
	}
	values := &grid.Table{Caption: caption, Columns: grid.Columns("value", ">rows", ">of all")}
	isDecimal := slices.ContainsFunc(t.HistoryColumns(), func(c lake.Column) bool { return c.Name == column && strings.HasPrefix(c.Type.SQL(), "DECIMAL") })
	var all, null, different int64
	for _, r := range found.All() {
		all, null, different = r.Int("all_rows"), r.Int("null_rows"), r.Int("different")
		value := grid.Value(r.Cell("value"))
		if isDecimal {
			value = grid.Amount(value)
		}
		values.Add(value, grid.Whole(r.Int("rows")), grid.Cell{Text: chart.Decimals(100*float64(r.Int("rows"))/float64(max(all, 1)), 1) + " %"})
	}
	if len(d.Facts) == 0 {
		d.Facts = []frame.Fact{{Name: "Rows", Value: chart.Count(all)}, {Name: "Different values", Value: chart.Count(different)}}
		if null > 0 {
			d.Facts = append(d.Facts, frame.Fact{Name: "NULL in", Value: chart.Count(null)})
		}
	}
	return values, nil
}

// restated says in how many priced deals the column was edited.
func restated(q *frame.Request, t *lake.Table, c *lake.Column) (*grid.Table, error) {
	found, err := q.Ask(asof.Query{Name: "analysis/restatement_fields", Args: asof.Args{"days": restatedDays, "market": ""}})
	if err != nil {
		return nil, err
	}
	edits := &grid.Table{Caption: "Edits", Columns: grid.Columns("market", ">deals edited", ">of all")}
	for _, r := range found.All() {
		if r.Text("table_name") == t.Name && r.Text("field") == c.Name {
			share := grid.Value(r.Cell("share"))
			edits.Add(grid.Cell{Text: r.Text("market")}, grid.Whole(r.Int("deals_restated")), share)
		}
	}
	return edits, nil
}
