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
	ahead  atomic.Int64 // nanoseconds by which Advance moved the market beyond its clock

	mu       sync.Mutex
	at       time.Time // the instant that the simulation has reached
	timeline timeline
	calendar *calendar
	scales   map[api.Market]float64 // factors on the counts of real markets; only with Config.Years
	shelves  map[api.Feed]*shelf
	bodies   bodies
}

var _ serve.Advancer = (*Market)(nil)

// New returns the market of a configuration. The first request runs the simulation up to the present.
func New(config Config) *Market {
	m := &Market{config: config.withDefaults()}
	m.bodies.limit = m.config.CacheBytes
	m.restart()
	return m
}

// Now returns the clock's instant plus all advances, in UTC.
func (m *Market) Now() time.Time {
	return m.config.Clock().UTC().Add(time.Duration(m.ahead.Load()))
}

// Advance implements serve.Advancer. It does not change the clock.
func (m *Market) Advance(d time.Duration) (time.Time, error) {
	if d < 0 {
		return time.Time{}, fmt.Errorf("advance by %s: want no negative duration", d)
	}
	for {
		ahead := m.ahead.Load()
		if ahead+int64(d) < ahead {
			return time.Time{}, errors.New("advance: the result is later than the largest instant")
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
		record.Body = withTitle(record.Body)
	}
	return record, nil
}

// withTitle returns a body with a title in its self link.
func withTitle(body []byte) []byte {
	if bytes.Contains(body, []byte(`"title"`)) {
		return body
	}
	return bytes.Replace(body, []byte(`"self":{"href"`), []byte(`"self":{"title":"Deal","href"`), 1)
}

// Deals returns every deal of a feed that answers by id now, in order of id, including those that the list omits. The
// caller owns the slice. It must not change the bodies.
func (m *Market) Deals(feed api.Feed) []serve.Record {
	defer m.present()()
	shelf, ok := m.shelves[feed]
	if !ok {
		return nil
	}
	records := m.records(shelf.sorted())
	slices.SortFunc(records, func(a, b serve.Record) int { return cmp.Compare(a.ID, b.ID) })
	return records
}

// present locks the market and runs the simulation up to now. The caller calls unlock.
func (m *Market) present() (unlock func()) {
	m.mu.Lock()
	now := m.Now() // under the lock: otherwise a slower reader could turn time back
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

// restart sets the simulation to before its first event.
func (m *Market) restart() {
	m.at = time.Time{}
	m.timeline = timeline{}
	m.calendar = newCalendar(m.config.Seed)
	m.bodies = bodies{limit: m.bodies.limit}
	m.scales = map[api.Market]float64{}
	m.shelves = map[api.Feed]*shelf{}
	for _, feed := range api.Feeds() {
		m.shelves[feed] = newShelf(feed)
	}
	m.stock()
	m.scheduleReleases()
}

// records returns the records of deals. It makes the missing bodies.
func (m *Market) records(deals []*deal) []serve.Record {
	m.bodies.fill(deals, m.render)
	records := make([]serve.Record, len(deals))
	for i, d := range deals {
		records[i] = serve.Record{ID: d.id, UpdatedAt: d.updated, PricingDate: d.pricingDate(), Body: d.body}
	}
	m.bodies.trim()
	return records
}
