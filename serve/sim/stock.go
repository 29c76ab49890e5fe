package sim

import (
	"math"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

const stockDays = 1095 // maximum age, in days, of the priced deals at Epoch in a market without Years

// horizon is the maximum number of days from announcement to pricing.
const horizon = 280

// recordsPerOffer returns the approximate mean of the priced records of an offer, including increases.
func recordsPerOffer(market api.Market) float64 {
	s := calibration.Supplies[market]
	return s.Lines * (1 - s.Fades) * (1 + s.Increases)
}

// stock schedules the first events of a market: either years of history, or the priced deals of the years before Epoch
// and the expected deals of the weeks before. It then schedules the days after these.
func (m *Market) stock() {
	for _, service := range api.Services() {
		for _, market := range api.Markets(service) {
			first := m.config.Epoch.Truncate(day)
			if m.config.Years > 0 {
				first = first.AddDate(-m.config.Years, 0, 0)
				m.scales[market] = m.scaleOf(market, first)
			} else {
				m.stockPriced(service, market)
				m.stockExpected(service, market)
			}
			m.scheduleDay(service, market, first)
		}
	}
}

// scaleOf returns the factor on the counts of a market whose history begins on a day.
func (m *Market) scaleOf(market api.Market, first time.Time) float64 {
	if m.config.Deals == 0 {
		return m.config.Scale
	}
	total := 0.0
	for at := first; at.Before(m.config.Epoch); at = at.AddDate(0, 0, 1) {
		total += m.calendar.rate(market, at)
	}
	return m.config.Scale * float64(m.config.Deals) / total
}

// stockPriced spreads priced deals over the past: more in recent months, and more in busy seasons.
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

// stockExpected schedules the announcements of deals that are expected at Epoch: some weeks before it, and some days
// before their pricing.
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

// scheduleDay schedules beginDay of a day and then of the next ones, early enough for the longest pipeline.
func (m *Market) scheduleDay(service api.Service, market api.Market, target time.Time) {
	m.timeline.schedule(target.AddDate(0, 0, -horizon), func(time.Time) {
		m.beginDay(service, market, target)
		m.scheduleDay(service, market, target.AddDate(0, 0, 1))
	})
}

// beginDay draws the offers that are priced on a day, and when they are announced.
func (m *Market) beginDay(service api.Service, market api.Market, target time.Time) {
	if weekend(target) {
		return
	}
	rate := m.calendar.rate(market, target)
	mean := m.scales[market] * rate / recordsPerOffer(market)
	if m.config.Years == 0 {
		mean = m.config.PerDay * rate / meanRate(market, target.Year())
	}
	name := []uint64{tagDay, marketTag(market), uint64(target.Unix())}
	for i := range overdispersed(stream(m.config.Seed, name...), mean) {
		m.begin(service, m.newOffer(market, mix(m.config.Seed, append(name, uint64(i))...), target))
	}
}

// begin schedules the announcement of an offer. Half of the corporate loans are never expected: they become known when
// they are signed. Without Years, stockExpected makes the pipeline at Epoch.
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

// newOffer returns an offer that is priced on a day, with its announcement before that.
func (m *Market) newOffer(market api.Market, seed uint64, target time.Time) offer {
	o := offer{world: m.config.Seed, seed: seed, market: market, target: target, mood: m.calendar.regime(target)}
	o.code = o.drawCurrency()
	o.firm = drawFirm(stream(seed^m.config.Seed, tagIssuer), market, o.code)
	r := stream(seed, tagRoute)
	if wait := o.wait(r); wait > 0 {
		o.at = businessTime(r, businessDaysBefore(target, wait), 7, 16)
	} else {
		o.at = o.opening(target).Add(-time.Duration(r.between(5, 1200)) * time.Second)
	}
	return o
}

// wait draws the business days from announcement to pricing.
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

// priceAtOnce schedules the priced records of an offer that was never announced.
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

// businessTime draws a time between two hours, on the day or the next business day.
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

// businessDays returns the day n business days later.
func businessDays(t time.Time, n int) time.Time { return shiftBusiness(t, n, day) }

// businessDaysBefore returns the day n business days earlier.
func businessDaysBefore(t time.Time, n int) time.Time { return shiftBusiness(t, n, -day) }

// shiftBusiness moves a time by n business days, complete weeks at once.
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
