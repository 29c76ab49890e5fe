package lakesource

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/sql/quote"
)

// list returns a page of a feed as of a state.
func (s *Source) list(ctx context.Context, e *openCatalog, at instant, q serve.Query) (serve.Page, error) {
	x, err := s.indexes.get(ctx, e.catalog.DB, q.Feed, at)
	if err != nil {
		return serve.Page{}, err
	}
	chosen, more, err := x.page(q)
	if err != nil {
		return serve.Page{}, err
	}
	records, err := readRecords(ctx, e.catalog.DB, q.Feed, chosen)
	if err != nil {
		return serve.Page{}, fmt.Errorf("%s as of %s: %w", q.Feed, at, err)
	}
	return serve.Page{Records: records, More: more, State: at.state()}, nil
}

// get returns a deal as of a state.
func (s *Source) get(ctx context.Context, e *openCatalog, at instant, feed api.Feed, id int64) (serve.Record, error) {
	x, err := s.indexes.get(ctx, e.catalog.DB, feed, at)
	if err != nil {
		return serve.Record{}, err
	}
	found := x.find(id)
	if found == nil {
		return serve.Record{}, serve.ErrNotFound
	}
	records, err := readRecords(ctx, e.catalog.DB, feed, []entry{*found})
	if err != nil {
		return serve.Record{}, fmt.Errorf("%s %d as of %s: %w", feed, id, at, err)
	}
	return records[0], nil
}

// readRecords reads the payloads of deals by one query and rewrites them as records of this API, in the order of
// chosen.
func readRecords(ctx context.Context, db *stdsql.DB, feed api.Feed, chosen []entry) ([]serve.Record, error) {
	if len(chosen) == 0 {
		return nil, nil
	}
	position := make(map[int64]int, len(chosen))
	records := make([]serve.Record, len(chosen))
	for i := range chosen {
		e := &chosen[i]
		position[e.id] = i
		records[i] = serve.Record{ID: e.id, UpdatedAt: e.known.time(), PricingDate: e.pricingDate()}
	}
	once, query := quote.Once(payloadQuery(feed, chosen))
	rows, err := db.QueryContext(ctx, once, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	w := newRewriter(feed)
	for rows.Next() {
		var id int64
		var payload stdsql.RawBytes // valid until the next row
		var from stdsql.NullString
		if err := rows.Scan(&id, &payload, &from); err != nil {
			return nil, err
		}
		record := &records[position[id]]
		if record.Body, err = w.body(payload, from.String, instantOf(record.UpdatedAt)); err != nil {
			return nil, fmt.Errorf("payload of deal %d: %w", id, err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(records, func(r serve.Record) bool { return r.Body == nil }); i >= 0 {
		return nil, fmt.Errorf("history does not have version %d of deal %d; run `dealflow verify`", chosen[i].version, chosen[i].id)
	}
	return records, nil
}

// payloadQuery returns a query for the payloads of versions of a feed, 1 or more. Because of the bounds around the list of keys,
// DuckDB can skip files and row groups by their statistics.
func payloadQuery(feed api.Feed, chosen []entry) string {
	ids, known := []int64{chosen[0].id, chosen[0].id}, []instant{chosen[0].known, chosen[0].known}
	var keys strings.Builder
	for i, e := range chosen {
		ids = []int64{min(ids[0], e.id), max(ids[1], e.id)}
		known = []instant{min(known[0], e.known), max(known[1], e.known)}
		if i > 0 {
			keys.WriteByte(',')
		}
		fmt.Fprintf(&keys, "('%d'::BIGINT,%d::INTEGER)", e.id, e.version) // -9223372036854775808 without quotes is minus a number that is too large
	}
	return fmt.Sprintf(`
SELECT v.deal_id, v.payload, r.base_url
FROM files.deal_versions v
JOIN (VALUES %s) k(deal_id, version) ON k.deal_id = v.deal_id AND k.version = v.version
LEFT JOIN feed_runs r ON r.run_id = v.run_id AND r.service = v.service AND r.market = v.market AND r.kind = v.kind
WHERE v.service = %s AND v.market = %s AND v.kind = %s
  AND v.deal_id BETWEEN '%d'::BIGINT AND '%d'::BIGINT AND v.known_at BETWEEN %s AND %s`,
		keys.String(), quote.Text(string(feed.Service)), quote.Text(string(feed.Market)), quote.Text(string(feed.Kind)), ids[0], ids[1], known[0].literal(), known[1].literal())
}

var errNoBase = errors.New("the catalog does not contain the run of this version, so its links cannot be read; run `dealflow catalog`")
