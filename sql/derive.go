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
// an extended table and one filled at once are the same. (listing.shared rises with other listings of its code, and
// bank_count is filled again when aliases change.)
func (c *Catalog) derive(ctx context.Context, conn *stdsql.Conn, added newFiles) error {
	if err := c.deriveLineage(ctx, conn, added); err != nil {
		return fmt.Errorf("tranche lineage: %w", err)
	}
	if err := c.deriveChanges(ctx, conn, added); err != nil {
		return fmt.Errorf("field changes: %w", err)
	}
	if err := c.deriveIndexes(ctx, conn, added); err != nil {
		return fmt.Errorf("names and listings: %w", err)
	}
	return nil
}

// indexing is the data of a statement that adds to an index.
type indexing struct {
	Table    map[string]string // the source for a FROM clause of each flattened table
	Versions string            // the relation with the versions to add
	Market   string            // whose versions are added; "": those of all markets

	// Deals with deal_id % Parts = Part are added.
	Part, Parts int64
}

// deriveIndexes adds to what analyses look up by name and version.
func (c *Catalog) deriveIndexes(ctx context.Context, conn *stdsql.Conn, added newFiles) error {
	ix := indexing{Table: c.sources(added.files), Versions: "new_version", Parts: 1}
	many := added.rows() > fewRows
	if len(newRows(added)) > 0 {
		if err := runDerivation(ctx, conn, "spellings", ix); err != nil {
			return err
		}
		if err := ix.run(ctx, conn, "listings", many); err != nil {
			return err
		}
		if err := runDerivation(ctx, conn, "shared_codes", ix); err != nil {
			return err
		}
	}
	if added.renamed && added.commit > 0 {
		if _, err := conn.ExecContext(ctx, "DELETE FROM _dealflow.bank_count"); err != nil {
			return err
		}
		added.files = filesOf(c.Files)
		for _, table := range []string{"bond_priced_banks", "bond_priced_deals", "loan_priced_tranche_banks", "loan_priced_deals"} {
			if err := c.Local.Fetch(ctx, added.files[lake.HistoryTable(table)]); err != nil {
				return err
			}
		}
		ix.Table, ix.Versions, many = c.sources(added.files), "_dealflow.version_index", added.rows() > fewRows
	}
	if many {
		const most = 400_000 // as many bank rows of all markets are no more than DuckDB can group, if most are of one market
		ix.Parts += added.rows(lake.HistoryTable("bond_priced_banks"), lake.HistoryTable("loan_priced_tranche_banks")) / most
	}
	return ix.run(ctx, conn, "bank_counts", many)
}

// run executes a derivation for all deals; or, if there are many, for some of a market after the other, because DuckDB joins
// and groups them in memory.
func (ix indexing) run(ctx context.Context, conn *stdsql.Conn, name string, many bool) error {
	if !many {
		return runDerivation(ctx, conn, name, ix)
	}
	for _, m := range markets() {
		ix.Market = m.Market
		for ix.Part = range ix.Parts {
			if err := runDerivation(ctx, conn, name, ix); err != nil {
				return fmt.Errorf("%s: %w", m.Market, err)
			}
		}
	}
	return nil
}

// sources returns FROM clauses' sources for files of the flattened tables' history, by table.
func (c *Catalog) sources(files map[string][]lake.File) map[string]string {
	all := map[string]string{}
	for _, table := range lake.Tables() {
		all[table.Name] = c.source(files[lake.HistoryTable(table.Name)], table.HistoryColumns())
	}
	return all
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
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
