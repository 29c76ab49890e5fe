package schedule

import (
	"encoding/binary"
	"hash/fnv"
	"time"
)

// Slot is a time at which the plan wants a command.
type Slot struct {
	At    time.Time // that the plan names
	Start time.Time // At, and a delay that is less than the jitter
	Day   string    // of At in the plan's zone, YYYY-MM-DD
}

// instantOf returns the first instant of a day at which the clocks of the zone show a time or later. A day's clocks may
// skip the time, or show it twice. It returns false for a day that does not have such an instant: islands have skipped
// whole days.
func (p *Plan) instantOf(year int, month time.Month, day int, clock TimeOfDay) (time.Time, bool) {
	wanted := time.Date(year, month, day, clock.Hour, clock.Minute, 0, 0, time.UTC) // as clocks on the wall show it
	const most = 26 * time.Hour                                                     // no offset from UTC is larger
	for t := wanted.Add(-most).In(p.Zone); t.Before(wanted.Add(most)); {
		_, seconds := t.Zone()
		_, end := t.ZoneBounds()
		first := wanted.Add(-time.Duration(seconds) * time.Second)
		if first.Before(t) {
			first = t
		}
		first = first.In(p.Zone)
		if y, m, d := first.Date(); (end.IsZero() || first.Before(end)) && y == wanted.Year() && m == wanted.Month() && d == wanted.Day() {
			return first, true
		}
		if end.IsZero() {
			break
		}
		t = end
	}
	return time.Time{}, false
}

// slotOn returns the slot of a day, which is given as a number of days after that of an instant. It returns false for a
// day that does not have one.
func (p *Plan) slotOn(now time.Time, days int, clock TimeOfDay) (Slot, bool) {
	year, month, day := now.In(p.Zone).Date()
	noon := time.Date(year, month, day+days, 12, 0, 0, 0, time.UTC) // only its date counts
	instant, ok := p.instantOf(noon.Year(), noon.Month(), noon.Day(), clock)
	if !ok {
		return Slot{}, false
	}
	return Slot{At: instant, Start: instant.Add(p.delay(instant)), Day: noon.Format(time.DateOnly)}, true
}

// delay returns the delay of a slot, which is the same each time.
func (p *Plan) delay(instant time.Time) time.Duration {
	if p.Jitter <= 0 {
		return 0
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(p.Seed)) // a hash never fails
	_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(instant.Unix())))
	return time.Duration(mix(sum.Sum64()) % uint64(p.Jitter))
}

// mix spreads the bits of a number over all its bits (the finalizer of MurmurHash3): FNV alone gives texts that differ
// in their end similar sums.
func mix(n uint64) uint64 {
	n ^= n >> 33
	n *= 0xff51afd7ed558ccd
	n ^= n >> 33
	n *= 0xc4ceb9fe1a85ec53
	return n ^ n>>33
}

// around is the number of days around an instant that contain the slots before and after it: a zone may skip a day.
const around = 3

// LastRun returns the newest night that has begun.
func (p *Plan) LastRun(now time.Time) Slot { return p.last(now, p.Run, around, everyDay) }

// nextRun returns the first night that has not begun.
func (p *Plan) nextRun(now time.Time) Slot { return p.next(now, p.Run, around, everyDay) }

func everyDay(Slot) bool { return true }

func (p *Plan) last(now time.Time, clock TimeOfDay, days int, wanted func(Slot) bool) Slot {
	for d := 1; d >= -days; d-- {
		if s, ok := p.slotOn(now, d, clock); ok && !s.Start.After(now) && wanted(s) {
			return s
		}
	}
	return Slot{}
}

func (p *Plan) next(now time.Time, clock TimeOfDay, days int, wanted func(Slot) bool) Slot {
	for d := -1; d <= days; d++ {
		if s, ok := p.slotOn(now, d, clock); ok && s.Start.After(now) && wanted(s) {
			return s
		}
	}
	return Slot{}
}

// twoWeeks contain each weekday, although a zone may skip a day.
const twoWeeks = 14

func (p *Plan) onWeekday(s Slot) bool {
	day, err := time.Parse(time.DateOnly, s.Day)
	return err == nil && day.Weekday() == p.Maintain.Weekday
}

func (p *Plan) lastMaintain(now time.Time) Slot {
	return p.last(now, p.Maintain.TimeOfDay, twoWeeks, p.onWeekday)
}

func (p *Plan) nextMaintain(now time.Time) Slot {
	return p.next(now, p.Maintain.TimeOfDay, twoWeeks, p.onWeekday)
}

// mostBetween is the number of nights that Between returns at most.
const mostBetween = 400

// Between returns the nights after an instant and before a slot, oldest first; none after the zero instant.
func (p *Plan) Between(after time.Time, slot Slot) (nights []Slot) {
	if after.IsZero() || slot.At.IsZero() {
		return nil
	}
	for night := p.nextRun(after); night.At.Before(slot.At) && len(nights) < mostBetween; night = p.nextRun(night.Start) {
		if night.At.After(after) {
			nights = append(nights, night)
		}
	}
	return nights
}
