package growth

import (
	"math"
	"slices"
)

// fit is the straight line v = at0 + slope·night through measured values, by least squares.
type fit struct{ at0, slope float64 }

func (f fit) at(night float64) float64 { return f.at0 + f.slope*night }

// fitted fits a line to a figure; ok is false if it was measured in fewer than two nights.
func fitted(rows []Row, figure func(*Row) *float64) (f fit, ok bool) {
	var n, sumX, sumY float64
	each(rows, figure, func(x, y float64) { n, sumX, sumY = n+1, sumX+x, sumY+y })
	if n < 2 {
		return fit{}, false
	}
	var square, product float64
	each(rows, figure, func(x, y float64) {
		square += (x - sumX/n) * (x - sumX/n)
		product += (x - sumX/n) * (y - sumY/n)
	})
	if square == 0 {
		return fit{}, false
	}
	f.slope = product / square
	f.at0 = sumY/n - f.slope*sumX/n
	return f, true
}

// each calls use for the nights in which a figure was measured.
func each(rows []Row, figure func(*Row) *float64, do func(night, value float64)) {
	for i := range rows {
		if v := *figure(&rows[i]); !math.IsNaN(v) {
			do(rows[i].Night, v)
		}
	}
}

// Tenths are the medians of a figure's first and last tenth, each of at least one night. The very first night,
// which fills the lake, is in neither. NaN where the figure was not measured.
func Tenths(rows []Row, figure func(*Row) *float64) (first, last float64) {
	var values []float64
	each(rows, figure, func(night, v float64) {
		if night > 1 {
			values = append(values, v)
		}
	})
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	n := max(len(values)/10, 1)
	return median(values[:n]), median(values[len(values)-n:])
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
