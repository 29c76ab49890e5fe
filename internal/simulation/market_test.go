package simulation

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// market is a serve.Source that changes: events happen to its deals at their own instants, during a read or not. It
// remembers all states, so that the truth of any instant is known.
type market struct {
	mu      sync.Mutex
	books   map[api.Feed]*book
	strict  bool // updatedSince leaves out its own second
	seconds bool // updates are dated in whole seconds
	vary    bool // each answer spells its records differently
	jumpy   bool // bond expected lists are in order of update, too, without updatedSince links
	lost    bool // the API has lost its data: lists are empty, and no deal is found by id
}

// book is one feed of a market. It has its own random numbers, so that feeds do not affect each other.
type book struct {
	market  *market
	feed    api.Feed
	dice    *rand.Rand
	deals   map[int64]*deal
	ids     []int64     // in the order of their appearance
	due     []time.Time // instants of coming events, ascending
	nasty   int         // number of events left that happen right after an answer
	prey    int64       // the deal that changes ahead of the reader
	last    int         // the latest content
	answers int
}

// deal is one deal with all its states.
type deal struct {
	id     int64
	states []state // ascending
}

// state is a deal from an instant on. The zero state means that the deal does not exist.
type state struct {
	at        time.Time
	content   content // none: by id 404
	updated   time.Time
	unlisted  bool // not in the list, but returned by id
	forbidden bool // not in the list, and refused by id
	broken    breakage
	quiet     bool // the list's order does not show this change
}

func (s state) there() bool    { return s.content.number != 0 && !s.forbidden }
func (s state) listed() bool   { return s.there() && !s.unlisted }
func (s state) readable() bool { return s.there() && s.broken == whole }

// diceOf returns random numbers for one purpose, independent of all others.
func diceOf(seed uint64, purpose ...any) *rand.Rand {
	hash := fnv.New64a()
	fmt.Fprint(hash, purpose...)
	return rand.New(rand.NewPCG(seed, hash.Sum64()))
}

// newMarket returns a market with some deals in each feed, all from before now.
func newMarket(seed uint64, feeds []api.Feed, most int) *market {
	dice := diceOf(seed, "market")
	m := &market{books: map[api.Feed]*book{}, strict: dice.IntN(3) == 0, seconds: dice.IntN(3) == 0, vary: dice.IntN(4) == 0, jumpy: dice.IntN(3) > 0}
	for _, feed := range feeds {
		b := &book{market: m, feed: feed, dice: diceOf(seed, feed.String()), deals: map[int64]*deal{}}
		m.books[feed] = b
		start := time.Now().Add(-time.Hour)
		for range b.dice.IntN(most + 1) {
			start = start.Add(time.Duration(b.dice.IntN(3000)) * time.Millisecond)
			b.happen(start, "add")
		}
	}
	return m
}

// Now implements serve.Source.
func (m *market) Now() time.Time { return time.Now() }

// lose makes the API lose its data, or have it back.
func (m *market) lose(lost bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost = lost
}

// calm cancels the coming events.
func (m *market) calm() { m.eachBook(func(b *book) { b.due, b.nasty = nil, 0 }) }

// stir schedules up to n events for each feed between two instants.
func (m *market) stir(n int, from, to time.Time) {
	if n == 0 {
		return
	}
	m.eachBook(func(b *book) {
		for left := b.dice.IntN(n + 1); left > 0; left-- {
			at := from.Add(time.Duration(b.dice.Int64N(int64(to.Sub(from)))))
			b.due = append(b.due, at)
			for ; left > 0 && b.dice.IntN(3) == 0; left-- { // more in the same second
				b.due = append(b.due, at.Add(time.Duration(b.dice.Int64N(int64(at.Truncate(time.Second).Add(time.Second).Sub(at))))))
			}
		}
		slices.SortFunc(b.due, time.Time.Compare)
	})
}

// ambush schedules up to n events for each feed, right after answers.
func (m *market) ambush(n int) {
	m.eachBook(func(b *book) {
		b.nasty = 0
		if n > 0 {
			b.nasty = b.dice.IntN(n + 1)
		}
	})
}

// empty removes all deals from a list.
func (m *market) empty(feed api.Feed, how string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.books[feed]
	b.present()
	for range b.ids {
		b.happen(time.Now(), how)
	}
}

func (m *market) eachBook(do func(*book)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.books {
		b.present()
		do(b)
	}
}

// present executes the events that are due.
func (b *book) present() {
	now := time.Now()
	for len(b.due) > 0 && !b.due[0].After(now) {
		b.happen(b.due[0], "")
		b.due = b.due[1:]
	}
}

// happening is one kind of event, and the deals that it can happen to.
type happening struct {
	name   string
	weight int
	to     func(*book, state) bool // nil: to a new deal
	do     func(*book, *state)
}

func isListed(_ *book, s state) bool { return s.listed() && s.broken == whole }

var happenings = []happening{
	{"add", 4, nil, func(b *book, s *state) { b.write(s) }},
	{"change", 7, isListed, func(b *book, s *state) { b.write(s) }},
	{"touch", 3, func(b *book, s state) bool { return isListed(b, s) && b.feed.HasUpdatedSince() }, func(_ *book, s *state) { s.quiet = false }},
	{"revert", 2, isListed, func(b *book, s *state) {
		s.content, s.quiet = content{number: 1 + b.dice.IntN(s.content.number)}, false
	}},
	{"price", 2, func(b *book, s state) bool { return isListed(b, s) && b.feed.Kind == api.Expected }, func(b *book, s *state) { b.write(s); s.content.priced = true }},
	{"remove", 2, func(_ *book, s state) bool { return s.there() }, func(_ *book, s *state) { *s = state{quiet: true} }},
	{"remove priced", 2, func(_ *book, s state) bool { return s.there() && s.content.priced }, func(_ *book, s *state) { *s = state{quiet: true} }},
	{"return", 2, func(_ *book, s state) bool { return s.content.number == 0 }, func(b *book, s *state) { b.write(s); s.content.number -= b.dice.IntN(2) }},
	{"forbid", 1, isListed, func(_ *book, s *state) { s.forbidden = true }},
	{"allow", 1, func(_ *book, s state) bool { return s.forbidden }, func(_ *book, s *state) { s.forbidden = false }},
	{"omit", 2, isListed, func(_ *book, s *state) { s.unlisted = true }},
	{"change unseen", 1, func(_ *book, s state) bool { return s.there() && s.unlisted }, func(b *book, s *state) { b.write(s); s.quiet = true }},
	{"list again", 2, func(_ *book, s state) bool { return s.there() && s.unlisted }, func(_ *book, s *state) { s.unlisted = false }},
	{"break", 1, isListed, func(b *book, s *state) {
		s.broken, s.quiet = []breakage{repeated, deepRepeat, nameless}[b.dice.IntN(3)], false
	}},
	{"mend", 4, func(_ *book, s state) bool { return s.there() && s.broken != whole }, func(_ *book, s *state) { s.broken, s.quiet = whole, false }},
}

// write gives a deal new content and moves it to the front of its list.
func (b *book) write(s *state) {
	b.last++
	s.content, s.quiet = content{number: b.last}, false
}

// happen executes one event: the named one, or any.
func (b *book) happen(at time.Time, name string) {
	var can []happening
	for _, h := range happenings {
		if name == "" || h.name == name {
			can = append(can, slices.Repeat([]happening{h}, h.weight)...)
		}
	}
	h := can[b.dice.IntN(len(can))]
	var d *deal
	if h.to == nil {
		d = &deal{id: b.newID()}
	} else {
		var open []*deal
		for _, id := range b.ids {
			if h.to(b, b.deals[id].now()) {
				open = append(open, b.deals[id])
			}
		}
		if len(open) == 0 {
			return
		}
		if b.dice.IntN(2) == 0 { // what has just moved moves again
			slices.SortStableFunc(open, func(x, y *deal) int { return y.now().updated.Compare(x.now().updated) })
			open = open[:min(len(open), 6)]
		}
		d = open[b.dice.IntN(len(open))]
	}
	s := d.now()
	s.quiet = true
	h.do(b, &s)
	b.enter(d, at, s)
}

// enter records a deal's state from now on.
func (b *book) enter(d *deal, at time.Time, s state) {
	s.at = at
	if !s.quiet {
		s.updated = at
		if b.market.seconds {
			s.updated = at.Truncate(time.Second)
		}
	}
	if b.deals[d.id] == nil {
		b.deals[d.id] = d
		b.ids = append(b.ids, d.id)
	}
	d.states = append(d.states, s)
}

func (b *book) newID() int64 {
	for {
		if id := 1 + b.dice.Int64N(10_000); b.deals[id] == nil {
			return id
		}
	}
}

func (d *deal) now() state {
	if len(d.states) == 0 {
		return state{}
	}
	return d.states[len(d.states)-1]
}

// during returns the states of the deal between two instants, both included.
func (d *deal) during(from, to time.Time) []state {
	states := []state{{}}
	for _, s := range d.states {
		if s.at.After(to) {
			break
		}
		if !s.at.After(from) {
			states = states[:0]
		}
		states = append(states, s)
	}
	return states
}

func (d *deal) String() string {
	var b strings.Builder
	for _, s := range d.states {
		fmt.Fprintf(&b, "\n    %s %s updated %s", s.at.Format(clockForm), stamp(s.content), s.updated.Format(clockForm))
		for _, flag := range []struct {
			on   bool
			name string
		}{{s.content.number == 0, "gone"}, {s.unlisted, "unlisted"}, {s.forbidden, "forbidden"}, {s.broken != whole, string(s.broken)}, {s.quiet, "quiet"}} {
			if flag.on {
				b.WriteString(", " + flag.name)
			}
		}
	}
	return b.String()
}

const clockForm = "02 15:04:05.000"

// List implements serve.Source.
func (m *market) List(_ context.Context, q serve.Query) (serve.Page, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.books[q.Feed]
	if b == nil {
		return serve.Page{}, serve.ErrForbidden
	}
	b.present()
	if m.lost {
		return serve.Page{}, nil
	}
	order := func(x, y serve.Record) int {
		byUpdate := 0
		if q.Feed.HasUpdatedSince() || m.jumpy {
			byUpdate = y.UpdatedAt.Compare(x.UpdatedAt)
		}
		return cmp.Or(byUpdate, cmp.Compare(y.ID, x.ID))
	}
	b.answers++
	var all []serve.Record
	for _, id := range b.ids {
		s := b.deals[id].now()
		record := serve.Record{ID: id, UpdatedAt: s.updated}
		behind := q.After == nil || order(serve.Record{ID: q.After.ID, UpdatedAt: q.After.UpdatedAt}, record) < 0
		if s.listed() && behind && m.since(s, q.UpdatedSince) && !s.updated.Before(q.ChangedFrom) {
			all = append(all, record)
		}
	}
	slices.SortFunc(all, order)
	page := serve.Page{Records: all[:min(len(all), q.Limit)], More: len(all) > q.Limit}
	for i := range page.Records {
		page.Records[i] = b.record(page.Records[i].ID)
	}
	if rest := all[len(page.Records):]; q.After == nil && len(rest) > 0 {
		b.snatch(page.Records, rest)
	}
	b.strike(page.More)
	return page, nil
}

// snatch changes a deal right after a first page, before the reader reaches it: the same deal as the last time, if
// possible. Then it hides the change from the next first page: deals without new content move in front of it.
func (b *book) snatch(page, rest []serve.Record) {
	if b.nasty == 0 || b.dice.IntN(3) == 0 {
		return
	}
	b.nasty--
	if !slices.ContainsFunc(rest, func(r serve.Record) bool { return r.ID == b.prey }) {
		b.prey = rest[b.dice.IntN(len(rest))].ID
	}
	s := b.deals[b.prey].now()
	b.write(&s)
	at := time.Now().Add(time.Nanosecond)
	b.enter(b.deals[b.prey], at, s)
	for i, r := range page {
		if s := b.deals[r.ID].now(); b.feed.HasUpdatedSince() {
			s.quiet = false
			b.enter(b.deals[r.ID], at.Add(time.Duration(i+1)), s)
		}
	}
}

func (m *market) since(s state, since time.Time) bool {
	second := s.updated.Truncate(time.Second)
	return second.After(since) || second.Equal(since) && !m.strict
}

// strike executes events right after an answer, soonest after a last page.
func (b *book) strike(more bool) {
	for b.nasty > 0 && (!more || b.dice.IntN(4) == 0) {
		b.nasty--
		b.due = append(b.due, time.Now().Add(time.Duration(1+b.dice.IntN(1_200_000))*time.Microsecond))
		if b.dice.IntN(3) == 0 {
			break
		}
	}
	slices.SortFunc(b.due, time.Time.Compare)
}

func (b *book) record(id int64) serve.Record {
	s := b.deals[id].now()
	spelling := len(b.deals[id].states) // a touched deal is spelled differently
	if b.market.vary {
		spelling = b.answers
	}
	return serve.Record{ID: id, UpdatedAt: s.updated, Body: render(b.feed, id, s.content, s.updated, s.broken, spelling)}
}

// Get implements serve.Source.
func (m *market) Get(_ context.Context, feed api.Feed, id int64) (serve.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.books[feed]
	if b == nil {
		return serve.Record{}, serve.ErrForbidden
	}
	b.present()
	d := b.deals[id]
	switch {
	case m.lost || d == nil || d.now().content.number == 0:
		return serve.Record{}, serve.ErrNotFound
	case d.now().forbidden:
		return serve.Record{}, serve.ErrForbidden
	}
	return b.record(id), nil
}
