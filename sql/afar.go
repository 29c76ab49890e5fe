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

// bringNear fetches the history files that the catalog takes in, where DuckDB does not reach the lake from here.
func (c *Catalog) bringNear(ctx context.Context, of news) error {
	var files []lake.File
	for _, table := range lake.Tables() {
		files = append(files, of.files[lake.HistoryTable(table.Name)]...)
	}
	return c.Near.Fetch(ctx, files)
}

// standIns is the folder, in Near's, where empty files stand in for those that views name.
const standIns = "stand-ins"

// renewViewsAfar makes views of files that are not here. DuckDB wants to see only that they are there, and what
// columns they have: empty files stand in for them. The catalog names the real root.
func (c *Catalog) renewViewsAfar(ctx context.Context, conn *stdsql.Conn, changes viewChanges) error {
	folder := filepath.Join(c.Near.Folder, standIns)
	empty := map[string]string{}
	for i := range changes.made {
		if err := standIn(ctx, conn, folder, changes.made[i].files, empty); err != nil {
			return fmt.Errorf("stand-in files: %w", err)
		}
	}
	if err := moveLake(ctx, conn, folder); err != nil {
		return err
	}
	if err := c.renewViews(ctx, conn, changes); err != nil {
		return err
	}
	return moveLake(ctx, conn, c.Near.Folder)
}

// moveLake says where sources find the lake's files from here on.
func moveLake(ctx context.Context, conn *stdsql.Conn, folder string) error {
	_, err := conn.ExecContext(ctx, "SET VARIABLE lake = "+literal(folder))
	return err
}

// standIn puts empty files in the place of the given ones in a folder. empty are the kinds of them, by table and
// schema version, of which it makes those that are lacking.
func standIn(ctx context.Context, conn *stdsql.Conn, folder string, files []lake.File, empty map[string]string) error {
	for i := range files {
		file := &files[i]
		path := filepath.Join(folder, filepath.FromSlash(file.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		kind := fmt.Sprintf("%s-%d.parquet", file.Table, file.SchemaVersion)
		if empty[kind] == "" {
			empty[kind] = filepath.Join(folder, kind)
			held := lake.ColumnsAt(lake.TableColumns(file.Table), file.SchemaVersion)
			statement := "COPY (SELECT " + selectList(held, 0) + " WHERE false) TO " + literal(empty[kind]) + " (FORMAT parquet)"
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		if err := os.Link(empty[kind], path); err != nil && !errors.Is(err, os.ErrExist) {
			return err
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
