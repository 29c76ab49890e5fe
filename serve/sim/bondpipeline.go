package sim

import (
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

const day = 24 * time.Hour

// bondExpectedScript returns the script of an expected bond deal.
func (m *Market) bondExpectedScript(d *deal) []step {
	r, s := stream(d.seed, tagScript), script{born: d.born}
	lines := d.bondLines(planBond(d.offer))
	wait := int(d.target.Sub(d.born.Truncate(day)) / day)
	for range min(wait, 3) {
		at := d.born.Add(time.Duration(r.Float64() * float64(d.target.Sub(d.born))))
		if !weekend(at) {
			s.add(at, stepNews)
		}
	}
	if m.fades(r, d, wait) {
		addFade(&s, r, later(d.target, s.born).Add(12*time.Hour))
	} else {
		m.addExecution(&s, r, d, lines)
	}
	m.addSlips(&s, r, len(lines))
	m.addOmission(&s, r)
	return s.ordered()
}

// fades draws whether a deal is never priced: it is pulled, with a probability by regime, or forgotten after a long
// time.
func (m *Market) fades(r *dice, d *deal, wait int) bool {
	pulled, forgotten := r.chance(calibration.Effects[d.offer.mood].BondPull), 0.0
	if wait > 9 && d.tap == 0 {
		forgotten = byMarket(d.offer.market, 0.30, 0.30, 0.35)
	}
	return r.chance(forgotten) || pulled
}

// later returns the later of two instants.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// addFade removes a deal without pricing, in half of the cases without a report.
func addFade(s *script, r *dice, end time.Time) {
	if r.chance(0.5) {
		s.add(end, stepPostpone)
		end = end.AddDate(0, 0, r.between(1, 10))
	}
	s.add(end.Add(time.Duration(r.between(1, 20))*time.Hour), stepLeave)
}

// addExecution adds the steps of the day of pricing. High yield opens its books on the day before if there is time. A
// priced tranche stays until midnight in London.
func (m *Market) addExecution(s *script, r *dice, d *deal, lines []bondLine) {
	opening, closing := d.offer.opening(d.target), d.offer.closing(d.target)
	if eve := d.offer.opening(businessDaysBefore(d.target, 1)); d.feed.Market == api.HY && eve.After(s.born) {
		opening = eve
	}
	opening = later(opening, s.born.Add(time.Second))
	closing = later(closing, opening.Add(90*time.Minute))
	span := closing.Sub(opening)
	along := func(from, to float64) time.Time {
		return opening.Add(time.Duration((from + (to-from)*r.Float64()) * float64(span)))
	}
	s.add(opening, stepThoughts)
	for i := range lines {
		added, at := r.chance(0.12), along(0.02, 0.3)
		if added && i > 0 {
			s.addLine(at, stepAddLine, i)
		}
	}
	s.add(along(0.32, 0.45), stepGuidance)
	for i, line := range lines {
		if line.phantom {
			s.addLine(along(0.46, 0.5), stepDropLine, i)
		}
	}
	if r.chance(0.35) {
		s.add(along(0.5, 0.6), stepRevised)
	}
	s.add(along(0.65, 0.85), stepFinal)
	m.addPricing(s, r, closing, lines)
}

// addPricing prices one tranche after the other. Rarely the last one waits until the next business day. The links to
// the priced records are added at once, and by a quirk some of them later.
func (m *Market) addPricing(s *script, r *dice, at time.Time, lines []bondLine) {
	last, lags := len(lines)-1, r.chance(0.04)
	var end time.Time
	for last > 0 && lines[last].phantom {
		last--
	}
	for i, line := range lines[:last+1] {
		if line.phantom {
			continue
		}
		if i == last && i > 0 && lags {
			for earlier := range last {
				s.addLine(midnight(at), stepLineLeaves, earlier)
			}
			at = businessDays(at, 1)
		}
		s.addLine(at, stepPrice, i)
		end = midnight(at)
		if linked := at.Add(time.Duration(r.between(3, 60)) * time.Minute); r.chance(m.config.Quirks.LateLink) {
			s.addLine(linked, stepLink, i)
		}
		at = at.Add(time.Duration(r.between(5, 25)) * time.Minute)
	}
	s.add(end, stepLeave)
}

// addSlips adds small changes between a deal's announcement and its end.
func (m *Market) addSlips(s *script, r *dice, lines int) {
	span := s.steps[len(s.steps)-1].at.Sub(s.born) * 9 / 10
	sometime := func() time.Time { return s.born.Add(time.Duration(r.Float64() * float64(span))) }
	slips := []struct {
		kind stepKind
		rate float64
	}{{stepRename, 0.12}, {stepReorder, 0.03}, {stepTypo, 0.08}, {stepBump, m.config.Quirks.BumpOnly}, {stepSilentEdit, m.config.Quirks.SilentEdit}}
	for _, slip := range slips {
		at, line := sometime(), r.IntN(lines)
		if r.chance(slip.rate) {
			s.addLine(at, slip.kind, line)
		}
	}
}

// addOmission omits a deal from its list for a day, or until the deal is removed.
func (m *Market) addOmission(s *script, r *dice) {
	span := s.steps[len(s.steps)-1].at.Sub(s.born)
	at := s.born.Add(time.Duration(r.Float64() * float64(span)))
	if r.chance(m.config.Quirks.ListOmission) {
		s.add(at, stepOmit)
		s.add(at.Add(day), stepList)
	}
}
