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

// definition is a view or macro of the catalog, with the SQL that defines it.
type definition struct{ schema, name, text string }

// Paths returns the sorted paths of the lake's files that statements may read. It follows the views and macros whose
// names occur in the statements, or in each other's definitions. It may list too many files, never too few.
func Paths(ctx context.Context, db *stdsql.DB, statements ...string) ([]string, error) {
	remaining, err := definitions(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("find the files of a query: %w", err)
	}
	text := strings.ToLower(strings.Join(statements, "\n"))
	var paths []string
	for {
		unused := remaining[:0:0]
		for _, d := range remaining {
			if !d.occursIn(text) {
				unused = append(unused, d)
				continue
			}
			text += "\n" + strings.ToLower(d.text)
			paths = append(paths, filePath.FindAllString(d.text, -1)...)
		}
		if len(unused) == len(remaining) {
			slices.Sort(paths)
			return slices.Compact(paths), nil
		}
		remaining = unused
	}
}

// filePath matches a file of the lake in a view's definition, as readFiles writes it.
var filePath = regexp.MustCompile(`(?:history|snapshots)/[^'\n]+\.parquet`)

// occursIn reports whether a text in lower case may refer to the definition. The same table name exists in several
// schemas; outside main the schema's name must occur, too.
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
