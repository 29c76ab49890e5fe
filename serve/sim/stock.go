package sim

import (
	"math"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

const stockDays = 1095 // priced deals that stand at Epoch in a market without Years were priced at most so long before

// horizon is how many days before its pricing a deal may be announced.
const horizon = 280

// recordsPerOffer is about how many priced records come of an offer, increases included.
func recordsPerOffer(market api.Market) float64 {
	s := calibration.Supplies[market]
	return s.Lines * (1 - s.Fades) * (1 + s.Increases)
}

// stock puts what begins a market on the timeline: either years of history, or priced deals of the
// years before Epoch and expected deals of the weeks before; then the days from there on.
func (m *Market) stock() {
	for _, service := range api.Services() {
		for _, market := range api.Markets(service) {
			first := m.config.Epoch.Truncate(day)
			if m.config.Years > 0 {
				first = first.AddDate(-m.config.Years, 0, 0)
			} else {
				m.stockPriced(service, market)
				m.stockExpected(service, market)
			}
			m.scheduleDay(service, market, first)
		}
	}
}

// stockPriced spreads deals over the past, more of them in the nearer one, and more in busy seasons.
func (m *Market) stockPriced(service api.Service, market api.Market) {
	count := int(float64(m.config.Deals) / recordsPerOffer(market))
	for i := range count {
		seed := mix(m.config.Seed, tagStock, marketTag(market), uint64(i))
		d := stream(seed)
		target := m.config.Epoch
		for range 4 {
			daysAgo := 1 + int((stockDays-1)*math.Pow(d.Float64(), 1.7))
			target = nextBusinessDay(m.config.Epoch.AddDate(0, 0, -daysAgo).Truncate(day))
			if d.chance(m.calendar.rate(market, target) / meanRate(market, target.Year()) / 2.5) {
				break
			}
		}
		o := m.newOffer(market, seed, target)
		m.priceAtOnce(service, o)
	}
}

// stockExpected announces deals that have been in the pipeline for some weeks, and will be for some
// days.
func (m *Market) stockExpected(service api.Service, market api.Market) {
	for i := 0; i < m.config.Expected; i++ {
		seed := mix(m.config.Seed, tagStock, feedTag(api.Feed{Market: market, Kind: api.Expected}), uint64(i))
		d := stream(seed)
		today := m.config.Epoch.Truncate(day)
		o := m.newOffer(market, seed, businessDays(today, d.IntN(2+int(calibration.MeanWait[market]))))
		o.at = businessTime(d, today.AddDate(0, 0, -3-int(27*d.Float64()*d.Float64())), 7, 16)
		m.timeline.schedule(o.at, func(time.Time) { m.announce(service, o) })
	}
}

// scheduleDay lets a day's deals begin, early enough for the longest pipeline, and then the next
// day's.
func (m *Market) scheduleDay(service api.Service, market api.Market, target time.Time) {
	m.timeline.schedule(target.AddDate(0, 0, -horizon), func(time.Time) {
		m.beginDay(service, market, target)
		m.scheduleDay(service, market, target.AddDate(0, 0, 1))
	})
}

// beginDay decides what is to be priced on a day, and when it is announced.
func (m *Market) beginDay(service api.Service, market api.Market, target time.Time) {
	if weekend(target) {
		return
	}
	rate := m.calendar.rate(market, target)
	mean := m.config.Scale * rate / recordsPerOffer(market)
	if m.config.Years == 0 {
		mean = m.config.PerDay * rate / meanRate(market, target.Year())
	}
	name := []uint64{tagDay, marketTag(market), uint64(target.Unix())}
	for i := range overdispersed(stream(m.config.Seed, name...), mean) {
		m.begin(service, m.newOffer(market, mix(m.config.Seed, append(name, uint64(i))...), target))
	}
}

// begin sets a deal going. Half of the corporate loans are never expected: news of them comes when
// they are signed. Without Years, the pipeline at Epoch is stockExpected's.
func (m *Market) begin(service api.Service, o offer) {
	if o.market == api.CF && stream(o.seed, tagRoute, 1).chance(0.5) {
		m.priceAtOnce(service, o)
		return
	}
	if m.config.Years == 0 && o.at.Before(m.config.Epoch) {
		return
	}
	m.timeline.schedule(o.at, func(time.Time) { m.announce(service, o) })
}

// newOffer is what is to be priced on a day, announced as its route has it.
func (m *Market) newOffer(market api.Market, seed uint64, target time.Time) offer {
	o := offer{world: m.config.Seed, seed: seed, who: seed, market: market, target: target, mood: m.calendar.regime(target)}
	r := stream(seed, tagRoute)
	if wait := o.wait(r); wait > 0 {
		o.at = businessTime(r, businessDaysBefore(target, wait), 7, 16)
	} else {
		o.at = o.opening(target).Add(-time.Duration(r.between(5, 1200)) * time.Second)
	}
	return o
}

// wait is how many business days lie between announcement and pricing.
func (o offer) wait(r *dice) int {
	long := min(max(int(r.lognormal(45*5/7, 1)), 6), horizon*5/7-10)
	switch o.market {
	case api.IG:
		return pickWeighted(r, choice(68, 0), choice(25, r.between(1, 5)), choice(7, long))
	case api.HY:
		return pickWeighted(r, choice(45, 0), choice(48, r.between(1, 5)), choice(7, long))
	case api.EM:
		return pickWeighted(r, choice(40, 0), choice(42, r.between(1, 5)), choice(18, long))
	case api.LL:
		return pickWeighted(r, choice(25, r.between(3, 5)), choice(75, r.between(8, 18)))
	case api.CF:
		return r.between(15, 40)
	}
	share := r.Float64()
	return 20 + int(105*share*share)
}

// priceAtOnce makes the priced records of an offer that nobody saw coming.
func (m *Market) priceAtOnce(service api.Service, o offer) {
	if service == api.Loan {
		at := businessTime(stream(o.seed, tagScript), o.target, 10, 16)
		m.timeline.schedule(at, func(at time.Time) { m.newPriced(pricing{service: service, offer: o, struck: at}, at) })
		return
	}
	for i, line := range planBond(o).lines {
		if line.phantom {
			continue
		}
		at := o.closing(o.target).Add(time.Duration(i) * 7 * time.Minute)
		m.timeline.schedule(at, func(at time.Time) {
			m.newPriced(pricing{service: service, offer: o, line: i, struck: at}, at)
		})
	}
}

// businessTime is a time of the day between two hours, on the day or the next business day.
func businessTime(d *dice, day time.Time, fromHour, toHour int) time.Time {
	at := day.UTC().Truncate(24 * time.Hour).Add(time.Duration(d.between(fromHour*3600, toHour*3600)) * time.Second)
	return nextBusinessDay(at)
}

func nextBusinessDay(t time.Time) time.Time {
	for weekend(t) {
		t = t.Add(day)
	}
	return t
}

func weekend(t time.Time) bool {
	return t.Weekday() == time.Saturday || t.Weekday() == time.Sunday
}

// businessDays moves a day on by n business days.
func businessDays(t time.Time, n int) time.Time { return shiftBusiness(t, n, day) }

// businessDaysBefore moves a day back by n business days.
func businessDaysBefore(t time.Time, n int) time.Time { return shiftBusiness(t, n, -day) }

// shiftBusiness takes n steps to the next business day, whole weeks at once.
func shiftBusiness(t time.Time, n int, step time.Duration) time.Time {
	t, n = t.Add(time.Duration(n/5)*7*step), n%5
	for n > 0 || weekend(t) {
		t = t.Add(step)
		if !weekend(t) {
			n--
		}
	}
	return t
}
