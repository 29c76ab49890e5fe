package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Oracle contains the flattened tables as tables.md describes them.
type Oracle struct{ tables []Table }

// Table is one flattened table.
type Table struct {
	Name    string   // "bond_priced_banks"
	Columns []Column // the key's (market, deal_id, ordinals; no version), then the documented ones

	lists    []string // paths of the rows' lists, dotted, from the outermost list inwards; none: one row per deal
	isMap    bool     // the innermost of lists is a JSON object, one row per member
	ordinals []string // names of the ordinal columns, one for each of lists
}

// Column is one column of a table.
type Column struct {
	Name string // "nominal_usd"
	Type string // as tables.md writes it: "DECIMAL(24,6)"
	From string // as tables.md writes it: "nominal.converted.usd"; empty for key columns

	read reader
	fit  fitter
}

// Tables returns the tables in the document's order. The caller owns the result.
func (o *Oracle) Tables() []Table {
	tables := slices.Clone(o.tables)
	for i := range tables {
		tables[i].Columns = slices.Clone(tables[i].Columns)
	}
	return tables
}

var (
	headingLine = regexp.MustCompile(`^## ((?:bond|loan)_(?:priced|expected)_[a-z_]+)$`)
	rowsLine    = regexp.MustCompile("^one row per (?:deal|entry of `([^`]+)`( \\(a map: entries sorted by key\\))?(?: in each `([^`]+)`)?); key (.+)$")
	columnLine  = regexp.MustCompile(`^\| ([a-z0-9_]+) \| ([^|]+) \| ([^|]+) \|$`)
)

// Parse parses the Markdown document of the tables. It skips sections that are no flattened table (the project's own
// tables). Inside the others, anything that it cannot parse is an error.
func Parse(md []byte) (*Oracle, error) {
	o := &Oracle{}
	var table *Table // the flattened table whose section we are in
	for i, line := range strings.Split(string(md), "\n") {
		line = strings.TrimSpace(line)
		var err error
		switch {
		case strings.HasPrefix(line, "## "):
			table = nil
			if m := headingLine.FindStringSubmatch(line); m != nil {
				o.tables = append(o.tables, Table{Name: m[1]})
				table = &o.tables[len(o.tables)-1]
			}
		case table == nil || line == "" || line == "| column | type | from |" || line == "|---|---|---|":
		case strings.HasPrefix(line, "|"):
			err = table.addColumn(line)
		default:
			err = table.addKey(line)
		}
		if err != nil {
			return nil, fmt.Errorf("tables document: line %d: %w", i+1, err)
		}
	}
	for _, t := range o.tables {
		if n := len(t.Columns); n == 0 || t.Columns[n-1].From == "" {
			return nil, fmt.Errorf("tables document: table %s has no key or no columns", t.Name)
		}
	}
	if len(o.tables) == 0 {
		return nil, fmt.Errorf("tables document: no flattened table found")
	}
	return o, nil
}

// addKey parses the line that defines a row and its key.
func (t *Table) addKey(line string) error {
	m := rowsLine.FindStringSubmatch(line)
	if m == nil || len(t.Columns) > 0 {
		return fmt.Errorf("table %s: want one line `one row per …; key …`, have %q", t.Name, line)
	}
	inner, isMap, outer := m[1], m[2] != "", m[3]
	t.isMap = isMap
	for _, list := range []string{outer, inner} {
		if list != "" {
			t.lists = append(t.lists, list)
		}
	}
	keys := strings.Split(m[4], ", ")
	if len(keys) != 3+len(t.lists) || !slices.Equal(keys[:3], []string{"market", "deal_id", "version"}) {
		return fmt.Errorf("table %s: want key market, deal_id, version and %d ordinals, have %q", t.Name, len(t.lists), m[4])
	}
	t.ordinals = keys[3:]
	t.Columns = []Column{{Name: "market", Type: "UTF8"}, {Name: "deal_id", Type: "INT64"}}
	for _, name := range t.ordinals {
		t.Columns = append(t.Columns, Column{Name: name, Type: "INT32"})
	}
	return nil
}

// addColumn parses a line of the table of columns.
func (t *Table) addColumn(line string) error {
	m := columnLine.FindStringSubmatch(line)
	if m == nil || len(t.Columns) == 0 {
		return fmt.Errorf("table %s: want `| column | type | from |` after the key, have %q", t.Name, line)
	}
	c := Column{Name: m[1], Type: m[2], From: m[3], read: readerOf(m[3])}
	if slices.ContainsFunc(t.Columns, func(other Column) bool { return other.Name == c.Name }) {
		return fmt.Errorf("table %s: column %s stands there twice", t.Name, c.Name)
	}
	var err error
	if c.fit, err = fitterOf(c.Type); err != nil {
		return fmt.Errorf("table %s: column %s: %w", t.Name, c.Name, err)
	}
	t.Columns = append(t.Columns, c)
	return nil
}
