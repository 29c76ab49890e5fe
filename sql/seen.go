package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"

	"dealflow/schemas/lake"
)

// recordFirstSeen fills field_seen for fields that got a value in a new version and are not listed there yet. It
// records when each market first had a value in the field. It reads the table's complete history; each field of a
// market needs that once in a lake's life.
func (c *Catalog) recordFirstSeen(ctx context.Context, conn *stdsql.Conn) error {
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
		if err := c.Local.Fetch(ctx, lake.ValuesOf(history)); err != nil {
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

// unseenFields returns, by table, the fields that got a value according to found_change and that field_seen does not
// list for that market. "" is the row itself.
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
