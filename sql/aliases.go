package sql

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"dealflow/sql/quote"
)

// fillAliases replaces the rows of the alias tables, unless Aliases.Keep is set. renamed says that they may differ from
// those before.
func (c *Catalog) fillAliases(ctx context.Context, conn *stdsql.Conn) (renamed bool, err error) {
	if c.Aliases.Keep {
		return false, nil
	}
	var before string
	if err := conn.QueryRowContext(ctx, "SELECT alias_version FROM _dealflow.catalog").Scan(&before); err != nil {
		return false, err
	}
	if _, err := conn.ExecContext(ctx, "UPDATE _dealflow.catalog SET alias_version = ?", c.Aliases.Version); err != nil {
		return false, err
	}
	const names = `[{"alias": "VARCHAR", "canonical": "VARCHAR", "valid_from": "DATE"}]`
	return before != c.Aliases.Version, errors.Join(
		fillDeclared(ctx, conn, "bank_alias", names, c.Aliases.Banks),
		fillDeclared(ctx, conn, "borrower_alias", names, c.Aliases.Borrowers),
		fillDeclared(ctx, conn, "declared_role", `[{"role": "VARCHAR", "is_lead": "BOOLEAN"}]`, c.Aliases.Roles))
}

// fillDeclared replaces the rows of a table by those of a file. structure is that of the rows as JSON.
func fillDeclared[Row any](ctx context.Context, conn *stdsql.Conn, table, structure string, rows []Row) error {
	_, err := conn.ExecContext(ctx, "DELETE FROM _dealflow."+table)
	if err == nil && len(rows) > 0 {
		var data []byte
		if data, err = json.Marshal(rows); err == nil {
			_, err = conn.ExecContext(ctx, "INSERT INTO _dealflow."+table+" SELECT unnest(from_json(?::JSON, "+quote.Text(structure)+"), max_depth := 2)", string(data))
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	return nil
}
