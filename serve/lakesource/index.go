package lakesource

import (
	"cmp"
	"context"
	stdsql "database/sql"
	"fmt"
	"slices"
	"sync"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
)

// index lists the deals of a feed that are current in a state. It is not changed after it was read.
type index struct {
	feed    api.Feed
	at      instant
	ordered []entry // in the order of the list
	byID    []int32 // indices into ordered, sorted by deal_id
}

// entry is the current version of a deal, without its payload.
type entry struct {
	known   instant // known_at of the version
	id      int64
	changed instant // the deal's own "changed", or noDate
	version int32
	priced  int32 // pricing date in days since 1970, or noDate
}

// noDate is the value of a date that a deal does not have.
const noDate = -1 << 31

func (e *entry) pricingDate() string {
	if e.priced == noDate {
		return ""
	}
	return time.Unix(int64(e.priced)*24*3600, 0).UTC().Format(time.DateOnly)
}

func (e *entry) position() serve.Position {
	return serve.Position{UpdatedAt: e.known.time(), ID: e.id}
}

// compare orders positions as the list does: newest update first, then by falling id. Lists without updatedSince are
// ordered by falling id only.
func compare(feed api.Feed, a, b serve.Position) int {
	if feed.HasUpdatedSince() {
		if c := b.UpdatedAt.Compare(a.UpdatedAt); c != 0 {
			return c
		}
	}
	return cmp.Compare(b.ID, a.ID)
}

// find returns the entry of a deal, or nil if the deal is not current. The caller must not change it.
func (x *index) find(id int64) *entry {
	i, found := slices.BinarySearchFunc(x.byID, id, func(place int32, id int64) int { return cmp.Compare(x.ordered[place].id, id) })
	if !found {
		return nil
	}
	return &x.ordered[x.byID[i]]
}

// after returns the part of the list after a position, or the complete list for nil.
func (x *index) after(at *serve.Position) []entry {
	if at == nil {
		return x.ordered
	}
	i, found := slices.BinarySearchFunc(x.ordered, *at, func(e entry, at serve.Position) int { return compare(x.feed, e.position(), at) })
	if found {
		i++
	}
	return x.ordered[i:]
}

// page returns the deals that a query selects, up to its limit, and whether more follow.
func (x *index) page(q serve.Query) (chosen []entry, more bool, err error) {
	in, err := newBounds(x.feed, q)
	if err != nil {
		return nil, false, err
	}
	for _, e := range x.after(q.After) {
		if in.isBefore(&e) {
			break // all deals after this one are older
		}
		if !in.contain(&e) {
			continue
		}
		if len(chosen) == q.Limit {
			return chosen, true, nil
		}
		chosen = append(chosen, e)
	}
	return chosen, false, nil
}

// bounds are a query's filters in the units of entries. All bounds are inclusive.
type bounds struct {
	since                  instant // least known_at
	priced                 bool
	pricedFrom, pricedTo   int32
	changed                bool
	changedFrom, changedTo instant
}

const farthest = 1<<63 - 1

func newBounds(feed api.Feed, q serve.Query) (bounds, error) {
	in := bounds{
		since:   -farthest,
		priced:  q.PricingDateFrom != "" || q.PricingDateTo != "",
		changed: !q.ChangedFrom.IsZero() || !q.ChangedTo.IsZero(), changedFrom: -farthest, changedTo: farthest,
	}
	if !q.UpdatedSince.IsZero() && feed.HasUpdatedSince() {
		in.since = ceiling(q.UpdatedSince)
		if in.since == instantOf(q.UpdatedSince) && q.UpdatedAfter {
			in.since++
		}
	}
	if !q.ChangedFrom.IsZero() {
		in.changedFrom = ceiling(q.ChangedFrom)
	}
	if !q.ChangedTo.IsZero() {
		in.changedTo = instantOf(q.ChangedTo)
	}
	var err error
	if in.pricedFrom, err = days(q.PricingDateFrom, noDate+1); err == nil {
		in.pricedTo, err = days(q.PricingDateTo, 1<<31-1)
	}
	return in, err
}

// ceiling returns t rounded up to microseconds.
func ceiling(t time.Time) instant {
	at := instantOf(t)
	if at.time().Before(t) {
		at++
	}
	return at
}

// days reads a date as days since 1970. An empty date gives otherwise.
func days(date string, otherwise int32) (int32, error) {
	if date == "" {
		return otherwise, nil
	}
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return 0, fmt.Errorf("date %q: want YYYY-MM-DD", date)
	}
	return int32(t.Unix() / (24 * 3600)), nil
}

// isBefore says whether an entry became known before the bound.
func (in *bounds) isBefore(e *entry) bool { return e.known < in.since }

// contain says whether an entry passes the filters on dates.
func (in *bounds) contain(e *entry) bool {
	if in.priced && (e.priced == noDate || e.priced < in.pricedFrom || e.priced > in.pricedTo) {
		return false
	}
	return !in.changed || e.changed != noDate && e.changed >= in.changedFrom && e.changed <= in.changedTo
}

// dates returns the SQL expressions of the dates that a feed's filters compare. The pricing date of a loan without
// pricedDate is the newest one of its tranches, t.
func dates(feed api.Feed) (priced, changed string) {
	switch {
	case feed.Kind == api.Expected:
		return "NULL", "epoch_us(f.changed)"
	case feed.Service == api.Bond:
		return "f.pricing_date - DATE '1970-01-01'", "NULL"
	}
	return "coalesce(f.priced_date, t.pricing_date) - DATE '1970-01-01'", "NULL"
}

// trancheDates names the rows t of a feed of priced loans.
const trancheDates = `
LEFT JOIN (
  SELECT deal_id, version, max(pricing_date) AS pricing_date FROM files.` + loanTranches + ` WHERE market = $2 GROUP BY ALL
) t ON t.deal_id = d.deal_id AND t.version = d.version`

// loanTranches is the table of the tranches of priced loans.
const loanTranches = "loan_priced_tranches"

// readIndex reads the index of a feed as of a state.
func readIndex(ctx context.Context, db *stdsql.DB, feed api.Feed, at instant) (*index, error) {
	priced, changed := dates(feed)
	order, tranches := "d.deal_id DESC", ""
	if feed.Service == api.Loan && feed.Kind == api.Priced {
		tranches = trancheDates
	}
	if feed.HasUpdatedSince() {
		order = "d.valid_from DESC, " + order
	}
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`
SELECT epoch_us(d.valid_from), d.deal_id, d.version, %s, %s
FROM deals_as_of(%s) d
LEFT JOIN (FROM files.%s WHERE market = $2) f ON f.deal_id = d.deal_id AND f.version = d.version%s
WHERE d.service = $1 AND d.market = $2 AND d.kind = $3
ORDER BY %s`, priced, changed, at.literal(), lake.FeedTables(feed)[0].Name, tranches, order), string(feed.Service), string(feed.Market), string(feed.Kind))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	x := &index{feed: feed, at: at}
	for rows.Next() {
		e := entry{}
		var priced, changed stdsql.NullInt64
		if err := rows.Scan(&e.known, &e.id, &e.version, &priced, &changed); err != nil {
			return nil, err
		}
		e.priced, e.changed = noDate, noDate
		if priced.Valid {
			e.priced = int32(priced.Int64)
		}
		if changed.Valid {
			e.changed = instant(changed.Int64)
		}
		x.ordered = append(x.ordered, e)
	}
	x.byID = make([]int32, len(x.ordered))
	for i := range x.byID {
		x.byID[i] = int32(i)
	}
	slices.SortFunc(x.byID, func(a, b int32) int { return cmp.Compare(x.ordered[a].id, x.ordered[b].id) })
	return x, rows.Err()
}

// indexes is a cache of the last used indexes. It is safe for concurrent use.
type indexes struct {
	limit int           // deals in all indexes together
	turn  chan struct{} // has a value while a request reads an index: others that need the same one wait

	mu   sync.Mutex
	kept []*index // the last used is at the end
}

// maxIndexes limits the number of indexes in the cache: 16 states of 12 feeds.
const maxIndexes = 12 * 16

// get returns the index of a feed as of a state, and reads it if the cache does not have it.
func (c *indexes) get(ctx context.Context, db *stdsql.DB, feed api.Feed, at instant) (*index, error) {
	if x := c.use(feed, at); x != nil {
		return x, nil
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if x := c.use(feed, at); x != nil { // another request has read it in between
		return x, nil
	}
	x, err := readIndex(ctx, db, feed, at)
	if err != nil {
		return nil, fmt.Errorf("%s as of %s: %w", feed, at, err)
	}
	c.keep(x)
	return x, nil
}

// use returns an index from the cache and marks it as the last used, or returns nil.
func (c *indexes) use(feed api.Feed, at instant) *index {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(x *index) bool { return x.feed == feed && x.at == at })
	if i < 0 {
		return nil
	}
	x := c.kept[i]
	c.kept = append(slices.Delete(c.kept, i, i+1), x)
	return x
}

// keep adds an index to the cache and drops the least recently used ones above the limits.
func (c *indexes) keep(x *index) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, x)
	deals := 0
	for _, x := range c.kept {
		deals += len(x.ordered)
	}
	drop := 0
	for drop < len(c.kept)-1 && (deals > c.limit || len(c.kept)-drop > maxIndexes) {
		deals -= len(c.kept[drop].ordered)
		drop++
	}
	c.kept = slices.Delete(c.kept, 0, drop)
}
