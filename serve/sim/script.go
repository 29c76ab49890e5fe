package sim

import (
	"math"
	"slices"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// scriptOf returns the script of a new deal.
func (m *Market) scriptOf(d *deal) []step {
	switch {
	case d.feed.Kind == api.Priced:
		return m.pricedScript(d)
	case d.feed.Service == api.Bond:
		return m.bondExpectedScript(d)
	}
	return m.loanExpectedScript(d)
}

// script collects the steps of a deal. A step is at least one second after the deal appeared.
type script struct {
	born  time.Time
	steps []step
}

func (s *script) add(at time.Time, kind stepKind) { s.addLine(at, kind, 0) }

func (s *script) addLine(at time.Time, kind stepKind, line int) {
	at = at.Truncate(time.Second)
	if !at.After(s.born) {
		at = s.born.Add(time.Second)
	}
	s.steps = append(s.steps, step{at, kind, line})
}

// ordered returns the steps in order of time. It drops steps while the deal is removed, and after its last removal.
func (s *script) ordered() []step {
	slices.SortStableFunc(s.steps, func(a, b step) int { return a.at.Compare(b.at) })
	var steps []step
	gone := false
	for _, step := range s.steps {
		switch {
		case step.kind == stepReappear:
			gone = false
		case gone:
			continue
		case step.kind == stepLeave, step.kind == stepMove:
			gone = true
		}
		steps = append(steps, step)
	}
	return slices.Clip(steps)
}

// editDelay draws the time from pricing to a correction: mostly hours, sometimes years.
func editDelay(d *dice) time.Duration {
	roll, spread := d.Float64(), d.Float64()
	between := func(low, high time.Duration) time.Duration {
		return low + time.Duration(spread*float64(high-low))
	}
	switch {
	case roll < 0.45: // the same day, an hour and a half in the mean
		return time.Minute + min(time.Duration(-1.5*math.Log(1-spread)*float64(time.Hour)), 8*time.Hour)
	case roll < 0.70:
		return between(16*time.Hour, 28*time.Hour)
	case roll < 0.85:
		return between(2*day, 7*day)
	case roll < 0.95:
		return between(8*day, 60*day)
	}
	return between(60*day, 1826*day)
}

// edit is a correction of a priced record: its share of the records that are ever edited, and the range of its delay if
// it does not come together with others.
type edit struct {
	kind     stepKind
	share    float64
	from, to time.Duration
}

// edits returns the possible corrections of a record. A member can be added late only if the record will have it.
func (d *deal) edits(q *Quirks) []edit {
	f, ever := d.facts(), calibration.EditedShares[d.feed.Service]
	if d.feed.Service == api.Loan {
		return []edit{
			{stepFIGI, 0.30 / ever, day, 20 * day}, {stepBloomberg, 0.25 / ever, time.Hour, 5 * day},
			{stepRating, 0.10 / ever, time.Hour, 90 * day}, {stepBank, 0.10 / ever, time.Hour, 10 * day},
			{stepTerms, 0.06 / ever, time.Hour, 3 * day}, {stepUSD, 2 * q.ZeroUSD / ever, time.Hour, 2 * day},
			{stepNominal, 0.006 / ever, time.Hour, 5 * day}, {stepMaturity, 0.008 / ever, time.Hour, 30 * day},
			{stepFlags, 0.015 / ever, time.Hour, 60 * day}, {stepMessage, 0.15 / ever, time.Hour, 2 * day},
			{stepSign, 0.95, 7 * day, 42 * day},
		}
	}
	late := func(there bool, share float64) float64 {
		if !there {
			return 0
		}
		return share
	}
	return []edit{
		{stepStats, late(f.stats, 0.98), time.Hour, 3 * day},
		{stepISIN, late(f.isin, 0.37/0.92/ever), time.Hour, 5 * day},
		{stepFIGI, late(f.figi, 0.45/0.85/ever), day, 20 * day},
		{stepBloomberg, late(f.bloomberg, 0.25/0.85/ever), time.Hour, 5 * day},
		{stepRating, 0.12 / ever, time.Hour, 90 * day}, {stepBank, 0.10 / ever, time.Hour, 10 * day},
		{stepTerms, 0.06 / ever, time.Hour, 3 * day}, {stepUSD, 2 * q.ZeroUSD / ever, time.Hour, 2 * day},
		{stepNominal, 0.006 / ever, time.Hour, 5 * day}, {stepMaturity, 0.008 / ever, time.Hour, 30 * day},
		{stepFlags, 0.015 / ever, time.Hour, 60 * day}, {stepMessage, late(f.message, 0.20/0.96/ever), time.Hour, 2 * day},
	}
}

// pricedScript returns the script of a priced record: corrections, most of them at one instant, increases, and perhaps
// a removal.
func (m *Market) pricedScript(d *deal) []step {
	r, s := stream(d.seed, tagScript), script{born: d.born}
	together, edited := editDelay(r), r.chance(calibration.EditedShares[d.feed.Service])
	corrected := false
	for _, e := range d.edits(m.config.Quirks) {
		alone := time.Duration(float64(e.from) * math.Pow(float64(e.to)/float64(e.from), r.Float64()))
		wait := together
		if r.chance(0.3) || e.kind == stepSign {
			wait = alone
		}
		if r.chance(e.share) && edited {
			s.add(d.born.Add(wait), e.kind)
			corrected = true
		}
	}
	if edited && !corrected {
		s.add(d.born.Add(together), stepTerms)
	}
	m.addFlipFlop(&s, r)
	m.addIncreases(&s, r, d)
	m.addRemoval(&s, r, d)
	return s.ordered()
}

func (m *Market) addFlipFlop(s *script, r *dice) {
	at, back := s.born.Add(editDelay(r)), time.Duration(r.between(20, 300))*time.Minute
	if r.chance(m.config.Quirks.FlipFlop) {
		s.add(at, stepFlip)
		s.add(at.Add(back), stepFlop)
	}
}

// addIncreases adds taps of a bond and add-ons of a loan, days to years after pricing.
func (m *Market) addIncreases(s *script, r *dice, d *deal) {
	if temp := r.chance(0.12); temp && d.tap != 0 && d.feed.Service == api.Bond {
		s.add(d.struck.AddDate(0, 0, r.between(40, 45)), stepTempISIN)
	}
	for range 2 {
		days := int(r.lognormal(340, 1.1))
		if soon := r.between(1, 5); r.chance(0.15) {
			days = soon
		}
		at := businessTime(r, s.born.AddDate(0, 0, min(days, 8*365)), 7, 11)
		if r.chance(d.increases()/2) && d.tap == 0 && d.feed.Market == d.offer.market {
			s.add(at, stepAnnounce)
		}
	}
}

// increases returns the mean number of increases of a line.
func (d *deal) increases() float64 {
	mean := calibration.Supplies[d.feed.Market].Increases
	if d.feed.Market != api.IG {
		return mean
	}
	switch who := d.offer.issuer(); {
	case who.official():
		return 0.29
	case who.bankish:
		return 0.055
	}
	return 0.03
}

// addRemoval removes a few records, mostly within days. Some of these reappear, and very few bonds move to another
// market.
func (m *Market) addRemoval(s *script, r *dice, d *deal) {
	wait, back := removalDelay(r), time.Duration(r.between(6, 200))*time.Hour
	gone := r.chance(calibration.RemovedShares[d.feed.Market] * m.config.Quirks.Removal)
	reappears, misplaced := r.chance(m.config.Quirks.Reappear), r.chance(m.config.Quirks.MarketMove)
	switch {
	case misplaced && d.feed.Service == api.Bond && d.feed.Market == d.offer.market:
		s.add(s.born.Add(wait), stepMove)
	case gone:
		s.add(s.born.Add(wait), stepLeave)
		if reappears {
			s.add(s.born.Add(wait+back), stepReappear)
		}
	}
}

// removalDelay draws the time from appearance to removal.
func removalDelay(r *dice) time.Duration {
	roll, spread := r.Float64(), r.Float64()
	switch {
	case roll < 0.60:
		return time.Duration((0.5 + 23*spread) * float64(time.Hour))
	case roll < 0.85:
		return time.Duration((1 + 6*spread) * float64(day))
	}
	return time.Duration((7 + 393*spread) * float64(day))
}
