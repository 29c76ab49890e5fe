package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"

	"dealflow/schemas/lake"
)

// learnFields looks, for the fields that got a value in some new version and are not known to have had one before,
// when their markets first had one. For that it reads all of their tables' history; each field of a market comes to
// that once in the life of a lake.
func (c *Catalog) learnFields(ctx context.Context, conn *stdsql.Conn) error {
	fields, err := unseenFields(ctx, conn)
	if err != nil || len(fields) == 0 {
		return err
	}
	files := filesOf(c.Files)
	for _, table := range lake.Tables() {
		if len(fields[table.Name]) == 0 {
			continue
		}
		history := files[lake.HistoryTable(table.Name)]
		if err := c.Local.Fetch(ctx, history); err != nil {
			return err
		}
		data := struct {
			*lake.Table
			History string
			Fields  []string
		}{table, c.source(history, table.HistoryColumns()), fields[table.Name]}
		if err := runDerivation(ctx, conn, "field_seen", data); err != nil {
			return fmt.Errorf("%s: %w", table.Name, err)
		}
	}
	return nil
}

// unseenFields gives the fields that found_change tells to have got a value, and that are not known to have had one
// in that market, by table; "" is a row.
func unseenFields(ctx context.Context, conn *stdsql.Conn) (fields map[string][]string, err error) {
	rows, err := conn.QueryContext(ctx, `
SELECT DISTINCT table_name, coalesce(field, '') FROM found_change
ANTI JOIN _dealflow.field_seen s ON s.market = found_change.market AND s.table_name = found_change.table_name AND s.field = coalesce(found_change.field, '')
WHERE change IN ('set', 'row added')
ORDER BY ALL`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	fields = map[string][]string{}
	for rows.Next() {
		var table, field string
		if err := rows.Scan(&table, &field); err != nil {
			return nil, err
		}
		fields[table] = append(fields[table], field)
	}
	return fields, rows.Err()
}
