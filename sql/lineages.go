package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"

	"github.com/marcboeker/go-duckdb/v2"

	"dealflow/sql/identity"
	"dealflow/sql/quote"
)

// dealKey identifies an expected deal.
type dealKey struct {
	service, market string
	deal            int64
}

// lineages contains the lineages of the expected deals that have new versions. order lists their deals in the order in
// which they were added.
type lineages struct {
	byDeal map[dealKey]*identity.Lineage
	order  []dealKey
}

// lineageOf returns a deal's lineage, and adds an empty one if there is none.
func (l *lineages) lineageOf(key dealKey) *identity.Lineage {
	found := l.byDeal[key]
	if found == nil {
		found = new(identity.Lineage)
		l.byDeal[key] = found
		l.order = append(l.order, key)
	}
	return found
}

// deriveLineage adds the tranches of new versions to tranche_lineage. Each deal continues from its known tranches.
func (c *Catalog) deriveLineage(ctx context.Context, conn *stdsql.Conn, added newFiles) error {
	rows, err := c.newTranches(ctx, conn, added)
	if err != nil || len(rows) == 0 {
		return err
	}
	all, err := knownTranches(ctx, conn)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `
DELETE FROM _dealflow.tranche_known known
USING (SELECT DISTINCT service, market, deal_id FROM new_version WHERE kind = 'expected') deals
WHERE known.service = deals.service AND known.market = deals.market AND known.deal_id = deals.deal_id`); err != nil {
		return err
	}
	err = appendTo(conn, "tranche_lineage", func(out *duckdb.Appender) error { return all.follow(rows, out) })
	if err != nil {
		return err
	}
	return appendTo(conn, "tranche_known", all.append)
}

// appendTo opens an appender to a table of the schema _dealflow for the function rows.
func appendTo(conn *stdsql.Conn, table string, rows func(*duckdb.Appender) error) error {
	return conn.Raw(func(driverConn any) (err error) {
		out, err := duckdb.NewAppenderFromConn(driverConn.(driver.Conn), "_dealflow", table)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		return rows(out)
	})
}

// follow matches the tranches of new versions and writes the matches. rows must be in the order of deal, version and
// ordinal.
func (l *lineages) follow(rows []trancheRow, out *duckdb.Appender) error {
	for len(rows) > 0 {
		first := &rows[0]
		var tranches []identity.Tranche
		for len(tranches) < len(rows) && rows[len(tranches)].dealKey == first.dealKey && rows[len(tranches)].version == first.version {
			tranches = append(tranches, rows[len(tranches)].Tranche)
		}
		for i, m := range l.lineageOf(first.dealKey).Next(first.version, tranches) {
			if err := out.AppendRow(first.service, first.market, first.deal, m.UID, first.version, tranches[i].Ordinal, m.By); err != nil {
				return err
			}
		}
		rows = rows[len(tranches):]
	}
	return nil
}

// append writes the known tranches of all deals. Texts go as bytes: the appender cuts a text at its first NUL.
func (l *lineages) append(out *duckdb.Appender) error {
	for _, key := range l.order {
		for i := range l.byDeal[key].Known {
			t := &l.byDeal[key].Known[i]
			var priced any
			if t.PricedID.Valid {
				priced = t.PricedID.Int64
			}
			err := out.AppendRow(key.service, key.market, key.deal, t.UID, t.Version, t.Ordinal,
				[]byte(t.Name), []byte(t.NormalName), []byte(t.Currency), []byte(t.FIGI), priced)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// trancheRow is a tranche of a version of a deal.
type trancheRow struct {
	dealKey
	version int32
	identity.Tranche
}

// newTranches reads the tranches of new versions of expected deals, in the order of deal, version and ordinal.
func (c *Catalog) newTranches(ctx context.Context, conn *stdsql.Conn, added newFiles) (rows []trancheRow, err error) {
	bonds, loans := c.historySince(added, "bond_expected_tranches"), c.historySince(added, "loan_expected_tranches")
	err = readTranches(ctx, conn, `
WITH tranches AS (
  SELECT 'bond' AS service, market, deal_id, version, ordinal, name, currency, figi_code, priced_deal_id FROM `+bonds+`
  UNION ALL
  SELECT 'loan', market, deal_id, version, ordinal, name, currency, figi_code, NULL FROM `+loans+`
)
SELECT service, market, deal_id, version, ordinal, coalesce(name, ''), coalesce(_dealflow.normal_name(name), ''), coalesce(currency, ''),
       coalesce(figi_code, ''), priced_deal_id, 0
FROM tranches
SEMI JOIN (FROM new_version WHERE kind = 'expected') USING (service, market, deal_id, version)
ORDER BY service, market, deal_id, version, ordinal`, func(r *trancheRow, _ int32) { rows = append(rows, *r) })
	return rows, err
}

// knownTranches reads the lineages of the deals that have new versions.
func knownTranches(ctx context.Context, conn *stdsql.Conn) (*lineages, error) {
	all := &lineages{byDeal: map[dealKey]*identity.Lineage{}}
	err := readTranches(ctx, conn, `
SELECT service, market, deal_id, version, ordinal, name, normal_name, currency, figi, priced_deal_id, tranche_uid
FROM _dealflow.tranche_known
SEMI JOIN (FROM new_version WHERE kind = 'expected') USING (service, market, deal_id)
ORDER BY service, market, deal_id, tranche_uid`, func(r *trancheRow, uid int32) {
		l := all.lineageOf(r.dealKey)
		l.Known = append(l.Known, identity.Known{Tranche: r.Tranche, UID: uid, Version: r.version})
		l.Version = max(l.Version, r.version)
	})
	return all, err
}

// readTranches calls each for every row. The statement returns the columns of a trancheRow and a uid.
func readTranches(ctx context.Context, conn *stdsql.Conn, statement string, each func(*trancheRow, int32)) (err error) {
	once, value := quote.Once(statement)
	rows, err := conn.QueryContext(ctx, once, value)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r trancheRow
		var uid int32
		if err := rows.Scan(&r.service, &r.market, &r.deal, &r.version, &r.Ordinal, &r.Name, &r.NormalName, &r.Currency, &r.FIGI, &r.PricedID, &uid); err != nil {
			return err
		}
		each(&r, uid)
	}
	return rows.Err()
}
