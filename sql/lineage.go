package sql

import (
	"cmp"
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"github.com/marcboeker/go-duckdb/v2"
)

// tranche is one tranche of one version of an expected deal, with what it may be known by later.
type tranche struct {
	ordinal    int32
	name       string // as written
	normalName string
	currency   string
	figi       string
	pricedID   stdsql.NullInt64
}

// known is a tranche of earlier versions of a deal, as it was when last seen.
type known struct {
	tranche
	uid     int32
	version int32 // in which it was last seen
}

// lineage follows the tranches of one deal from version to version: forward, so that what a tranche is
// called in one version hangs on that and earlier versions alone.
type lineage struct {
	known   []known
	version int32 // the newest one
}

// matchers are the ways in which a tranche is known again, the surest first.
var matchers = []struct {
	name    string
	same    func(now *tranche, was *known) bool
	current bool // only tranches of the version before are looked at
}{
	{name: "priced deal", same: func(now *tranche, was *known) bool { return now.pricedID.Valid && now.pricedID == was.pricedID }},
	{name: "figi", same: func(now *tranche, was *known) bool { return now.figi != "" && now.figi == was.figi }},
	{name: "name", same: func(now *tranche, was *known) bool { return now.name != "" && now.name == was.name }},
	{name: "normal name and currency", same: func(now *tranche, was *known) bool {
		return now.normalName != "" && now.normalName == was.normalName && now.currency == was.currency
	}},
	{name: "position", same: func(now *tranche, was *known) bool { return now.ordinal == was.ordinal }, current: true},
}

const matchedNew = "new"

// match is what a tranche of a version was found to be.
type match struct {
	uid int32
	by  string
}

// next takes in a version's tranches, in their order, and says which each is.
func (l *lineage) next(version int32, tranches []tranche) []match {
	matches := make([]match, len(tranches))
	taken := map[int32]bool{}
	for _, m := range matchers {
		for i := range tranches {
			if matches[i].uid != 0 {
				continue
			}
			best := l.best(&tranches[i], taken, m.same, m.current)
			if best != nil {
				matches[i] = match{best.uid, m.name}
				taken[best.uid] = true
			}
		}
	}
	for i := range tranches {
		if matches[i].uid == 0 {
			matches[i] = match{int32(len(l.known) + 1), matchedNew}
			l.known = append(l.known, known{uid: matches[i].uid})
		}
		l.known[matches[i].uid-1] = known{tranches[i], matches[i].uid, version}
	}
	l.version = version
	return matches
}

// best finds, among the tranches that are not taken, the one that is the same: seen last, standing at the
// same place, first known; in this order.
func (l *lineage) best(now *tranche, taken map[int32]bool, same func(*tranche, *known) bool, current bool) *known {
	var best *known
	for i := range l.known {
		was := &l.known[i]
		if taken[was.uid] || current && was.version != l.version || !same(now, was) {
			continue
		}
		if best == nil || cmp.Or(-cmp.Compare(was.version, best.version), compareBool(was.ordinal == now.ordinal, best.ordinal == now.ordinal)) < 0 {
			best = was
		}
	}
	return best
}

// compareBool orders true before false.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// expectedTranches reads the tranches of all versions of the deals that have a version after an instant.
const expectedTranches = `
WITH renewed AS (
  SELECT DISTINCT service, market, deal_id FROM _dealflow.version_index
  WHERE kind = 'expected' AND valid_from > ?::TIMESTAMPTZ
), tranches AS (
  SELECT 'bond' AS service, market, deal_id, version, ordinal, name, currency, figi_code, priced_deal_id FROM _dealflow.history_bond_expected_tranches
  UNION ALL
  SELECT 'loan', market, deal_id, version, ordinal, name, currency, figi_code, NULL FROM _dealflow.history_loan_expected_tranches
)
SELECT service, market, deal_id, version, ordinal, coalesce(name, ''), coalesce(_dealflow.normal_name(name), ''), coalesce(currency, ''), coalesce(figi_code, ''), priced_deal_id
FROM tranches SEMI JOIN renewed USING (service, market, deal_id)
ORDER BY service, market, deal_id, version, ordinal`

// trancheRow is a row of expectedTranches.
type trancheRow struct {
	service, market string
	deal            int64
	version         int32
	tranche
}

// deriveLineage adds the tranches of the versions since. A deal's versions are followed from its first
// one, and only what is new is written.
func (c *Catalog) deriveLineage(ctx context.Context, conn *stdsql.Conn, from since) (err error) {
	written := map[[2]string]map[int64]int32{} // the newest version that the table has, of each deal
	if !from.empty {
		if written, err = newestLineage(ctx, conn); err != nil {
			return err
		}
	}
	rows, err := readTranches(ctx, conn, from)
	if err != nil || len(rows) == 0 {
		return err
	}
	return conn.Raw(func(driverConn any) (err error) {
		out, err := duckdb.NewAppenderFromConn(driverConn.(driver.Conn), "_dealflow", "tranche_lineage")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		for len(rows) > 0 {
			first := &rows[0]
			n := slices.IndexFunc(rows, func(r trancheRow) bool {
				return r.deal != first.deal || r.market != first.market || r.service != first.service
			})
			if n < 0 {
				n = len(rows)
			}
			if err := appendLineage(out, rows[:n], written[[2]string{first.service, first.market}][first.deal]); err != nil {
				return err
			}
			rows = rows[n:]
		}
		return nil
	})
}

// appendLineage follows one deal, and writes what comes after version.
func appendLineage(out *duckdb.Appender, rows []trancheRow, after int32) error {
	var l lineage
	for len(rows) > 0 {
		version := rows[0].version
		var tranches []tranche
		for len(rows) > len(tranches) && rows[len(tranches)].version == version {
			tranches = append(tranches, rows[len(tranches)].tranche)
		}
		matches := l.next(version, tranches)
		if version > after {
			for i, m := range matches {
				r := &rows[i]
				if err := out.AppendRow(r.service, r.market, r.deal, m.uid, r.version, r.ordinal, m.by); err != nil {
					return err
				}
			}
		}
		rows = rows[len(tranches):]
	}
	return nil
}

func readTranches(ctx context.Context, conn *stdsql.Conn, from since) (all []trancheRow, err error) {
	rows, err := conn.QueryContext(ctx, expectedTranches, from.instant)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r trancheRow
		if err := rows.Scan(&r.service, &r.market, &r.deal, &r.version, &r.ordinal, &r.name, &r.normalName, &r.currency, &r.figi, &r.pricedID); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

func newestLineage(ctx context.Context, conn *stdsql.Conn) (newest map[[2]string]map[int64]int32, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT service, market, deal_id, max(version) FROM _dealflow.tranche_lineage GROUP BY ALL")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	newest = map[[2]string]map[int64]int32{}
	for rows.Next() {
		var service, market string
		var deal int64
		var version int32
		if err := rows.Scan(&service, &market, &deal, &version); err != nil {
			return nil, fmt.Errorf("newest versions: %w", err)
		}
		of := [2]string{service, market}
		if newest[of] == nil {
			newest[of] = map[int64]int32{}
		}
		newest[of][deal] = version
	}
	return newest, rows.Err()
}
