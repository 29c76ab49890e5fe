package console

import (
	"fmt"
	"slices"
	"strings"

	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/grid"
	"dealflow/schemas/lake"
)

// group is a part of the list of names that a statement may use: a schema; the macros, which are for FROM; the functions.
type group struct {
	Name  string
	Items []named
}

// named is a table or a macro. Its text is what a statement has of it: for a macro also the parameters that it needs.
type named struct {
	Text  string
	Parts []string // columns, or parameters that have a default
	Said  string   // how many of what they are
	About string   // address of the page that says what the columns mean; "" for none
}

// names returns the list of names. A catalog has the same names as of each instant.
func (c *console) names(q *frame.Request) ([]group, error) {
	found, err := q.Ask(asof.Query{Name: "names"})
	if err != nil {
		return nil, err
	}
	var groups []group
	for _, row := range found.All() {
		schema, name, parts := row.Text("schema_name"), row.Text("name"), strings.FieldsFunc(row.Text("parts"), func(r rune) bool { return r == '\n' })
		item := named{Text: name, Parts: parts, Said: grid.Plural(int64(len(parts)), "column", "columns")}
		under := schema
		switch _, declared := lake.TableByName(name); {
		case row.Text("kind") != "table":
			under = row.Text("kind") + "s"
			item = c.macro(name, parts)
		case schema != "main":
			item.Text = schema + "." + name
			item.About = q.Link("tables/" + item.Text)
			if declared {
				item.About = q.Link("tables/" + name)
			}
		default:
			item.About = q.Link("tables/" + name)
		}
		if n := len(groups); n == 0 || groups[n-1].Name != under {
			groups = append(groups, group{Name: under})
		}
		last := &groups[len(groups)-1]
		last.Items = append(last.Items, item)
	}
	return groups, nil
}

// macro returns a macro or a function with the parameters that a call needs. Those that have a default are parts.
func (c *console) macro(name string, params []string) named {
	var needed, optional []string
	for _, param := range params {
		if slices.Contains(c.Optional[name], param) {
			optional = append(optional, param+" :=")
			continue
		}
		needed = append(needed, param)
	}
	return named{Text: name + "(" + strings.Join(needed, ", ") + ")", Parts: optional, Said: fmt.Sprintf("%d optional", len(optional))}
}
