package sim

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// Market is a simulated market. Its methods may be called concurrently.
type Market struct {
	config Config       // with defaults
	ahead  atomic.Int64 // nanoseconds by which the market was moved on beside its clock

	mu       sync.Mutex
	at       time.Time // the instant that the simulation has reached
	timeline timeline
	calendar *calendar
	shelves  map[api.Feed]*shelf
	bodies   bodies
}

var _ serve.Advancer = (*Market)(nil)

// New is the market of a configuration. It does no work yet: the first question does.
func New(config Config) *Market {
	m := &Market{config: config.withDefaults()}
	m.bodies.limit = m.config.CacheBytes
	m.restart()
	return m
}

// Now is the clock's instant in UTC, and what the market was advanced beyond it.
func (m *Market) Now() time.Time {
	return m.config.Clock().UTC().Add(time.Duration(m.ahead.Load()))
}

// Advance implements serve.Advancer: it moves this market's time on, and leaves its clock alone.
func (m *Market) Advance(d time.Duration) (time.Time, error) {
	if d < 0 {
		return time.Time{}, fmt.Errorf("advance by %s: want no negative duration", d)
	}
	for {
		ahead := m.ahead.Load()
		if ahead+int64(d) < ahead {
			return time.Time{}, errors.New("advance: beyond what a clock can hold")
		}
		if m.ahead.CompareAndSwap(ahead, ahead+int64(d)) {
			return m.Now(), nil
		}
	}
}

// List implements serve.Source.
func (m *Market) List(ctx context.Context, q serve.Query) (serve.Page, error) {
	if err := ctx.Err(); err != nil {
		return serve.Page{}, err
	}
	defer m.present()()
	shelf, ok := m.shelves[q.Feed]
	if !ok {
		return serve.Page{}, serve.ErrNotFound
	}
	deals, more := shelf.list(q)
	return serve.Page{Records: m.records(deals), More: more}, nil
}

// Get implements serve.Source.
func (m *Market) Get(ctx context.Context, feed api.Feed, id int64) (serve.Record, error) {
	if err := ctx.Err(); err != nil {
		return serve.Record{}, err
	}
	defer m.present()()
	shelf, ok := m.shelves[feed]
	if !ok {
		return serve.Record{}, serve.ErrNotFound
	}
	d, ok := shelf.byID[id]
	if !ok {
		return serve.Record{}, serve.ErrNotFound
	}
	record := m.records([]*deal{d})[0]
	if d.feed.Kind == api.Priced && stream(d.seed, tagMisfit, 1).chance(m.config.Quirks.LinksDiffer) {
		record.Body = titled(record.Body)
	}
	return record, nil
}

// titled is a body whose link to itself has a title.
func titled(body []byte) []byte {
	if bytes.Contains(body, []byte(`"title"`)) {
		return body
	}
	return bytes.Replace(body, []byte(`"self":{"href"`), []byte(`"self":{"title":"Deal","href"`), 1)
}

// Deals is the truth of a feed: every deal that answers by id now, those that the list omits too,
// in order of id. The caller owns the slice, but not the bodies.
func (m *Market) Deals(feed api.Feed) []serve.Record {
	defer m.present()()
	shelf, ok := m.shelves[feed]
	if !ok {
		return nil
	}
	records := m.records(shelf.settled())
	slices.SortFunc(records, func(a, b serve.Record) int { return cmp.Compare(a.ID, b.ID) })
	return records
}

// present locks the market and brings it to its instant; the result unlocks it.
func (m *Market) present() (unlock func()) {
	m.mu.Lock()
	now := m.Now() // under the lock, or a slower reader would turn time back
	if now.Before(m.config.Epoch) {
		now = m.config.Epoch
	}
	if now.Before(m.at) {
		m.restart()
	}
	m.at = now
	m.timeline.run(now)
	return m.mu.Unlock
}

// restart goes back to before the first event.
func (m *Market) restart() {
	m.at = time.Time{}
	m.timeline = timeline{}
	m.calendar = newCalendar(m.config.Seed)
	m.bodies = bodies{limit: m.bodies.limit}
	m.shelves = map[api.Feed]*shelf{}
	for _, feed := range api.Feeds() {
		m.shelves[feed] = newShelf(feed)
	}
	m.stock()
	m.scheduleReleases()
}

// records gives deals as they are, and makes the bodies that are not at hand.
func (m *Market) records(deals []*deal) []serve.Record {
	m.bodies.make(deals, m.render)
	records := make([]serve.Record, len(deals))
	for i, d := range deals {
		records[i] = serve.Record{ID: d.id, UpdatedAt: d.updated, PricingDate: d.pricingDate(), Body: d.body}
	}
	m.bodies.trim()
	return records
}
