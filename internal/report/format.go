package report

import (
	"fmt"
	"math"
	"time"

	"dealflow/internal/chart"
)

// maybe formats a value that may be missing.
func maybe(v *float64, digits int) string {
	if v == nil {
		return chart.None
	}
	return chart.Decimals(*v, digits)
}

// billions formats an amount in USD as billions, to a million.
func billions(usd float64) string { return chart.Decimals(usd/1e9, 3) }

// percent formats a share (0 to 1) as percent, to a tenth.
func percent(share float64) string { return chart.Decimals(100*share, 1) }

// outOf formats a part of a total: "3 of 12".
func outOf(n, total int64) string { return chart.Count(n) + " of " + chart.Count(total) }

// ratio returns n ÷ total; NaN if total is 0.
func ratio(n, total int64) float64 {
	if total == 0 {
		return math.NaN()
	}
	return float64(n) / float64(total)
}

// value returns NaN for a missing value, which charts do not draw.
func value(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// instant formats an instant in UTC to the second. A commit's known_at can be a microsecond after that second.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// plural formats a number of things.
func plural(n int64, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", one)
	}
	return chart.Count(n) + " " + many
}
