package study

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"dealflow/internal/chart"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/grid"
	"dealflow/schemas/lake"
)

// mainTables are the tables; with a search, the columns that match it, which the program knows.
func mainTables(q *frame.Request) (asof.Query, error) {
	if searchOf(q) == "" {
		return asof.Query{Name: "tables"}, nil
	}
	all := []map[string]string{}
	for _, f := range foundColumns(searchOf(q)) {
		all = append(all, map[string]string{"column": f.column.Name, "table": f.table.Name, "type": f.column.Type.SQL(), "meaning": f.column.Doc, "pointer": f.column.Pointer})
	}
	found, err := json.Marshal(all)
	return asof.Query{Name: "found_columns", Args: asof.Args{"found": string(found)}}, err
}

// searchOf returns what a reader searches columns for, in small letters; "" for nothing.
func searchOf(q *frame.Request) string { return strings.ToLower(strings.TrimSpace(q.Values.Get("q"))) }

type foundColumn struct {
	table  *lake.Table
	column lake.Column
}

func foundColumns(search string) (all []foundColumn) {
	for _, declared := range lake.Tables() {
		for _, column := range declared.HistoryColumns() {
			if matches(&column, search) {
				all = append(all, foundColumn{declared, column})
			}
		}
	}
	return all
}

// showTables lists the tables; with a search, the columns that match it.
func showTables(q *frame.Request) (*frame.Content, error) {
	data := &tablesData{}
	c := &frame.Content{Title: "Tables", Template: "tables", Data: data}
	search := searchOf(q)
	if search == "" {
		counts, err := q.Ask(asof.Query{Name: "tables"})
		if err != nil {
			return nil, err
		}
		data.Table = &grid.Table{Caption: "Tables", Sticky: 1, Columns: grid.Columns("table", ">rows", ">columns", "what a row is")}
		total := int64(0)
		for _, declared := range lake.Tables() {
			rows := rowsOf(counts, declared.Name)
			total += rows
			data.Table.Add(grid.Cell{Text: declared.Name, Link: q.Link("tables/" + declared.Name)}, grid.Whole(rows), grid.Whole(int64(len(declared.HistoryColumns()))), grid.Cell{Text: declared.Doc})
		}
		data.Others = frame.Later(q, func() (*grid.Table, error) { return otherTables(q) })
		c.Lead = fmt.Sprintf("%d tables with %s: each row is a deal, or an entry of a list of a deal.", len(data.Table.Rows), grid.Plural(total, "row", "rows"))
		return c, nil
	}
	data.Table = &grid.Table{Caption: "Columns", Sticky: 1, Columns: grid.Columns("column", "table", "type", "meaning", "in the record")}
	for _, f := range foundColumns(search) {
		data.Table.Add(grid.Cell{Text: f.column.Name, Link: columnLink(q, f.table, &f.column)}, grid.Cell{Text: f.table.Name, Link: q.Link("tables/" + f.table.Name)}, grid.Cell{Text: f.column.Type.SQL()}, grid.Cell{Text: f.column.Doc}, grid.Cell{Text: f.column.Pointer})
	}
	c.Lead = fmt.Sprintf("%s for ‘%s’.", grid.Plural(int64(len(data.Table.Rows)), "column", "columns"), q.Values.Get("q"))
	return c, nil
}

// otherTables lists the tables and views that are not declared.
func otherTables(q *frame.Request) (*grid.Table, error) {
	found, err := q.Ask(asof.Query{Name: "other_tables"})
	if err != nil {
		return nil, err
	}
	t := &grid.Table{Caption: "Other tables and views", Sticky: 1, Columns: grid.Columns("table", ">rows", "meaning")}
	for _, r := range found.All() {
		rows := grid.Cell{Title: "a view, which is not counted here"}
		if !r.Null("rows") {
			rows = grid.Whole(r.Int("rows"))
		}
		t.Add(grid.Cell{Text: r.Text("name"), Link: q.Link("tables/" + r.Text("name"))}, rows, grid.Cell{Text: r.Text("comment")})
	}
	return t, nil
}

// rowsOf returns the rows of a table, of the statement that counts those of all.
func rowsOf(counts *asof.Answer, table string) int64 {
	for _, r := range counts.All() {
		if r.Text("table_name") == table {
			return r.Int("rows")
		}
	}
	return 0
}

func matches(c *lake.Column, search string) bool {
	return strings.Contains(strings.ToLower(c.Name+" "+c.Doc+" "+c.Pointer), search)
}

// other returns the query for the columns of a table that is not declared, and that a search leaves.
func other(q *frame.Request, search string) asof.Query {
	schema, table, found := strings.Cut(q.Vars["table"], ".")
	if !found {
		schema, table = "main", schema
	}
	return asof.Query{Name: "other_columns", Args: asof.Args{"schema": schema, "table": table, "q": search}}
}

func mainTable(q *frame.Request) (asof.Query, error) {
	if declared, ok := lake.TableByName(q.Vars["table"]); ok {
		return asof.Query{Name: "preview/" + declared.Name}, nil
	}
	return other(q, searchOf(q)), nil
}

// showTable is the page of a table.
func showTable(q *frame.Request) (*frame.Content, error) {
	if declared, ok := lake.TableByName(q.Vars["table"]); ok {
		return showDeclared(q, declared)
	}
	found, err := q.Ask(other(q, ""))
	if err != nil {
		return nil, err
	}
	name := q.Vars["table"]
	if len(found.Rows) == 0 {
		return nil, frame.Errorf(http.StatusNotFound, "No table %s; the list of tables has all.", name)
	}
	search := searchOf(q)
	data := &tablesData{Console: q.ConsoleLink("FROM " + name + "\nLIMIT 100")}
	data.Table = &grid.Table{Caption: "Columns", Sticky: 1, Columns: grid.Columns("column", "type", "meaning")}
	for _, r := range found.All() {
		if strings.Contains(strings.ToLower(r.Text("column_name")+" "+r.Text("comment")), search) {
			data.Table.Add(grid.Cell{Text: r.Text("column_name")}, grid.Words(r.Text("data_type")), grid.Cell{Text: r.Text("comment")})
		}
	}
	return &frame.Content{Title: name, Lead: grid.Plural(int64(len(found.Rows)), "column", "columns") + ".", Template: "tables", Data: data}, nil
}

// previewRows is the number of rows of a table that its page shows.
const previewRows = 5

type tablesData struct {
	Table   *grid.Table              // nil if Columns has it
	Columns *frame.Part[*grid.Table] // of a declared table; nil for none
	Preview *frame.Part[*grid.Table] // first rows; nil for none
	Others  *frame.Part[*grid.Table] // tables besides; nil for none
	Console string                   // address of a statement that shows rows; "" for none
}

// showDeclared lists the columns of a table, with what they mean and how many rows have a value.
func showDeclared(q *frame.Request, declared *lake.Table) (*frame.Content, error) {
	counts, err := q.Ask(asof.Query{Name: "tables"})
	if err != nil {
		return nil, err
	}
	rows := rowsOf(counts, declared.Name)
	data := &tablesData{
		Columns: frame.Later(q, func() (*grid.Table, error) { return columnsOf(q, declared, rows) }),
		Preview: frame.Later(q, func() (*grid.Table, error) {
			preview, err := q.Ask(asof.Query{Name: "preview/" + declared.Name, Rows: previewRows})
			if err != nil {
				return nil, err
			}
			return grid.Of(preview, "First rows"), nil
		}),
	}
	return &frame.Content{Title: declared.Name, Lead: fmt.Sprintf("%s %s.", declared.Doc, grid.Plural(rows, "row", "rows")), Template: "tables", Data: data}, nil
}

// columnsOf lists the columns of a table that match the search.
func columnsOf(q *frame.Request, declared *lake.Table, rows int64) (*grid.Table, error) {
	filled, err := q.Ask(asof.Query{Name: "filled/" + declared.Name})
	if err != nil {
		return nil, err
	}
	values := map[string]int64{}
	for _, r := range filled.All() {
		values[r.Text("column_name")] = r.Int("filled")
	}
	search := searchOf(q)
	t := &grid.Table{Caption: "Columns", Sticky: 1, Columns: grid.Columns("column", ">number", ">since schema", "type", "unit", ">filled", ">of rows", "meaning", "in the record")}
	for _, c := range declared.HistoryColumns() {
		if search != "" && !matches(&c, search) {
			continue
		}
		n, counted := values[c.Name]
		if !counted && c.NotNull {
			n = rows
		}
		share := grid.Cell{Text: chart.None}
		if rows > 0 {
			share = grid.Cell{Text: chart.Decimals(100*float64(n)/float64(rows), 1) + " %"}
		}
		t.Add(grid.Cell{Text: c.Name, Link: columnLink(q, declared, &c)}, grid.Whole(int64(c.Number)), grid.Whole(int64(max(c.Since, 1))), grid.Cell{Text: c.Type.SQL()}, grid.Cell{Text: c.Unit, Class: "words"}, grid.Whole(n), share,
			grid.Cell{Text: c.Doc, Class: "words"}, grid.Cell{Text: c.Pointer, Class: "pointer"})
	}
	return t, nil
}
