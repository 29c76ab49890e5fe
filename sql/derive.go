package sql

import (
	"context"
	stdsql "database/sql"
	"embed"
	"fmt"
)

//go:embed derived/*.sql
var derivations embed.FS

// derivationVersion is the version of what the catalog derives from history. It rises when that becomes
// something else, so that no catalog goes on with what an older program derived.
const derivationVersion = 1

// since is what of the derived tables is there already.
type since struct {
	instant string // up to which they hold; before all instants where they are empty
	empty   bool
}

// derive fills the tables that the catalog derives from history: forward from where an earlier catalog
// ends, or from the first version on. Each version adds rows and changes none, so both give the same.
func (c *Catalog) derive(ctx context.Context, conn *stdsql.Conn, from since) error {
	if err := c.deriveLineage(ctx, conn, from); err != nil {
		return fmt.Errorf("tranche lineage: %w", err)
	}
	if err := c.deriveChanges(ctx, conn, from); err != nil {
		return fmt.Errorf("field changes: %w", err)
	}
	return nil
}

// goOn says up to where the tables of an earlier catalog hold, if that is of this lake and of this
// program's layout. A replay may have mended history, so nothing older than one is gone on from.
func (c *Catalog) goOn(ctx context.Context, conn *stdsql.Conn, layout *layout) (from since, ok bool) {
	var commit int64
	var runID string
	err := conn.QueryRowContext(ctx, `
SELECT c."commit", strftime(c.known_at, '%Y-%m-%dT%H:%M:%S.%fZ'), r.run_id
FROM _dealflow.catalog c JOIN main.runs r ON r."commit" = c."commit"
WHERE c.layout = ?`, layout.hash).Scan(&commit, &from.instant, &runID)
	if err != nil {
		return from, false // it is of another program, damaged, or no catalog
	}
	for i := range c.Runs {
		run := &c.Runs[i]
		switch {
		case run.Number == commit:
			ok = run.RunID == runID
		case run.Number > commit && run.Command == "replay":
			return from, false
		}
	}
	return from, ok
}

// runDerivation executes a file of derived/.
func runDerivation(ctx context.Context, conn *stdsql.Conn, name string, data any) error {
	text, err := renderFrom(derivations, "derived/"+name+".sql", data)
	if err == nil {
		_, err = conn.ExecContext(ctx, text)
	}
	return err
}
