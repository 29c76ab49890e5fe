package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/marcboeker/go-duckdb/v2"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// DiffFunc says what changed between the versions of pairs, which are of one feed and in the order of
// deal and version: emit gets the changes of each pair in that order.
type DiffFunc func(ctx context.Context, pairs []lake.VersionPair, emit func(*lake.VersionPair, []lake.FieldChange) error) error

// deriveChanges adds what changed in the versions since.
func (c *Catalog) deriveChanges(ctx context.Context, conn *stdsql.Conn, from since) error {
	if err := runDerivation(ctx, conn, "found_change", nil); err != nil {
		return err
	}
	pairs, err := readPairs(ctx, conn, from)
	if err != nil {
		return fmt.Errorf("versions since: %w", err)
	}
	for len(pairs) > 0 {
		feed := pairs[0].Feed
		n := slices.IndexFunc(pairs, func(p lake.VersionPair) bool { return p.Feed != feed })
		if n < 0 {
			n = len(pairs)
		}
		if err := c.deriveFeed(ctx, conn, pairs[:n]); err != nil {
			return fmt.Errorf("%s: %w", feed, err)
		}
		pairs = pairs[n:]
	}
	if err := c.learnFields(ctx, conn); err != nil {
		return err
	}
	return runDerivation(ctx, conn, "classify", nil)
}

// deriveFeed finds what changed in one feed.
func (c *Catalog) deriveFeed(ctx context.Context, conn *stdsql.Conn, pairs []lake.VersionPair) error {
	if c.Diff == nil {
		return errors.New("nobody says what changed")
	}
	return conn.Raw(func(driverConn any) (err error) {
		out, err := duckdb.NewAppender(driverConn.(driver.Conn), "temp", "main", "found_change")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		return c.Diff(ctx, pairs, func(p *lake.VersionPair, changes []lake.FieldChange) error {
			return appendChanges(out, p, changes)
		})
	})
}

// appendChanges writes the changes of a pair. Where no column differs, something else in the record does, but
// for a deal that reappeared: it may be as it was.
func appendChanges(out *duckdb.Appender, p *lake.VersionPair, changes []lake.FieldChange) error {
	row := func(table, key, field, change, was, is any) error {
		return out.AppendRow(string(p.Feed.Service), string(p.Feed.Market), string(p.Feed.Kind), p.DealID, p.After, p.KnownAt.Time, table, key, field, change, was, is)
	}
	if len(changes) == 0 && p.Reappeared {
		return nil
	}
	if len(changes) == 0 {
		return row(nil, nil, nil, lake.ChangedElsewhere, nil, nil)
	}
	for i := range changes {
		c := &changes[i]
		// As bytes: the appender takes a text to end at its first NUL.
		var key, field, was, is any = []byte(c.RowKey), c.Field, []byte(c.Was), []byte(c.Is)
		if table, ok := lake.TableByName(c.Table); ok && table.Depth() == 0 {
			key = nil // the deal's own row
		}
		switch c.Change {
		case lake.FieldSet:
			was = nil
		case lake.FieldCleared:
			is = nil
		case lake.RowAdded:
			field, was = nil, nil
		case lake.RowRemoved:
			field, is = nil, nil
		case lake.ChangeUnreadable:
			if err := row(nil, nil, nil, c.Change, nil, nil); err != nil {
				return err
			}
			continue
		}
		if err := row(c.Table, key, field, c.Change, was, is); err != nil {
			return err
		}
	}
	return nil
}

// versionPairs reads the neighbouring contents of deals, the later of which became known after an instant,
// and which tranches theirs are.
const versionPairs = `
WITH pairs AS (
  SELECT service, market, kind, deal_id, lag(version) OVER deal AS before, version AS after, valid_from, change = 'reappeared' AS reappeared, lag(run_id) OVER deal AS before_run, run_id AS after_run
  FROM _dealflow.version_index
  WHERE change <> 'removed'
  WINDOW deal AS (PARTITION BY service, market, kind, deal_id ORDER BY version)
  QUALIFY before IS NOT NULL AND valid_from > ?::TIMESTAMPTZ
), tranches AS (
  SELECT service, market, 'expected' AS kind, deal_id, version, string_agg(tranche_uid, ',' ORDER BY ordinal) AS uids
  FROM _dealflow.tranche_lineage
  GROUP BY ALL
)
SELECT p.service, p.market, p.kind, p.deal_id, p.before, p.after, p.valid_from, p.reappeared, p.before_run, p.after_run, coalesce(b.uids, ''), coalesce(a.uids, '')
FROM pairs p
LEFT JOIN tranches b ON b.service = p.service AND b.market = p.market AND b.kind = p.kind AND b.deal_id = p.deal_id AND b.version = p.before
LEFT JOIN tranches a ON a.service = p.service AND a.market = p.market AND a.kind = p.kind AND a.deal_id = p.deal_id AND a.version = p.after
ORDER BY p.service, p.market, p.kind, p.deal_id, p.after`

func readPairs(ctx context.Context, conn *stdsql.Conn, from since) (pairs []lake.VersionPair, err error) {
	rows, err := conn.QueryContext(ctx, versionPairs, from.instant)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var p lake.VersionPair
		var service, market, kind, before, after string
		err := rows.Scan(&service, &market, &kind, &p.DealID, &p.Before, &p.After, &p.KnownAt.Time, &p.Reappeared, &p.BeforeRun, &p.AfterRun, &before, &after)
		if err != nil {
			return nil, err
		}
		p.Feed = api.Feed{Service: api.Service(service), Market: api.Market(market), Kind: api.Kind(kind)}
		if p.BeforeTranches, err = numbers(before); err == nil {
			p.AfterTranches, err = numbers(after)
		}
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, rows.Err()
}

// numbers reads a list of numbers with commas between them.
func numbers(text string) (all []int32, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		var n int32
		if _, err := fmt.Sscan(part, &n); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// learnFields looks, for the fields that got a value in some version and are not known to have had one
// before, when their feeds first had one.
func (c *Catalog) learnFields(ctx context.Context, conn *stdsql.Conn) (err error) {
	rows, err := conn.QueryContext(ctx, `
SELECT DISTINCT table_name, field FROM found_change
ANTI JOIN _dealflow.field_seen s ON s.market = found_change.market AND s.table_name = found_change.table_name AND s.field = coalesce(found_change.field, '')
WHERE change IN ('set', 'row added')
ORDER BY ALL`)
	if err != nil {
		return err
	}
	fields := map[string][]string{}
	for rows.Next() {
		var table string
		var field stdsql.NullString
		if err := rows.Scan(&table, &field); err != nil {
			return errors.Join(err, rows.Close())
		}
		fields[table] = append(fields[table], field.String)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, table := range lake.Tables() {
		if len(fields[table.Name]) == 0 {
			continue
		}
		data := struct {
			*lake.Table
			Fields []string
		}{table, fields[table.Name]}
		if err := runDerivation(ctx, conn, "field_seen", data); err != nil {
			return fmt.Errorf("%s: %w", table.Name, err)
		}
	}
	return nil
}
