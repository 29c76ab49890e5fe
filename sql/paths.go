package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// definition is a view or macro of the catalog.
type definition struct{ schema, name, text string }

// Paths lists the lake's files that statements may read, by path: those named by the views and macros
// that occur in them, or in each other. It may list too many, never too few.
func Paths(ctx context.Context, db *stdsql.DB, statements ...string) ([]string, error) {
	left, err := definitions(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("look for the files of a query: %w", err)
	}
	text := strings.ToLower(strings.Join(statements, "\n"))
	var paths []string
	for {
		rest := left[:0:0]
		for _, d := range left {
			if !d.occursIn(text) {
				rest = append(rest, d)
				continue
			}
			text += "\n" + strings.ToLower(d.text)
			paths = append(paths, filePath.FindAllString(d.text, -1)...)
		}
		if len(rest) == len(left) {
			slices.Sort(paths)
			return slices.Compact(paths), nil
		}
		left = rest
	}
}

// filePath is a file of the lake as views name it: see readFiles.
var filePath = regexp.MustCompile(`(?:history|snapshots)/[^'\n]+\.parquet`)

// occursIn says whether a text, in lower case, may speak of it. A table is called alike in three
// schemas; outside the default one, the schema must be named, too.
func (d *definition) occursIn(text string) bool {
	return strings.Contains(text, d.name) && (d.schema == "main" || strings.Contains(text, d.schema))
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
