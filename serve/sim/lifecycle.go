package sim

import (
	"time"

	"dealflow/schemas/api"
)

// appear adds a new deal to its feed and schedules the first step of its script.
func (m *Market) appear(d *deal, at time.Time) {
	if d.id == 0 {
		d.id = m.shelves[d.feed].nextID(d.seed)
	}
	d.born, d.updated = at, at
	if d.feed.Kind == api.Expected {
		d.changed = at
	}
	d.script = m.scriptOf(d)
	m.shelves[d.feed].put(d)
	m.scheduleNext(d)
}

func (m *Market) scheduleNext(d *deal) {
	if d.done < len(d.script) {
		m.timeline.schedule(d.script[d.done].at, func(at time.Time) { m.runStep(d, at) })
	}
}

// runStep executes the next step of a deal's script and schedules the one after it.
func (m *Market) runStep(d *deal, at time.Time) {
	step := d.script[d.done]
	d.done++
	switch step.kind {
	case stepOmit:
		d.omitted = true
	case stepList:
		d.omitted = false
	case stepLeave:
		m.shelves[d.feed].remove(d)
		m.unlink(d, at)
		m.forget(d)
		m.returnLater(d, at)
	case stepMove:
		m.moveMarket(d, at)
	case stepReappear:
		d.updated = at
		m.shelves[d.feed].put(d)
	case stepPrice:
		m.price(d, step.line, at)
		m.touch(d, step, at)
	case stepAnnounce:
		m.announceIncrease(d, at)
	default:
		m.touch(d, step, at)
	}
	m.scheduleNext(d)
}

// touch updates a deal, which moves it to the top of its list.
func (m *Market) touch(d *deal, s step, at time.Time) {
	shelf := m.shelves[d.feed]
	if shelf.byID[d.id] != d {
		return // it has been removed
	}
	d.updated = at
	if d.feed.Kind == api.Expected && s.kind != stepSilentEdit {
		d.changed = at.Add(m.skew(d))
	}
	shelf.move(d)
}

// unlink takes the link to a removed priced record out of the expected deal, which shows it for the rest of the day.
func (m *Market) unlink(d *deal, at time.Time) {
	if d.announced == nil {
		return
	}
	for i, id := range d.announced.priced {
		if id == d.id {
			d.announced.priced[i] = 0
		}
	}
	m.touch(d.announced, step{}, at)
	d.announced = nil
}

// forget takes an expected deal that was removed out of the priced records to which it has led.
func (m *Market) forget(d *deal) {
	for _, id := range d.priced {
		if record := m.shelves[pricedFeed(d.feed)].byID[id]; record != nil {
			record.announced = nil
		}
	}
}

// skew draws the error of a deal's "changed" at this step.
func (m *Market) skew(d *deal) time.Duration {
	r := stream(d.seed, tagSkew, uint64(d.done))
	wrong, by := r.chance(m.config.Quirks.ClockSkew), time.Duration(r.between(-90, 40))*time.Minute
	if wrong {
		return by
	}
	return 0
}

// announce adds the expected deal of a new offer.
func (m *Market) announce(service api.Service, o offer) {
	feed := api.Feed{Service: service, Market: o.market, Kind: api.Expected}
	m.appear(&deal{feed: feed, offer: o, target: o.target, line: -1, seed: mix(o.seed, tagScript, 1)}, o.at)
}

// announceIncrease adds the expected deal of an increase: a tap of a bond's line, or an add-on of a loan. A line or loan
// that is due within half a year is not increased, nor one that is called by then.
func (m *Market) announceIncrease(original *deal, at time.Time) {
	if !original.due().After(at.AddDate(0, 6, 0)) {
		return
	}
	tap := mix(original.seed, tagTap, uint64(original.done))
	feed := original.feed
	feed.Kind = api.Expected
	r, target := stream(tap), at.Truncate(day)
	if wait := r.between(0, 2); feed.Service == api.Loan {
		target = businessDays(target, wait+2)
	} else if wait > 0 {
		target = businessDays(target, wait-1)
	}
	m.appear(&deal{feed: feed, offer: original.offer, target: target, line: original.line, tap: tap, seed: mix(tap, 1), growth: growth{parent: original}}, at)
}

// due returns when a priced deal is repaid.
func (d *deal) due() time.Time {
	if d.feed.Service == api.Bond {
		line := planBond(d.offer).lines[d.line]
		if line.perpetual {
			return d.offer.target.AddDate(50, 0, 0)
		}
		return line.maturity(d.offer.target)
	}
	months := 0
	for _, t := range d.loanPlan().tranches {
		months = max(months, t.months)
	}
	return d.struck.AddDate(0, months, 0)
}

// returnLater schedules a few of the deals that left unpriced to return within months, as new deals.
func (m *Market) returnLater(d *deal, at time.Time) {
	if d.feed.Kind != api.Expected || d.priced != nil || d.tap != 0 {
		return
	}
	r := stream(d.seed, tagReturn)
	if !r.chance(0.1) {
		return
	}
	target := nextBusinessDay(at.AddDate(0, 0, r.between(10, 180)).Truncate(day))
	o := m.newOffer(d.offer.market, mix(d.offer.seed, tagReturn), target)
	o.firm = d.offer.firm
	m.timeline.schedule(o.at, func(at time.Time) {
		o.at = at
		m.announce(d.feed.Service, o)
	})
}

// price prices a line of an expected deal. The deal links to the priced record, which appears in the same instant. By
// quirks the record appears some minutes later, or under another id than that of the link.
func (m *Market) price(d *deal, line int, at time.Time) {
	if d.priced == nil {
		d.priced = make([]int64, mostLines)
	}
	r, shelf := stream(d.seed, tagFlip, uint64(line)), m.shelves[pricedFeed(d.feed)]
	wait := time.Duration(min(max(r.lognormal(12*60, 0.8), 120), 5400)) * time.Second
	id := shelf.nextID(r.Uint64())
	d.priced[line] = id
	announced := d
	if r.chance(m.config.Quirks.DanglingLink) {
		id, announced = shelf.nextID(r.Uint64()), nil
	}
	if !stream(d.seed, tagLate, uint64(line)).chance(m.config.Quirks.LateRecord) {
		wait = 0
	}
	p := pricing{service: d.feed.Service, offer: d.offer, target: d.target, line: line, tap: d.tap, parent: d.parent, announced: announced, id: id, struck: at}
	if d.tap != 0 {
		p.line = d.line // the expected deal of an increase has that line alone
	}
	m.timeline.schedule(at.Add(wait), func(at time.Time) { m.newPriced(p, at) })
}

// pricing describes a new priced record. That of a bond has one line of the offer, that of a loan has all.
type pricing struct {
	service api.Service
	offer   offer
	target  time.Time // of an increase: its planned day
	line    int
	tap     uint64
	parent  *deal
	// announced is the expected deal that links to the record; nil if none does.
	announced *deal
	id        int64 // 0: the next id of the feed
	struck    time.Time
}

// newPriced adds a priced record to its feed.
func (m *Market) newPriced(p pricing, at time.Time) {
	d := &deal{
		feed:  api.Feed{Service: p.service, Market: p.offer.market, Kind: api.Priced},
		offer: p.offer, target: p.target, line: p.line, tap: p.tap, growth: growth{parent: p.parent}, announced: p.announced, id: p.id, struck: p.struck,
		seed: mix(p.offer.seed, tagPriced, uint64(p.line), p.tap),
	}
	d.date()
	if p.service == api.Bond {
		m.growLine(d, at)
	}
	m.appear(d, at)
	m.listTwice(d, at)
}

// growLine adds a bond record's size to the size of its line. Most increases restate the original's total at once, the
// others never do.
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
		m.touch(original, step{}, at)
	}
}

// listTwice adds a few emerging-market bonds to the investment-grade feed too, with another id.
func (m *Market) listTwice(d *deal, at time.Time) {
	if d.feed.Service != api.Bond || d.feed.Market != api.EM || d.parent != nil {
		return
	}
	if stream(d.seed, tagTap, 2).chance(m.config.Quirks.TwoLists) {
		m.appear(d.twin(api.IG), at)
	}
}

// moveMarket removes a bond from its feed and adds it to the feed of another market, with a new id.
func (m *Market) moveMarket(d *deal, at time.Time) {
	if m.shelves[d.feed].byID[d.id] != d {
		return
	}
	m.shelves[d.feed].remove(d)
	m.unlink(d, at)
	to := api.IG
	if d.feed.Market == api.IG {
		to = pick(stream(d.seed, tagReturn), api.HY, api.EM)
	}
	m.appear(d.twin(to), at)
}

// twin returns a record of the same security for another market.
func (d *deal) twin(market api.Market) *deal {
	twin := &deal{
		feed: api.Feed{Service: api.Bond, Market: market, Kind: api.Priced}, offer: d.offer, target: d.target, line: d.line, tap: d.tap,
		growth: d.growth, seed: mix(d.seed, 2), struck: d.struck,
	}
	twin.date()
	return twin
}
