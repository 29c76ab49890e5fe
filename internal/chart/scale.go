package chart

import (
	"math"
	"strconv"
)

// scale maps values to coordinates on an axis.
type scale struct {
	lo, hi   float64 // the values at the axis's ends; lo < hi
	from, to px      // the coordinates of lo and hi
	ticks    []float64
	digits   int // after the point, in the ticks' texts
}

// position returns a value's coordinate. A value outside the axis gets the nearer end.
func (s *scale) position(v float64) px {
	part := (v - s.lo) / (s.hi - s.lo)
	return s.from + px(min(max(part, 0), 1))*(s.to-s.from)
}

// text formats a tick.
func (s *scale) text(tick float64) string {
	if math.Abs(tick) >= 1e7 {
		return strconv.FormatFloat(tick, 'g', 4, 64)
	}
	return Decimals(tick, s.digits)
}

// room is the width of the ticks' texts next to a vertical axis.
func (s *scale) room() px {
	room := px(48)
	for _, tick := range s.ticks {
		room = max(room, textWidth(s.text(tick)))
	}
	return room + 10
}

// newScale returns an axis that contains lo, hi and 0, with four to nine ticks at round values.
func newScale(lo, hi float64, from, to px) *scale {
	return scaleOver(min(lo, 0), max(hi, 0), from, to)
}

// scaleOver returns an axis that contains lo and hi, with four to nine ticks at round values.
func scaleOver(lo, hi float64, from, to px) *scale {
	if least := 1e-12 * max(math.Abs(lo), 1); hi-lo < least { // no span, or none that a screen can show
		hi = lo + max(1, least*4)
	}
	// Differences of larger values overflow.
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

// roundStep returns the greatest of 1, 2 and 5 times a power of ten that is at most step.
func roundStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, factor := range []float64{5, 2} {
		if factor*power <= step {
			return factor * power
		}
	}
	return power
}
