package report

import (
	"math"
	"strconv"
)

// scale maps values to places along an axis.
type scale struct {
	lo, hi   float64 // the values at the axis's ends; lo < hi
	from, to px      // the places of lo and hi
	ticks    []float64
	digits   int // after the point, in the ticks' texts
}

// at gives a value's place; what lies outside goes to the nearer end.
func (s *scale) at(v float64) px {
	part := (v - s.lo) / (s.hi - s.lo)
	return s.from + px(min(max(part, 0), 1))*(s.to-s.from)
}

// text writes a tick.
func (s *scale) text(tick float64) string {
	if math.Abs(tick) >= 1e7 {
		return strconv.FormatFloat(tick, 'g', 4, 64)
	}
	return decimals(tick, s.digits)
}

// room is what the ticks' texts take before an axis that stands.
func (s *scale) room() px {
	room := px(48)
	for _, tick := range s.ticks {
		room = max(room, textWidth(s.text(tick)))
	}
	return room + 10
}

// newScale makes an axis that holds lo, hi and 0, with four to nine ticks at round values.
func newScale(lo, hi float64, from, to px) *scale {
	lo, hi = min(lo, 0), max(hi, 0)
	if hi-lo < 1e-12 { // nothing to show, or nothing that a screen could
		hi = lo + 1
	}
	// Values beyond this have no place in a picture, and their differences overflow.
	lo, hi = max(lo, -1e300), min(hi, 1e300)
	step := roundStep((hi - lo) / 4)
	first, last := math.Floor(lo/step), math.Ceil(hi/step)
	s := &scale{lo: first * step, hi: last * step, from: from, to: to}
	for i := first; i <= last; i++ {
		s.ticks = append(s.ticks, i*step)
	}
	s.digits = min(max(0, -int(math.Floor(math.Log10(step)+1e-9))), 12)
	return s
}

// roundStep is the greatest of 1, 2 and 5 times a power of ten that is at most step.
func roundStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, factor := range []float64{5, 2} {
		if factor*power <= step {
			return factor * power
		}
	}
	return power
}
