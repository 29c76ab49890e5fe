package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/marcboeker/go-duckdb/v2"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// DiffFunc compares the two versions of each pair. The pairs are of one feed, in the order of deal and version. It
// calls emit once per pair, in that order; the changes are valid during the call. It is called for two feeds at once.
type DiffFunc func(ctx context.Context, pairs []lake.VersionPair, emit func(*lake.VersionPair, []lake.FieldChange) error) error

// deriveChanges adds the changes of new versions to field_change.
func (c *Catalog) deriveChanges(ctx context.Context, conn *stdsql.Conn, added newFiles) error {
	if err := runDerivation(ctx, conn, "found_change", nil); err != nil {
		return err
	}
	feeds, err := changedFeeds(ctx, conn)
	if err != nil {
		return err
	}
	if err := c.compareFeeds(ctx, conn, feeds, added.instant); err != nil {
		return err
	}
	if err := c.recordFirstSeen(ctx, conn); err != nil {
		return err
	}
	return runDerivation(ctx, conn, "classify", nil)
}

// changedFeeds returns the feeds that have new versions of deals that were known before, sorted by name.
func changedFeeds(ctx context.Context, conn *stdsql.Conn) (feeds []api.Feed, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT DISTINCT service, market, kind FROM new_version WHERE version > 1 ORDER BY ALL")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var service, market, kind string
		if err := rows.Scan(&service, &market, &kind); err != nil {
			return nil, err
		}
		feeds = append(feeds, api.Feed{Service: api.Service(service), Market: api.Market(market), Kind: api.Kind(kind)})
	}
	return feeds, rows.Err()
}

// compareFeeds collects the changes of versions that became known after an instant, feed by feed. While the changes of one are
// stored, the next one is compared already: that is reading payloads, and DuckDB has one connection.
func (c *Catalog) compareFeeds(ctx context.Context, conn *stdsql.Conn, feeds []api.Feed, after string) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	var next *comparison
	for i := range len(feeds) + 1 {
		now := next
		if i < len(feeds) {
			if next, err = c.compare(ctx, conn, &running, feeds[i], after); err != nil {
				return fmt.Errorf("%s: %w", feeds[i], err)
			}
		}
		if now == nil {
			continue
		}
		if err := now.store(conn); err != nil {
			return fmt.Errorf("%s: %w", feeds[i-1], err)
		}
	}
	return nil
}

// comparison is the pairs of a feed's versions that are being compared.
type comparison struct {
	results chan compared // closed at the end
	err     error         // why it ended; nil if all pairs are compared
}

// compared is the changes of one pair.
type compared struct {
	pair    *lake.VersionPair
	changes []lake.FieldChange
}

// atOnceCompared is how many pairs may be compared before the first is stored. A night changes fewer deals of a feed.
const atOnceCompared = 1024

// compare begins to compare a feed's pairs, in a goroutine of running that ends with ctx. Without pairs it returns nil.
func (c *Catalog) compare(ctx context.Context, conn *stdsql.Conn, running *sync.WaitGroup, feed api.Feed, after string) (*comparison, error) {
	pairs, err := readPairs(ctx, conn, feed, after)
	if err != nil || len(pairs) == 0 {
		return nil, err
	}
	if c.Diff == nil {
		return nil, errors.New("catalog: Diff is not set, but versions changed")
	}
	made := &comparison{results: make(chan compared, atOnceCompared)}
	running.Go(func() {
		defer close(made.results)
		made.err = c.Diff(ctx, pairs, func(p *lake.VersionPair, changes []lake.FieldChange) error {
			select {
			case made.results <- compared{p, slices.Clone(changes)}:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	return made, nil
}

// store writes the changes, until all pairs are compared.
func (m *comparison) store(conn *stdsql.Conn) error {
	return conn.Raw(func(driverConn any) (err error) {
		out, err := duckdb.NewAppender(driverConn.(driver.Conn), "temp", "main", "found_change")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		for r := range m.results {
			if err := appendChanges(out, r.pair, r.changes); err != nil {
				return err
			}
		}
		return m.err
	})
}

// appendChanges writes the changes of a pair. If no column differs, something else in the record does, and the row says
// so. Except for a deal that reappeared: its content may be unchanged, so nothing is written.
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
		// As bytes: the appender cuts a text at its first NUL.
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

// versionPairs reads each feed's pairs of neighbouring versions with content, the later of which became known after an
// instant, and the uids of their tranches.
const versionPairs = `
WITH contents AS (
  SELECT deal_id, version, valid_from, change, run_id
  FROM _dealflow.version_index
  WHERE service = $1 AND market = $2 AND kind = $3 AND change <> 'removed'
    AND deal_id IN (SELECT deal_id FROM new_version WHERE service = $1 AND market = $2 AND kind = $3)
), pairs AS (
  SELECT deal_id, lag(version) OVER deal AS before, version AS after, valid_from, change = 'reappeared' AS reappeared, lag(run_id) OVER deal AS before_run, run_id AS after_run
  FROM contents
  WINDOW deal AS (PARTITION BY deal_id ORDER BY version)
  QUALIFY before IS NOT NULL AND valid_from > $4::TIMESTAMPTZ
), tranches AS (
  SELECT deal_id, version, string_agg(tranche_uid, ',' ORDER BY ordinal) AS uids
  FROM _dealflow.tranche_lineage
  WHERE service = $1 AND market = $2 AND $3 = 'expected' AND deal_id IN (SELECT deal_id FROM pairs)
  GROUP BY ALL
)
SELECT p.deal_id, p.before, p.after, p.valid_from, p.reappeared, p.before_run, p.after_run, coalesce(b.uids, ''), coalesce(a.uids, '')
FROM pairs p
LEFT JOIN tranches b ON b.deal_id = p.deal_id AND b.version = p.before
LEFT JOIN tranches a ON a.deal_id = p.deal_id AND a.version = p.after
ORDER BY p.deal_id, p.after`

func readPairs(ctx context.Context, conn *stdsql.Conn, feed api.Feed, after string) (pairs []lake.VersionPair, err error) {
	rows, err := conn.QueryContext(ctx, versionPairs, string(feed.Service), string(feed.Market), string(feed.Kind), after)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	runs := map[string]string{} // one copy of each run id, which many pairs share
	for rows.Next() {
		p := lake.VersionPair{Feed: feed}
		var beforeRun, afterRun, before, after string
		if err := rows.Scan(&p.DealID, &p.Before, &p.After, &p.KnownAt.Time, &p.Reappeared, &beforeRun, &afterRun, &before, &after); err != nil {
			return nil, err
		}
		p.BeforeRun, p.AfterRun = intern(runs, beforeRun), intern(runs, afterRun)
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

// intern returns the first copy of a text, so that equal texts share memory.
func intern(met map[string]string, text string) string {
	if first, ok := met[text]; ok {
		return first
	}
	met[text] = text
	return text
}

// numbers parses a list of numbers separated by commas.
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
