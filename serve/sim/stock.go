package sim

import (
	"math"
	"time"

	"dealflow/schemas/api"
)

const (
	stockDays  = 1095 // priced deals that stand at Epoch were priced at most so long before
	warmUpDays = 14   // days before Epoch on which deals are announced as they are after it
)

// recordsPerOffer is about how many priced records come of an offer, increases included.
var recordsPerOffer = map[api.Service]float64{api.Bond: 1.6, api.Loan: 1.05}

// stock puts what begins a market on the timeline: priced deals of the years before Epoch, expected
// deals of the weeks before, and the days from shortly before Epoch on.
func (m *Market) stock() {
	for _, service := range api.Services() {
		for _, market := range api.Markets(service) {
			m.stockPriced(service, market)
			m.stockExpected(service, market)
			m.scheduleDay(service, market, m.config.Epoch.AddDate(0, 0, -warmUpDays).Truncate(24*time.Hour))
		}
	}
}

// stockPriced spreads deals over the past, more of them in the nearer one. What the days of the
// warm-up price comes on top, so it is left out here.
func (m *Market) stockPriced(service api.Service, market api.Market) {
	warm := m.config.PerDay * warmUpDays * 5 / 7
	count := int(float64(m.config.Deals)/recordsPerOffer[service] - warm)
	for i := range max(count, m.config.Deals/3) {
		seed := mix(m.config.Seed, tagStock, marketTag(market), uint64(i))
		d := stream(seed)
		daysAgo := warmUpDays + 1 + int((stockDays-warmUpDays)*math.Pow(d.Float64(), 1.7))
		at := businessTime(d, m.config.Epoch.AddDate(0, 0, -daysAgo), 13, 16)
		m.timeline.schedule(at, func(at time.Time) { m.priceAtOnce(service, offer{m.config.Seed, seed, market, at}) })
	}
}

// stockExpected announces deals that have been in the pipeline for some weeks. Some of them price
// before Epoch: more are begun than shall stand.
func (m *Market) stockExpected(service api.Service, market api.Market) {
	for i := 0; i < m.config.Expected; i++ {
		seed := mix(m.config.Seed, tagStock, feedTag(api.Feed{Market: market, Kind: api.Expected}), uint64(i))
		d := stream(seed)
		at := businessTime(d, m.config.Epoch.AddDate(0, 0, -1-int(30*d.Float64()*d.Float64())), 7, 16)
		m.timeline.schedule(at, func(at time.Time) { m.announce(service, offer{m.config.Seed, seed, market, at}) })
	}
}

// scheduleDay lets a day begin, and each day the next one.
func (m *Market) scheduleDay(service api.Service, market api.Market, day time.Time) {
	m.timeline.schedule(day, func(day time.Time) {
		m.beginDay(service, market, day)
		m.scheduleDay(service, market, day.AddDate(0, 0, 1))
	})
}

// beginDay decides what is announced on a day. Half of the corporate loans are never expected: news
// of them comes when they are signed.
func (m *Market) beginDay(service api.Service, market api.Market, day time.Time) {
	if weekend(day) {
		return
	}
	d := stream(m.config.Seed, tagDay, marketTag(market), uint64(day.Unix()))
	for i := range d.poisson(m.config.PerDay) {
		seed := mix(m.config.Seed, tagDay, marketTag(market), uint64(day.Unix()), uint64(i))
		at := businessTime(stream(seed), day, 6, 11)
		unexpected := service == api.Loan && market == api.CF && stream(seed, 1).chance(0.5)
		m.timeline.schedule(at, func(at time.Time) {
			o := offer{m.config.Seed, seed, market, at}
			if unexpected {
				m.priceAtOnce(service, o)
				return
			}
			m.announce(service, o)
		})
	}
}

// priceAtOnce makes the priced records of an offer that nobody saw coming.
func (m *Market) priceAtOnce(service api.Service, o offer) {
	if service == api.Loan {
		m.newPriced(service, o, 0, 0, nil, o.at)
		return
	}
	for i, line := range planBond(o).lines {
		if line.phantom {
			continue
		}
		m.timeline.schedule(o.at.Add(time.Duration(i)*7*time.Minute), func(at time.Time) {
			m.newPriced(service, o, i, 0, nil, at)
		})
	}
}

// businessTime is a time of the day between two hours, on the day or the next business day.
func businessTime(d *dice, day time.Time, fromHour, toHour int) time.Time {
	at := day.UTC().Truncate(24 * time.Hour).Add(time.Duration(d.between(fromHour*3600, toHour*3600)) * time.Second)
	for weekend(at) {
		at = at.AddDate(0, 0, 1)
	}
	return at
}

func weekend(t time.Time) bool {
	return t.Weekday() == time.Saturday || t.Weekday() == time.Sunday
}

// businessDays moves a day on by n business days.
func businessDays(t time.Time, n int) time.Time {
	for n > 0 || weekend(t) {
		t = t.AddDate(0, 0, 1)
		if !weekend(t) {
			n--
		}
	}
	return t
}
