package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dealflow/schemas/lake"
)

// standIn serves a lake that DuckDB does not reach from here. It looks at the files of a view when the view
// is made, so in the local folder an empty file of the table's columns stands in for each that is not
// there; the catalog names the real root.
func (c *Catalog) standIn(ctx context.Context, conn *stdsql.Conn) error {
	folder := c.Local
	empty := map[string]string{} // by table and schema version
	for _, file := range c.Files {
		columns := columnsOf(file.Table)
		if columns == nil {
			continue // nothing that views read
		}
		kind := fmt.Sprintf("%s-%d.parquet", file.Table, file.SchemaVersion)
		if empty[kind] == "" {
			empty[kind] = filepath.Join(folder, kind)
			held := slices.DeleteFunc(columns, func(col lake.Column) bool { return max(col.Since, 1) > file.SchemaVersion })
			statement := "COPY (SELECT " + selectList(held, 0) + " WHERE false) TO " + literal(empty[kind]) + " (FORMAT parquet)"
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		path := filepath.Join(folder, filepath.FromSlash(file.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.Link(empty[kind], path); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

// columnsOf gives the columns of a table as a commit names it; nil for what is no table of Parquet
// files. The caller owns the slice.
func columnsOf(name string) []lake.Column {
	if name == lake.HistoryTable(lake.DealVersions) {
		return lake.DealVersionColumns()
	}
	for _, table := range lake.Tables() {
		switch name {
		case lake.HistoryTable(table.Name):
			return table.HistoryColumns()
		case lake.SnapshotTable(table.Name):
			return table.SnapshotColumns()
		}
	}
	return nil
}

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
			for _, found := range filePath.FindAllStringSubmatch(d.text, -1) {
				paths = append(paths, found[1])
			}
		}
		if len(rest) == len(left) {
			slices.Sort(paths)
			return slices.Compact(paths), nil
		}
		left = rest
	}
}

// filePath is a file of the lake as views name it.
var filePath = regexp.MustCompile(`'/((?:history|snapshots)/[^']+\.parquet)'`)

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
