package sql

import (
	"context"
	"crypto/sha256"
	stdsql "database/sql"
	"encoding/hex"
	"errors"
	"fmt"
)

// seal sums up a catalog: the rows of its tables but for _dealflow.catalog, and its views; not its macros, which
// DuckDB spells anew. In reading them all DuckDB holds each block against its checksum. A catalog whose seal is not
// what it says was written into, which any DuckDB can do, and none goes on from it.
func seal(ctx context.Context, conn *stdsql.Conn) (string, error) {
	tables, err := texts(ctx, conn, `
SELECT '"' || schema_name || '"."' || table_name || '"' FROM duckdb_tables()
WHERE database_name = current_database() AND NOT internal AND NOT temporary AND (schema_name, table_name) <> ('_dealflow', 'catalog')
ORDER BY ALL`)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, table := range tables {
		rows, err := texts(ctx, conn, "SELECT count(*) || ' ' || coalesce(bit_xor(hash(held)), 0) FROM "+table+" held")
		if err != nil {
			return "", fmt.Errorf("%s: %w", table, err)
		}
		fmt.Fprintln(sum, table, rows)
	}
	views, err := texts(ctx, conn, `
SELECT concat_ws(' ', schema_name, view_name, sql) FROM duckdb_views()
WHERE database_name = current_database() AND NOT internal AND NOT temporary
ORDER BY ALL`)
	for _, view := range views {
		fmt.Fprintln(sum, view)
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// putSeal writes the seal of a catalog that is otherwise made.
func putSeal(ctx context.Context, conn *stdsql.Conn) error {
	found, err := seal(ctx, conn)
	if err == nil {
		_, err = conn.ExecContext(ctx, "UPDATE _dealflow.catalog SET seal = ?", found)
	}
	return err
}

// texts reads a column of texts.
func texts(ctx context.Context, conn *stdsql.Conn, statement string) (found []string, err error) {
	rows, err := conn.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, text)
	}
	return found, rows.Err()
}
