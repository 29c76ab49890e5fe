package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"

	"dealflow/sql/ownschema"
	"dealflow/sql/quote"
)

// lakeID identifies the lake by its first commit, wherever it is stored.
func (c *Catalog) lakeID() string {
	if len(c.Runs) == 0 {
		return ownschema.ID("no commit")
	}
	return ownschema.ID(fmt.Sprintln(c.Runs[0].RunID, c.Runs[0].KnownAt, c.Runs[0].StartedAt))
}

// ownSchema is the name of the catalog's own schema (see package ownschema).
func (c *Catalog) ownSchema() string { return ownSchemaOf(c.lakeID()) }

func ownSchemaOf(lakeID string) string { return "lake_" + lakeID }

// ownViews returns the names of the views in the catalog's own schema.
func (c *Catalog) ownViews(ctx context.Context, conn *stdsql.Conn) (names map[string]bool, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT view_name FROM duckdb_views() WHERE schema_name = "+quote.Text(c.ownSchema()))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	names = map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names[name] = true
	}
	return names, rows.Err()
}
