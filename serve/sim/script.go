package sim

import (
	"slices"
	"time"

	"dealflow/schemas/api"
)

// scriptOf is what will happen to a deal that has just appeared.
func (m *Market) scriptOf(d *deal) []step {
	switch {
	case d.feed.Kind == api.Priced:
		return m.pricedScript(d)
	case d.feed.Service == api.Bond:
		return m.bondExpectedScript(d)
	}
	return m.loanExpectedScript(d)
}

// script collects steps.
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

// ordered is the script in order of time, ended by the first leave that no reappearance follows.
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
		case step.kind == stepLeave:
			gone = true
		}
		steps = append(steps, step)
	}
	return steps
}

// editDelay is how long after pricing a correction comes: mostly the same day, sometimes years.
func editDelay(d *dice) time.Duration {
	roll, spread := d.Float64(), d.Float64()
	between := func(low, high time.Duration) time.Duration {
		return low + time.Duration(spread*float64(high-low))
	}
	const day = 24 * time.Hour
	switch {
	case roll < 0.45:
		return between(10*time.Minute, 4*time.Hour)
	case roll < 0.70:
		return between(16*time.Hour, 28*time.Hour)
	case roll < 0.85:
		return between(2*day, 7*day)
	case roll < 0.95:
		return between(8*day, 60*day)
	}
	return between(60*day, 900*day)
}

// edits are what may be corrected in a priced record, how often, and where.
var edits = []struct {
	kind stepKind
	bond float64
	loan float64
}{
	{stepStats, 0.45, 0},
	{stepISIN, 0.37, 0},
	{stepFIGI, 0.45, 0.40},
	{stepBloomberg, 0.25, 0.25},
	{stepRating, 0.12, 0.10},
	{stepBank, 0.10, 0.10},
	{stepNominal, 0.01, 0.02},
	{stepMaturity, 0.01, 0.01},
	{stepFlags, 0.015, 0.015},
	{stepTerms, 0.06, 0.08},
	{stepMessage, 0.20, 0.15},
	{stepSign, 0, 0.60},
}

// pricedScript is the life of a priced record: corrections, bundled into few moments, increases,
// and perhaps its removal.
func (m *Market) pricedScript(d *deal) []step {
	r, s := stream(d.seed, tagScript), script{born: d.born}
	moments := []time.Duration{editDelay(r), editDelay(r)}
	edited := r.chance(0.85)
	for _, edit := range edits {
		rate, wait := edit.bond, moments[r.IntN(2)]
		if d.feed.Service == api.Loan {
			rate = edit.loan
		}
		if alone := editDelay(r); r.chance(0.3) {
			wait = alone
		}
		if r.chance(rate/0.85) && edited {
			s.add(d.born.Add(wait), edit.kind)
		}
	}
	m.addFlipFlop(&s, r)
	m.addIncreases(&s, r, d)
	addRemoval(&s, r)
	return s.ordered()
}

func (m *Market) addFlipFlop(s *script, r *dice) {
	at, back := s.born.Add(editDelay(r)), time.Duration(r.between(20, 300))*time.Minute
	if r.chance(m.config.Quirks.FlipFlop) {
		s.add(at, stepFlip)
		s.add(at.Add(back), stepFlop)
	}
}

// addIncreases announces taps of a bond and add-ons to a loan, days to years after.
func (m *Market) addIncreases(s *script, r *dice, d *deal) {
	if temp := r.chance(0.12); temp && d.tap != 0 && d.feed.Service == api.Bond {
		s.add(d.born.AddDate(0, 0, r.between(40, 45)), stepTempISIN)
	}
	rate := 0.10
	if d.feed.Service == api.Loan {
		rate = 0.05
	}
	for range 2 {
		days := int(r.lognormal(120, 1.6))
		at := businessTime(r, s.born.AddDate(0, 0, 1+min(days, 3000)), 7, 11)
		if r.chance(rate) && d.tap == 0 {
			s.add(at, stepAnnounce)
		}
	}
}

// addRemoval takes a few records away, mostly within days, and brings some of them back.
func addRemoval(s *script, r *dice) {
	wait, back := editDelay(r), time.Duration(r.between(6, 200))*time.Hour
	removed, reappears := r.chance(0.012), r.chance(0.25)
	if !removed {
		return
	}
	s.add(s.born.Add(wait), stepLeave)
	if reappears {
		s.add(s.born.Add(wait+back), stepReappear)
	}
}
