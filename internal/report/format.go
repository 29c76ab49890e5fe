package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// none replaces a missing value.
const none = "–"

// count formats a whole number with separators: 12,345.
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// decimals formats a number with the given digits after the point, and separators.
func decimals(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	whole, part, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	grouped := count(n)
	if n == 0 && strings.HasPrefix(text, "-") && strings.Trim(text, "-0.") != "" {
		grouped = "-0"
	}
	if part != "" {
		grouped += "." + part
	}
	return grouped
}

// maybe formats a value that may be missing.
func maybe(v *float64, digits int) string {
	if v == nil {
		return none
	}
	return decimals(*v, digits)
}

// billions formats an amount in USD as billions, to a million.
func billions(usd float64) string { return decimals(usd/1e9, 3) }

// percent formats a share (0 to 1) as percent, to a tenth.
func percent(share float64) string { return decimals(100*share, 1) }

// outOf formats a part of a total: "3 of 12".
func outOf(n, total int64) string { return count(n) + " of " + count(total) }

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
	return count(n) + " " + many
}
