package chart

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// None replaces a missing value.
const None = "–"

// Count formats a whole number with separators: 12,345.
func Count(n int64) string {
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

// Decimals formats a number with the given digits after the point, and separators.
func Decimals(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return None
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	whole, part, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	grouped := Count(n)
	if n == 0 && strings.HasPrefix(text, "-") && strings.Trim(text, "-0.") != "" {
		grouped = "-0"
	}
	if part != "" {
		grouped += "." + part
	}
	return grouped
}

// exactly formats a value with up to three digits after the point, and a whole number without: "8.000 deals" would be read as eight thousand.
func exactly(v float64) string {
	text := Decimals(v, 3)
	if strings.Contains(text, ".") && !strings.Contains(text, "e") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Visible replaces characters that a reader does not see and a page may obey: control characters, and format characters
// such as those that change the direction of writing. Characters that join letters stay.
func Visible(r rune) rune {
	switch {
	case r == '\n', r == '\t', r == 0x200c, r == 0x200d, r == 0xad:
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
		return unicode.ReplacementChar
	}
	return r
}

// OneLine joins a text into one line.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
