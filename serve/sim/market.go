package sim

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// Market is a simulated market. Its methods may be called concurrently.
type Market struct {
	config Config // with defaults

	mu       sync.Mutex
	at       time.Time // the instant that the simulation has reached
	timeline timeline
	shelves  map[api.Feed]*shelf
}

var _ serve.Source = (*Market)(nil)

// New is the market of a configuration. It does no work yet: the first question does.
func New(config Config) *Market {
	m := &Market{config: config.withDefaults()}
	m.restart()
	return m
}

// Now is the clock's instant in UTC.
func (m *Market) Now() time.Time { return m.config.Clock().UTC() }

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
	return m.record(d), nil
}

// Deals is the truth of a feed: every deal that answers by id now, those that the list omits too,
// in order of id. The caller owns the slice, but not the bodies.
func (m *Market) Deals(feed api.Feed) []serve.Record {
	defer m.present()()
	shelf, ok := m.shelves[feed]
	if !ok {
		return nil
	}
	records := m.records(shelf.ordered)
	slices.SortFunc(records, func(a, b serve.Record) int { return cmp.Compare(a.ID, b.ID) })
	return records
}

// present locks the market and brings it to the clock's instant; the result unlocks it.
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
	m.shelves = map[api.Feed]*shelf{}
	for _, feed := range api.Feeds() {
		m.shelves[feed] = newShelf(feed)
	}
	m.stock()
}

func (m *Market) records(deals []*deal) []serve.Record {
	records := make([]serve.Record, len(deals))
	for i, d := range deals {
		records[i] = m.record(d)
	}
	return records
}

func (m *Market) record(d *deal) serve.Record {
	if d.body == nil {
		d.body = m.render(d)
	}
	return serve.Record{ID: d.id, UpdatedAt: d.updated, Body: d.body}
}
