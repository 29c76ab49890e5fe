package explorer

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"text/template"

	"dealflow/schemas/lake"
	"dealflow/sql/quote"
)

//go:embed *.sql
var files embed.FS

// Statement is a statement of the explorer. It reads public names of a catalog, as of the instant of its
// parameter $as_of; the caller binds that and the other parameters.
type Statement struct {
	Name  string // of its file, without .sql; for a statement of each table, a slash and the table follow, and for one of each column also a dot and the column
	Title string // one sentence: what it returns
	Text  string // without its comment
}

// Statements returns all statements by name. A file that begins with "_" is a part of others, and one
// that begins with "each_" is a statement of each flattened table, with "column_" of each of their columns. The caller owns the map.
func Statements() (map[string]Statement, error) {
	parts, err := template.New("explorer").Funcs(template.FuncMap{"lit": quote.Text, "ident": quote.Name}).ParseFS(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("explorer: %w", err)
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("explorer: %w", err)
	}
	all := map[string]Statement{}
	every := struct{ Tables []*lake.Table }{lake.Tables()}
	add := func(name, file string, table any) error {
		var text strings.Builder
		if err := parts.ExecuteTemplate(&text, file, table); err != nil {
			return fmt.Errorf("explorer: %w", err)
		}
		title, statement, _ := strings.Cut(text.String(), "\n")
		title, ok := strings.CutPrefix(title, "-- ")
		if !ok {
			return fmt.Errorf("explorer: %s: want a first line \"-- what it returns\"", file)
		}
		all[name] = Statement{Name: name, Title: title, Text: strings.TrimSpace(statement)}
		return nil
	}
	for _, file := range names {
		name := strings.TrimSuffix(file, ".sql")
		each, ofTables := strings.CutPrefix(name, "each_")
		ofColumn, ofColumns := strings.CutPrefix(name, "column_")
		switch {
		case strings.HasPrefix(name, "_"):
		case ofTables:
			for _, table := range lake.Tables() {
				if err := add(each+"/"+table.Name, file, table); err != nil {
					return nil, err
				}
			}
		case ofColumns:
			for _, table := range lake.Tables() {
				for _, column := range table.HistoryColumns() {
					if err := add(ofColumn+"/"+table.Name+"."+column.Name, file, struct{ Table, Column string }{table.Name, column.Name}); err != nil {
						return nil, err
					}
				}
			}
		default:
			if err := add(name, file, every); err != nil {
				return nil, err
			}
		}
	}
	for _, a := range Analyses() {
		if !a.file {
			all[a.Statement()] = Statement{Name: a.Statement(), Title: "The analysis " + a.Name + ".", Text: a.statement()}
		}
	}
	return all, nil
}

// Names returns the sorted names of statements.
func Names(all map[string]Statement) []string { return slices.Sorted(maps.Keys(all)) }
