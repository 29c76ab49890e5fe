package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/marcboeker/go-duckdb/v2"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql/quote"
)

// DiffFunc compares the two versions of each pair. The pairs are of one feed, in the order of deal and version. It
// calls emit once per pair, in that order; the changes are valid during the call. It is called for two feeds at once.
type DiffFunc func(ctx context.Context, pairs []lake.VersionPair, emit func(*lake.VersionPair, []lake.FieldChange) error) error

// changes adds what changed in new versions to field_change. Comparing is reading payloads, which needs no database: it goes on
// while the connection does something else.
type changes struct {
	*Catalog
	after   string        // the instant after which the later versions of pairs became known
	groups  [][]api.Feed  // that are not compared yet
	next    []*comparison // of the group before them, by feed, in the order in which they are compared
	running sync.WaitGroup
}

// fewPairs is the number of pairs, at most, of which all feeds are one group.
const fewPairs = 10_000

// begin begins to compare the new versions with those before them, in goroutines of running that end with ctx.
func (w *changes) begin(ctx context.Context, conn *stdsql.Conn) error {
	if err := runDerivation(ctx, conn, "found_change", nil); err != nil {
		return err
	}
	feeds, pairs, err := changedFeeds(ctx, conn)
	if err != nil || len(feeds) == 0 {
		return err
	}
	if w.groups = [][]api.Feed{feeds}; pairs > fewPairs {
		w.groups = slices.Collect(slices.Chunk(feeds, 1))
	}
	return w.compareNext(ctx, conn)
}

// store writes all changes to field_change. While those of one group are stored, the next one is compared already.
func (w *changes) store(ctx context.Context, conn *stdsql.Conn) error {
	for len(w.next) > 0 || len(w.groups) > 0 {
		now := w.next
		if err := w.compareNext(ctx, conn); err != nil {
			return err
		}
		for _, m := range now {
			if err := m.store(conn); err != nil {
				return fmt.Errorf("%s: %w", m.pairs[0].Feed, err)
			}
		}
	}
	if err := w.recordFirstSeen(ctx, conn); err != nil {
		return err
	}
	return runDerivation(ctx, conn, "classify", nil)
}

// changedFeeds returns the feeds that have new versions of deals that were known before, sorted by name, and the number of these
// versions.
func changedFeeds(ctx context.Context, conn *stdsql.Conn) (feeds []api.Feed, versions int64, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT service, market, kind, count(*) FROM new_version WHERE version > 1 GROUP BY ALL ORDER BY ALL")
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var f api.Feed
		var n int64
		if err := rows.Scan(&f.Service, &f.Market, &f.Kind, &n); err != nil {
			return nil, 0, err
		}
		feeds, versions = append(feeds, f), versions+n
	}
	return feeds, versions, rows.Err()
}

// comparison is the pairs of a feed's versions that are being compared.
type comparison struct {
	pairs   []lake.VersionPair
	results chan compared // closed at the end
	err     error         // why it ended; nil if all pairs are compared
}

// compared is the changes of one pair.
type compared struct {
	pair    *lake.VersionPair
	changes []lake.FieldChange
}

// atOnceCompared is how many pairs of a feed may be compared before the first is stored. A night changes fewer deals of a feed.
const atOnceCompared = 1024

// compareNext begins to compare the pairs of the next group, two feeds at once, if there is one.
func (w *changes) compareNext(ctx context.Context, conn *stdsql.Conn) error {
	w.next = nil
	if len(w.groups) == 0 {
		return nil
	}
	pairs, err := readPairs(ctx, conn, w.groups[0], w.after)
	if err != nil {
		return err
	}
	if len(pairs) > 0 && w.Diff == nil {
		return errors.New("catalog: Diff is not set, but versions changed")
	}
	w.groups = w.groups[1:]
	waiting := make(chan *comparison, len(pairs))
	for _, feedPairs := range pairs {
		m := &comparison{pairs: feedPairs, results: make(chan compared, atOnceCompared)}
		w.next = append(w.next, m)
		waiting <- m
	}
	close(waiting)
	for range min(2, len(pairs)) {
		w.running.Go(func() {
			for m := range waiting {
				m.compare(ctx, w.Diff)
			}
		})
	}
	return nil
}

// compare compares the pairs, until the context ends.
func (m *comparison) compare(ctx context.Context, diff DiffFunc) {
	defer close(m.results)
	m.err = diff(ctx, m.pairs, func(p *lake.VersionPair, found []lake.FieldChange) error {
		select {
		case m.results <- compared{p, slices.Clone(found)}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
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

// versionPairs reads the pairs of neighbouring versions with content, the later of which became known after an instant, and the
// uids of their tranches. %s is a condition on the feed.
const versionPairs = `
WITH contents AS (
  SELECT service, market, kind, deal_id, version, valid_from, change, run_id
  FROM _dealflow.version_index
  SEMI JOIN new_version USING (service, market, kind, deal_id)
  WHERE change <> 'removed' AND (%s)
), pairs AS (
  SELECT service, market, kind, deal_id, lag(version) OVER deal AS before, version AS after, valid_from, change = 'reappeared' AS reappeared,
         lag(run_id) OVER deal AS before_run, run_id AS after_run
  FROM contents
  WINDOW deal AS (PARTITION BY service, market, kind, deal_id ORDER BY version)
  QUALIFY before IS NOT NULL AND valid_from > $1::TIMESTAMPTZ
), tranches AS (
  SELECT service, market, deal_id, version, string_agg(tranche_uid, ',' ORDER BY ordinal) AS uids
  FROM _dealflow.tranche_lineage
  SEMI JOIN (FROM pairs WHERE kind = 'expected') USING (service, market, deal_id)
  GROUP BY ALL
)
SELECT p.service, p.market, p.kind, p.deal_id, p.before, p.after, p.valid_from, p.reappeared, p.before_run, p.after_run,
       coalesce(b.uids, ''), coalesce(a.uids, '')
FROM pairs p
LEFT JOIN tranches b ON p.kind = 'expected' AND b.service = p.service AND b.market = p.market AND b.deal_id = p.deal_id AND b.version = p.before
LEFT JOIN tranches a ON p.kind = 'expected' AND a.service = p.service AND a.market = p.market AND a.deal_id = p.deal_id AND a.version = p.after
ORDER BY p.service, p.market, p.kind, p.deal_id, p.after`

// readPairs returns the pairs of feeds, each feed's by itself. feeds are all that have pairs, or one of them.
func readPairs(ctx context.Context, conn *stdsql.Conn, feeds []api.Feed, after string) (pairs [][]lake.VersionPair, err error) {
	condition := "true"
	if f := feeds[0]; len(feeds) == 1 {
		condition = fmt.Sprintf("service = %s AND market = %s AND kind = %s", quote.Text(string(f.Service)), quote.Text(string(f.Market)), quote.Text(string(f.Kind)))
	}
	rows, err := conn.QueryContext(ctx, fmt.Sprintf(versionPairs, condition), after)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	runs := map[string]string{} // one copy of each run id, which many pairs share
	for rows.Next() {
		var p lake.VersionPair
		var beforeRun, afterRun, before, after string
		if err := rows.Scan(&p.Feed.Service, &p.Feed.Market, &p.Feed.Kind, &p.DealID, &p.Before, &p.After, &p.KnownAt.Time, &p.Reappeared, &beforeRun, &afterRun, &before, &after); err != nil {
			return nil, err
		}
		p.BeforeRun, p.AfterRun = intern(runs, beforeRun), intern(runs, afterRun)
		if p.BeforeTranches, err = numbers(before); err == nil {
			p.AfterTranches, err = numbers(after)
		}
		if err != nil {
			return nil, err
		}
		if last := len(pairs) - 1; last < 0 || pairs[last][0].Feed != p.Feed {
			pairs = append(pairs, nil)
		}
		pairs[len(pairs)-1] = append(pairs[len(pairs)-1], p)
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
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil {
			return nil, err
		}
		all = append(all, int32(n))
	}
	return all, nil
}
