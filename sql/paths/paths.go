// Package paths finds the files that statements may read, so that only those of a lake far away are fetched.
//
// Takes: an open catalog, and statements.
// Gives: paths of files of the lake.
// Keeps: it lists too many files rather than too few.
// Fails: if the catalog's definitions cannot be read.
// May change here: how it finds out what a statement names.
package paths

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// definition is a view or macro of the catalog, with the SQL that defines it.
type definition struct{ schema, name, text string }

// Of returns the sorted paths of the lake's files that statements may read. It follows the views and macros whose
// names occur in the statements, or in each other's definitions. It may list too many files, never too few.
func Of(ctx context.Context, db *stdsql.DB, statements ...string) ([]string, error) {
	remaining, err := definitions(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("find the files of a query: %w", err)
	}
	used := words{}
	for _, text := range statements {
		used.add(text)
	}
	var found []string
	for {
		unused := remaining[:0:0]
		for _, d := range remaining {
			if !d.occursIn(used) {
				unused = append(unused, d)
				continue
			}
			used.add(d.text)
			found = append(found, filePath.FindAllString(d.text, -1)...)
		}
		if len(unused) == len(remaining) {
			slices.Sort(found)
			return slices.Compact(found), nil
		}
		remaining = unused
	}
}

// filePath matches a file of the lake in a view's definition, as package sql writes it.
var filePath = regexp.MustCompile(`(?:history|snapshots)/[^'\n]+\.parquet`)

// words are the words of SQL texts, in lower case. Those of each name in a text are among them, whether the name is alone, in
// quotes, or in a text within the text.
type words map[string]bool

var word = regexp.MustCompile(`[a-z0-9_]+`)

func (w words) add(text string) {
	for _, found := range word.FindAllString(strings.ToLower(text), -1) {
		w[found] = true
	}
}

func (w words) has(name string) bool {
	return !slices.ContainsFunc(word.FindAllString(name, -1), func(part string) bool { return !w[part] })
}

// occursIn reports whether texts with these words may refer to the definition. The same table name exists in several
// schemas; outside main the schema's name must occur, too.
func (d *definition) occursIn(used words) bool {
	return used.has(d.name) && (d.schema == "main" || used.has(d.schema))
}

func definitions(ctx context.Context, db *stdsql.DB) (all []definition, err error) {
	rows, err := db.QueryContext(ctx, `
SELECT lower(schema_name), lower(view_name), sql FROM duckdb_views() WHERE NOT internal
UNION ALL
SELECT lower(schema_name), lower(function_name), macro_definition FROM duckdb_functions() WHERE NOT internal AND macro_definition IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var d definition
		if err := rows.Scan(&d.schema, &d.name, &d.text); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, rows.Err()
}
