package sql

import (
	"context"
	stdsql "database/sql"
	"embed"
	"errors"
	"fmt"
)

//go:embed derived/*.sql
var derivations embed.FS

// derivationVersion is the version of the Go code that derives from history: of how tranches are known
// again and versions compared. It rises when that gives something else, so that no catalog goes on with
// what an older program derived; the statements vouch for themselves.
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

// errOtherCatalog says that an earlier catalog cannot be gone on from.
var errOtherCatalog = errors.New("it is of another lake or program, or older than a replay")

// takeOver copies what the attached catalog derived, and says up to where that holds, if it is of this lake
// and program. A replay may have mended history, so nothing older than one is taken over.
func (c *Catalog) takeOver(ctx context.Context, conn *stdsql.Conn, layout *layout) (from since, err error) {
	var commit int64
	var runID string
	err = conn.QueryRowContext(ctx, `
SELECT c."commit", strftime(c.known_at, '%Y-%m-%dT%H:%M:%S.%fZ'), r.run_id
FROM previous._dealflow.catalog c JOIN previous.main.runs r ON r."commit" = c."commit"
WHERE c.layout = ?`, layout.hash).Scan(&commit, &from.instant, &runID)
	if err != nil {
		return from, fmt.Errorf("%w (%w)", errOtherCatalog, err)
	}
	ours := false
	for i := range c.Runs {
		run := &c.Runs[i]
		switch {
		case run.Number == commit:
			ours = run.RunID == runID
		case run.Number > commit && run.Command == "replay":
			return from, errOtherCatalog
		}
	}
	if !ours {
		return from, errOtherCatalog
	}
	for _, table := range []string{"tranche_lineage", "field_change", "field_seen"} {
		if _, err := conn.ExecContext(ctx, "INSERT INTO _dealflow."+table+" FROM previous._dealflow."+table); err != nil {
			return from, fmt.Errorf("%s: %w", table, err)
		}
	}
	return from, nil
}

// runDerivation executes a file of derived/.
func runDerivation(ctx context.Context, conn *stdsql.Conn, name string, data any) error {
	text, err := renderFrom(derivations, "derived/"+name+".sql", data)
	if err == nil {
		_, err = conn.ExecContext(ctx, text)
	}
	return err
}
