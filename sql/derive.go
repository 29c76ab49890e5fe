package sql

import (
	"context"
	stdsql "database/sql"
	"embed"
	"errors"
	"fmt"
	"slices"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql/quote"
)

//go:embed derived/*.sql
var derivations embed.FS

// derivationVersion is the version of the Go code that derives tables from history (matching tranches and comparing
// versions), and of the packages ownschema and byyear. Raise it when that code computes something else, so that no catalog of an older
// program is extended.
// Changed SQL statements need no such number: layoutHash includes their texts.
const derivationVersion = 3

// derive adds the new versions to the tables that are derived from history. Each version adds rows and changes none, so
// an extended table and one filled at once are the same. (listing.shared rises with other listings of its code, and
// bank_count is filled again when aliases change.)
func (c *Catalog) derive(ctx context.Context, conn *stdsql.Conn, added newFiles) error {
	if err := c.deriveLineage(ctx, conn, added); err != nil {
		return fmt.Errorf("tranche lineage: %w", err)
	}
	changes := &changes{Catalog: c, after: added.instant}
	ctx, cancel := context.WithCancel(ctx)
	defer changes.running.Wait()
	defer cancel()
	if err := changes.begin(ctx, conn); err != nil {
		return fmt.Errorf("field changes: %w", err)
	}
	if err := c.deriveIndexes(ctx, conn, added); err != nil {
		return fmt.Errorf("names and listings: %w", err)
	}
	if err := changes.store(ctx, conn); err != nil {
		return fmt.Errorf("field changes: %w", err)
	}
	return nil
}

// indexing is the data of a statement that adds to an index.
type indexing struct {
	Table    map[string]string // the source for a FROM clause of each flattened table
	Versions string            // the relation with the versions to add
	Aliased  bool              // there are aliases of banks

	market      api.Market                                // of the deals; "" for all
	release     func(context.Context, *stdsql.Conn) error // after each part
	most        int64                                     // rows of a part
	part, parts int64                                     // parts are executed one after the other
}

// Deals is the condition that a deal belongs to this part.
func (ix indexing) Deals() string {
	if ix.market == "" {
		return ix.isPart("hash(deal_id)")
	}
	return "market = " + quote.Text(string(ix.market)) + " AND " + ix.isPart("hash(deal_id)")
}

// Codes is the condition that a security's code belongs to this part.
func (ix indexing) Codes() string { return ix.isPart("hash(code)") }

func (ix indexing) isPart(number string) string {
	if ix.parts == 1 {
		return "true"
	}
	return fmt.Sprintf("%s %% %d = %d", number, ix.parts, ix.part)
}

// deriveIndexes adds to what analyses look up by name and version.
func (c *Catalog) deriveIndexes(ctx context.Context, conn *stdsql.Conn, added newFiles) error {
	ix := indexing{Table: c.sources(added.files), Versions: "new_version", release: c.release, most: int64(max(1, c.Memory-restMiB)) * rowsPerMiB}
	if len(newRows(added)) > 0 {
		if err := ix.run(ctx, conn, "spellings", 0); err != nil {
			return err
		}
		listings := added.rows(lake.HistoryTable("bond_priced_deals"), lake.HistoryTable("loan_priced_tranches"))
		for _, name := range []string{"listings", "shared_codes"} {
			if err := ix.run(ctx, conn, name, listings); err != nil {
				return err
			}
		}
	}
	if added.renamed && added.commit > 0 {
		if _, err := conn.ExecContext(ctx, "DELETE FROM _dealflow.bank_count"); err != nil {
			return err
		}
		added.files = filesOf(c.Files)
		for _, table := range []string{"bond_priced_banks", "bond_priced_deals", "loan_priced_tranche_banks", "loan_priced_deals"} {
			if err := c.Local.Fetch(ctx, lake.ValuesOf(added.files[lake.HistoryTable(table)])); err != nil {
				return err
			}
		}
		ix.Table, ix.Versions = c.sources(added.files), "_dealflow.version_index"
	}
	return c.countBanks(ctx, conn, ix, added)
}

// countBanks counts the banks of new versions. If they are too many for one part, each market is counted by itself: its files are
// then read once, and no others with them.
func (c *Catalog) countBanks(ctx context.Context, conn *stdsql.Conn, ix indexing, added newFiles) error {
	entries := added.rows(lake.HistoryTable("bond_priced_banks"), lake.HistoryTable("loan_priced_tranche_banks"))
	if entries == 0 {
		return nil
	}
	err := conn.QueryRowContext(ctx, "SELECT EXISTS (FROM _dealflow.bank_alias)").Scan(&ix.Aliased)
	if err == nil {
		err = ix.run(ctx, conn, "bank_numbers", 0)
	}
	if err != nil {
		return err
	}
	if entries <= ix.most {
		return ix.run(ctx, conn, "bank_counts", 0)
	}
	rows, err := bankRows(ctx, conn, ix.Table)
	if err != nil {
		return err
	}
	for _, ix.market = range slices.Concat(api.Markets(api.Bond), api.Markets(api.Loan)) {
		own := added.inMarket(ix.market)
		ix.Table = c.sources(own.files)
		if err := ix.run(ctx, conn, "bank_counts", rows[ix.market]/2); err != nil { // of numbers, not of texts
			return err
		}
	}
	return nil
}

// bankRows counts the rows of banks by market: of a file that several markets share, nothing else says how many are whose.
func bankRows(ctx context.Context, conn *stdsql.Conn, sources map[string]string) (counts map[api.Market]int64, err error) {
	rows, err := conn.QueryContext(ctx, fmt.Sprintf("SELECT market, count(*) FROM %s GROUP BY market UNION ALL SELECT market, count(*) FROM %s GROUP BY market",
		sources["bond_priced_banks"], sources["loan_priced_tranche_banks"]))
	if err != nil {
		return nil, fmt.Errorf("count the banks: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	counts = map[api.Market]int64{}
	for rows.Next() {
		var market api.Market
		var n int64
		if err := rows.Scan(&market, &n); err != nil {
			return nil, err
		}
		counts[market] += n
	}
	return counts, rows.Err()
}

// A derivation may join and group rowsPerMiB rows for each MiB of DuckDB's memory, in which it does that, above restMiB,
// which the rest takes. (At 7,000 the banks of 59,000 deals did not fit, at 5,000 they did. 3,500 leaves room, and its four
// parts took no longer than three.)
const (
	restMiB    = 56
	rowsPerMiB = 3_500
)

// run executes a derivation of this many rows, one part after the other if there are too many.
func (ix indexing) run(ctx context.Context, conn *stdsql.Conn, name string, rows int64) error {
	ix.parts = 1 + rows/ix.most
	for ix.part = range ix.parts {
		if err := runDerivation(ctx, conn, name, ix); err != nil {
			return err
		}
		if err := ix.release(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}

// sources returns FROM clauses' sources for files of the flattened tables' history, by table.
func (c *Catalog) sources(files map[string][]*lake.File) map[string]string {
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
