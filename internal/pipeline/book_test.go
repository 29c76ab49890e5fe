package pipeline_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// Feeds that the books of the tests are about.
var (
	priced       = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}
	expected     = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Expected}
	loanExpected = api.Feed{Service: api.Loan, Market: api.LL, Kind: api.Expected}
)

// book is a market written by hand, deal by deal.
type book struct {
	clock *sim.ManualClock

	mu    sync.Mutex
	deals map[api.Feed]map[int64]*entry
}

// entry is a deal of a book. With a body that says otherwise, or nothing, the id is only its place in
// the list.
type entry struct {
	body      string
	updated   time.Time
	unlisted  bool // left out of the list, but there by id
	forbidden bool // left out of the list, and by id refused
}

// newBook is a world whose market is an empty book.
func newBook(t testing.TB) (*world, *book) {
	t.Helper()
	b := &book{clock: sim.NewManualClock(epoch), deals: map[api.Feed]map[int64]*entry{}}
	w := worldOf(t, b.clock, b)
	w.pages = 1000
	return w, b
}

// write puts a deal into a list, or changes it, now. The members are those beside id, market and links.
func (b *book) write(feed api.Feed, id int64, members string) {
	b.writeBody(feed, id, b.body(feed, id, members))
}

// writeAll writes the deals from first to last alike.
func (b *book) writeAll(feed api.Feed, first, last int64, members string) {
	for id := first; id <= last; id++ {
		b.write(feed, id, members)
	}
}

// body is a deal as the API would give it.
func (b *book) body(feed api.Feed, id int64, members string) string {
	if members != "" {
		members = "," + members
	}
	links := fmt.Sprintf(`"self":{"href":"%s"}`, feed.DealPath(id))
	if feed.HasUpdatedSince() {
		links += fmt.Sprintf(`,"updatedSince":{"href":"%s?updatedSince=%s"}`, feed.Path(), b.clock.Now().Format(time.RFC3339))
	}
	if strings.Contains(members, `"_links"`) {
		return fmt.Sprintf(`{"%s":%d,"market":"%s"%s}`, feed.IDKey(), id, feed.Market, members)
	}
	return fmt.Sprintf(`{"%s":%d,"market":"%s"%s,"_links":{%s}}`, feed.IDKey(), id, feed.Market, members, links)
}

// writeBody puts bytes into a list as they are, now.
func (b *book) writeBody(feed api.Feed, id int64, body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.deals[feed] == nil {
		b.deals[feed] = map[int64]*entry{}
	}
	b.deals[feed][id] = &entry{body: body, updated: b.clock.Now()}
}

// edit changes a deal's bytes without moving it in its list.
func (b *book) edit(feed api.Feed, id int64, body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deals[feed][id].body = body
}

// strike takes deals out of the book.
func (b *book) strike(feed api.Feed, ids ...int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		delete(b.deals[feed], id)
	}
}

// unlist leaves a deal out of its list; by id it still answers.
func (b *book) unlist(feed api.Feed, id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deals[feed][id].unlisted = true
}

// forbid leaves a deal out of its list, and refuses it by id.
func (b *book) forbid(feed api.Feed, id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deals[feed][id].forbidden = true
}

// Now implements serve.Source.
func (b *book) Now() time.Time { return b.clock.Now() }

// List implements serve.Source.
func (b *book) List(_ context.Context, q serve.Query) (serve.Page, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	order := func(x, y serve.Record) int {
		byUpdate := 0
		if q.Feed.HasUpdatedSince() {
			byUpdate = y.UpdatedAt.Compare(x.UpdatedAt)
		}
		return cmp.Or(byUpdate, cmp.Compare(y.ID, x.ID))
	}
	var all []serve.Record
	for id, e := range b.deals[q.Feed] {
		record := serve.Record{ID: id, UpdatedAt: e.updated, Body: []byte(e.body)}
		behind := q.After == nil || order(serve.Record{ID: q.After.ID, UpdatedAt: q.After.UpdatedAt}, record) < 0
		if !e.unlisted && !e.forbidden && behind && !e.updated.Truncate(time.Second).Before(q.UpdatedSince) {
			all = append(all, record)
		}
	}
	slices.SortFunc(all, order)
	n := min(len(all), q.Limit)
	return serve.Page{Records: all[:n], More: n < len(all)}, nil
}

// Get implements serve.Source.
func (b *book) Get(_ context.Context, feed api.Feed, id int64) (serve.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.deals[feed][id]
	switch {
	case e == nil:
		return serve.Record{}, serve.ErrNotFound
	case e.forbidden:
		return serve.Record{}, serve.ErrForbidden
	}
	return serve.Record{ID: id, UpdatedAt: e.updated, Body: []byte(e.body)}, nil
}
