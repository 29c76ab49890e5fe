package sql

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"strings"

	"dealflow/sql/ownschema"
)

// lakeID identifies the lake by its first commit, wherever it is stored.
func (c *Catalog) lakeID() string {
	if len(c.Runs) == 0 {
		return ownschema.ID("no commit")
	}
	return ownschema.ID(fmt.Sprintln(c.Runs[0].RunID, c.Runs[0].KnownAt, c.Runs[0].StartedAt))
}

// ownNames creates the catalog's own schema, and makes all macros read it, after the statements of the empty catalog.
func (c *Catalog) ownNames(ctx context.Context, conn *stdsql.Conn) error {
	texts, err := layoutTexts()
	if err == nil {
		_, err = conn.ExecContext(ctx, ownschema.Statements(strings.Join(texts, ";\n"), "lake_"+c.lakeID()))
	}
	return err
}
