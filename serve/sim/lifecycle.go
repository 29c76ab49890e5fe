package sim

import (
	"time"

	"dealflow/schemas/api"
)

// appear puts a new deal into its feed and sets its script going.
func (m *Market) appear(d *deal, at time.Time) {
	d.id = m.shelves[d.feed].nextID(d.seed)
	d.born, d.updated = at, at
	d.script = m.scriptOf(d)
	m.shelves[d.feed].put(d)
	m.scheduleNext(d)
}

func (m *Market) scheduleNext(d *deal) {
	if d.done < len(d.script) {
		m.timeline.schedule(d.script[d.done].at, func(at time.Time) { m.happen(d, at) })
	}
}

// happen lets the next step of a deal's script be.
func (m *Market) happen(d *deal, at time.Time) {
	step := d.script[d.done]
	d.done++
	switch step.kind {
	case stepOmit:
		d.omitted = true
	case stepList:
		d.omitted = false
	case stepLeave:
		m.shelves[d.feed].take(d)
		d.body = nil
	case stepReappear:
		d.updated, d.body = at, nil
		m.shelves[d.feed].put(d)
	case stepPrice:
		m.price(d, step.line, at)
		m.touch(d, at)
	case stepAnnounce:
		m.announceIncrease(d, at)
	default:
		m.touch(d, at)
	}
	m.scheduleNext(d)
}

// touch moves a deal to the top of its list.
func (m *Market) touch(d *deal, at time.Time) {
	shelf := m.shelves[d.feed]
	if shelf.byID[d.id] != d {
		return // it has been removed
	}
	shelf.take(d)
	d.updated, d.body = at, nil
	shelf.put(d)
}

// announce begins a new offer with its expected deal.
func (m *Market) announce(service api.Service, o offer) {
	feed := api.Feed{Service: service, Market: o.market, Kind: api.Expected}
	m.appear(&deal{feed: feed, offer: o, line: -1, seed: mix(o.seed, tagScript, 1)}, o.at)
}

// announceIncrease begins the expected deal of an increase: a tap of a bond's line, an add-on to a
// loan.
func (m *Market) announceIncrease(original *deal, at time.Time) {
	tap := mix(original.seed, tagTap, uint64(original.done))
	feed := original.feed
	feed.Kind = api.Expected
	m.appear(&deal{feed: feed, offer: original.offer, line: original.line, tap: tap, seed: mix(tap, 1), parent: original}, at)
}

// price makes the priced record of an expected deal's line and links to it.
func (m *Market) price(d *deal, line int, at time.Time) {
	if d.priced == nil {
		d.priced = make([]int64, mostLines)
	}
	d.priced[line] = m.newPriced(d.feed.Service, d.offer, line, d.tap, d.parent, at).id
}

// newPriced makes a priced record. A bond's has one line of the offer; a loan's has all.
func (m *Market) newPriced(service api.Service, o offer, line int, tap uint64, parent *deal, at time.Time) *deal {
	d := &deal{
		feed:  api.Feed{Service: service, Market: o.market, Kind: api.Priced},
		offer: o, line: line, tap: tap, parent: parent,
		seed: mix(o.seed, tagPriced, uint64(line), tap),
	}
	if service == api.Bond {
		m.growLine(d, at)
	}
	m.appear(d, at)
	m.listTwice(d, at)
	return d
}

// growLine adds a bond record's size to that of its line. Most increases restate the original's
// total at once, the others never.
func (m *Market) growLine(d *deal, at time.Time) {
	amount := d.bondLine().amount
	if d.parent == nil {
		d.outstanding = amount
		return
	}
	original := d.parent
	d.before = original.outstanding
	original.outstanding += amount
	if stream(d.seed, tagTap).chance(0.6) {
		original.restated = original.outstanding - original.bondLine().amount
		m.touch(original, at)
	}
}

// listTwice puts a few emerging-market bonds into the investment-grade feed too, under an id of its
// own there.
func (m *Market) listTwice(d *deal, at time.Time) {
	if d.feed.Service != api.Bond || d.feed.Market != api.EM || d.parent != nil {
		return
	}
	if !stream(d.seed, tagTap, 2).chance(m.config.Quirks.TwoLists) {
		return
	}
	twin := &deal{feed: api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}, offer: d.offer, line: d.line, seed: mix(d.seed, 2)}
	twin.outstanding = d.outstanding
	m.appear(twin, at)
}
