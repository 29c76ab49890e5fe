package sql

import (
	"context"
	stdsql "database/sql"
	"embed"
	"fmt"

	"dealflow/schemas/lake"
)

//go:embed derived/*.sql
var derivations embed.FS

// derivationVersion is the version of the Go code that derives tables from history: matching tranches and comparing
// versions. Raise it when that code computes something else, so that no catalog of an older program is extended.
// Changed SQL statements need no such number: layoutHash includes their texts.
const derivationVersion = 2

// derive adds the new versions to the tables that are derived from history. Each version adds rows and changes none, so
// an extended table and one filled at once are the same.
func (c *Catalog) derive(ctx context.Context, conn *stdsql.Conn, added newFiles) error {
	if err := c.deriveLineage(ctx, conn, added); err != nil {
		return fmt.Errorf("tranche lineage: %w", err)
	}
	if err := c.deriveChanges(ctx, conn, added); err != nil {
		return fmt.Errorf("field changes: %w", err)
	}
	return nil
}

// historySince returns a FROM clause's source for the new files of a flattened table's history. It may include older
// rows.
func (c *Catalog) historySince(added newFiles, table string) string {
	found, ok := lake.TableByName(table)
	if !ok {
		panic("no table " + table) // callers pass constants
	}
	return c.source(added.files[lake.HistoryTable(table)], found.HistoryColumns())
}

// runDerivation executes the template of a file of derived/.
func runDerivation(ctx context.Context, conn *stdsql.Conn, name string, data any) error {
	text, err := renderFrom(derivations, "derived/"+name+".sql", data)
	if err == nil {
		_, err = conn.ExecContext(ctx, text)
	}
	return err
}
