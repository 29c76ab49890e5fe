package world

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// Feeds in which tests with a Book write deals.
var (
	Priced       = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}
	Expected     = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Expected}
	LoanPriced   = api.Feed{Service: api.Loan, Market: api.LL, Kind: api.Priced}
	LoanExpected = api.Feed{Service: api.Loan, Market: api.LL, Kind: api.Expected}
)

// Book is a market that a test writes deal by deal. It may be written to during a command.
type Book struct {
	clock *sim.ManualClock

	mu    sync.Mutex
	deals map[api.Feed]map[int64]*entry
}

// entry is a deal of a Book. If its body has no id, or another one, then the Book's id only says where the
// deal is in the list.
type entry struct {
	body      string
	updated   time.Time
	unlisted  bool // not in the list, but returned by id
	forbidden bool // not in the list, and refused by id
}

// NewBook returns a World whose market is an empty Book. Its client asks for large pages.
func NewBook(t testing.TB) (*World, *Book) {
	t.Helper()
	b := &Book{clock: sim.NewManualClock(Epoch), deals: map[api.Feed]map[int64]*entry{}}
	w := Of(t, b.clock, b)
	w.Pages = 1000
	return w, b
}

// Write puts a deal into a list, or changes it, now. members are JSON members; id, market and links are added.
func (b *Book) Write(feed api.Feed, id int64, members string) {
	b.WriteBody(feed, id, b.Body(feed, id, members))
}

// WriteAll writes the same members to all deals from first to last.
func (b *Book) WriteAll(feed api.Feed, first, last int64, members string) {
	for id := first; id <= last; id++ {
		b.Write(feed, id, members)
	}
}

// Body returns a deal as the API would write it now.
func (b *Book) Body(feed api.Feed, id int64, members string) string {
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

// WriteBody puts a deal into a list, or changes it, now. Its body is taken as it is.
func (b *Book) WriteBody(feed api.Feed, id int64, body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.deals[feed] == nil {
		b.deals[feed] = map[int64]*entry{}
	}
	b.deals[feed][id] = &entry{body: body, updated: b.clock.Now()}
}

// Edit changes a deal's body and not the instant of its last update: a sync cannot see that.
func (b *Book) Edit(feed api.Feed, id int64, body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deals[feed][id].body = body
}

// Strike removes deals from the Book: by id they are not found.
func (b *Book) Strike(feed api.Feed, ids ...int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		delete(b.deals[feed], id)
	}
}

// Unlist leaves a deal out of its list. It is still returned by id.
func (b *Book) Unlist(feed api.Feed, id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deals[feed][id].unlisted = true
}

// Forbid leaves a deal out of its list, and refuses it by id.
func (b *Book) Forbid(feed api.Feed, id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deals[feed][id].forbidden = true
}

// Records returns all deals of a feed that were not struck, by id, whether they are listed or not.
func (b *Book) Records(feed api.Feed) []serve.Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []serve.Record
	for _, id := range slices.Sorted(maps.Keys(b.deals[feed])) {
		all = append(all, b.deals[feed][id].record(id))
	}
	return all
}

func (e *entry) record(id int64) serve.Record {
	return serve.Record{ID: id, UpdatedAt: e.updated, Body: []byte(e.body)}
}

// Now implements serve.Source.
func (b *Book) Now() time.Time { return b.clock.Now() }

// List implements serve.Source.
func (b *Book) List(_ context.Context, q serve.Query) (serve.Page, error) {
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
		record := e.record(id)
		after := q.After == nil || order(serve.Record{ID: q.After.ID, UpdatedAt: q.After.UpdatedAt}, record) < 0
		if !e.unlisted && !e.forbidden && after && !e.updated.Truncate(time.Second).Before(q.UpdatedSince) {
			all = append(all, record)
		}
	}
	slices.SortFunc(all, order)
	n := min(len(all), q.Limit)
	return serve.Page{Records: all[:n], More: n < len(all)}, nil
}

// Get implements serve.Source.
func (b *Book) Get(_ context.Context, feed api.Feed, id int64) (serve.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.deals[feed][id]
	switch {
	case e == nil:
		return serve.Record{}, serve.ErrNotFound
	case e.forbidden:
		return serve.Record{}, serve.ErrForbidden
	}
	return e.record(id), nil
}
