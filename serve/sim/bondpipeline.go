package sim

import (
	"time"
)

const day = 24 * time.Hour

// bondExpectedScript is the life of a bond deal in the pipeline.
func (m *Market) bondExpectedScript(d *deal) []step {
	r, s := stream(d.seed, tagScript), script{born: d.born}
	lines := d.bondLines(planBond(d.offer))
	wait := pickWeighted(r, []weighted[int]{{30, 0}, {40, r.between(1, 5)}, {30, 2 + min(int(r.lognormal(14, 0.8)), 120)}})
	pricing := businessDays(d.born, wait)
	fades := r.chance(0.02)
	if wait > 5 {
		fades = r.chance(0.3)
	}
	for range min(wait, 4) {
		s.add(d.born.Add(time.Duration(r.Float64()*float64(pricing.Sub(d.born)))), stepNews)
	}
	if fades {
		addFade(&s, r, pricing)
	} else {
		addExecution(&s, r, pricing, lines)
	}
	m.addSlips(&s, r, len(lines))
	m.addOmission(&s, r)
	return s.ordered()
}

// addFade lets a deal go without pricing, half of the time without a word.
func addFade(s *script, r *dice, end time.Time) {
	if r.chance(0.5) {
		s.add(end, stepPostpone)
		end = end.AddDate(0, 0, r.between(1, 10))
	}
	s.add(end.Add(time.Duration(r.between(1, 20))*time.Hour), stepLeave)
}

// addExecution is the day on which a deal prices. A priced tranche stays until midnight UTC.
func addExecution(s *script, r *dice, pricing time.Time, lines []bondLine) {
	at := pricing.Truncate(day).Add(time.Duration(r.between(7*60, 9*60)) * time.Minute)
	if earliest := s.born.Add(10 * time.Minute); at.Before(earliest) {
		at = earliest
	}
	later := func(low, high int) time.Time {
		at = at.Add(time.Duration(r.between(low, high)) * time.Minute)
		return at
	}
	s.add(later(0, 20), stepThoughts)
	for i := range lines {
		added, moved := r.chance(0.12), later(1, 5)
		if added && i > 0 {
			s.addLine(moved, stepAddLine, i)
		}
	}
	s.add(later(60, 120), stepGuidance)
	for i, line := range lines {
		if line.phantom {
			s.addLine(later(1, 9), stepDropLine, i)
		}
	}
	if r.chance(0.35) {
		s.add(later(20, 40), stepRevised)
	}
	s.add(later(30, 60), stepFinal)
	addPricing(s, r, later(20, 80), lines)
}

// addPricing prices one tranche after the other; rarely the last waits until the next business day.
func addPricing(s *script, r *dice, at time.Time, lines []bondLine) {
	last, lags := len(lines)-1, r.chance(0.1)
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
		at = at.Add(time.Duration(r.between(5, 12)) * time.Minute)
	}
	s.add(midnight(s.steps[len(s.steps)-1].at), stepLeave)
}

// midnight is the end of an instant's day.
func midnight(t time.Time) time.Time { return t.Truncate(day).Add(day) }

// addSlips are the small things between a deal's announcement and its end.
func (m *Market) addSlips(s *script, r *dice, lines int) {
	span := s.steps[len(s.steps)-1].at.Sub(s.born) * 9 / 10
	sometime := func() time.Time { return s.born.Add(time.Duration(r.Float64() * float64(span))) }
	slips := []struct {
		kind stepKind
		rate float64
	}{{stepRename, 0.12}, {stepReorder, 0.03}, {stepBump, m.config.Quirks.BumpOnly}, {stepSilentEdit, m.config.Quirks.SilentEdit}}
	for _, slip := range slips {
		at, line := sometime(), r.IntN(lines)
		if r.chance(slip.rate) {
			s.addLine(at, slip.kind, line)
		}
	}
}

// addOmission leaves a deal out of its list for a day, or until it leaves.
func (m *Market) addOmission(s *script, r *dice) {
	span := s.steps[len(s.steps)-1].at.Sub(s.born)
	at := s.born.Add(time.Duration(r.Float64() * float64(span)))
	if r.chance(m.config.Quirks.ListOmission) {
		s.add(at, stepOmit)
		s.add(at.Add(day), stepList)
	}
}
