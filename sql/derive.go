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

// derivationVersion is the version of the Go code that derives from history: of how tranches are known
// again and versions compared. It rises when that gives something else, so that no catalog goes on with
// what an older program derived; the statements vouch for themselves.
const derivationVersion = 2

// derive brings the tables that the catalog derives from history up to date, forward from what they hold. Each
// version adds rows and changes none, so whether they grew or were filled at once, they are the same.
func (c *Catalog) derive(ctx context.Context, conn *stdsql.Conn, of news) error {
	if err := c.deriveLineage(ctx, conn, of); err != nil {
		return fmt.Errorf("tranche lineage: %w", err)
	}
	if err := c.deriveChanges(ctx, conn, of); err != nil {
		return fmt.Errorf("field changes: %w", err)
	}
	return nil
}

// historySince is a FROM clause's source: what is new of a flattened table's history, among what is not.
func (c *Catalog) historySince(of news, table string) string {
	found, ok := lake.TableByName(table)
	if !ok {
		panic("no table " + table) // the callers' names are this program's
	}
	return c.source(of.files[lake.HistoryTable(table)], found.HistoryColumns())
}

// runDerivation executes a file of derived/.
func runDerivation(ctx context.Context, conn *stdsql.Conn, name string, data any) error {
	text, err := renderFrom(derivations, "derived/"+name+".sql", data)
	if err == nil {
		_, err = conn.ExecContext(ctx, text)
	}
	return err
}
