package oracle

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// fitter converts a JSON value to a column's value; nil if it does not fit the column's type.
type fitter func(value any) any

var decimalType = regexp.MustCompile(`^DECIMAL\(([0-9]+),([0-9]+)\)$`)

// fitterOf parses the type of a column.
func fitterOf(typ string) (fitter, error) {
	switch typ {
	case "UTF8":
		return fitText, nil
	case "BOOLEAN":
		return fitBoolean, nil
	case "DATE":
		return fitDate, nil
	case "TIMESTAMP(µs, UTC)":
		return fitTimestamp, nil
	case "INT32":
		return func(v any) any { return fitInteger(v, 32) }, nil
	case "INT64":
		return func(v any) any { return fitInteger(v, 64) }, nil
	}
	m := decimalType.FindStringSubmatch(typ)
	if m == nil {
		return nil, fmt.Errorf("unknown type %q", typ)
	}
	precision, _ := strconv.Atoi(m[1])
	scale, _ := strconv.Atoi(m[2])
	if precision > maxPrecision || scale > precision {
		return nil, fmt.Errorf("type %q: want at most %d digits, and no scale above the precision", typ, maxPrecision)
	}
	return func(v any) any { return fitDecimal(v, precision, scale) }, nil
}

// fitText accepts any text. U+0000, which many databases take in no text, becomes U+FFFD.
func fitText(value any) any {
	if text, ok := value.(string); ok {
		return strings.ReplaceAll(text, "\x00", "\uFFFD")
	}
	return nil
}

func fitBoolean(value any) any {
	if flag, ok := value.(bool); ok {
		return flag
	}
	return nil
}

func fitInteger(value any, bits int) any {
	number, ok := value.(json.Number)
	if !ok {
		return nil
	}
	n, ok := parseNumber(string(number)).integer(bits)
	if !ok {
		return nil
	}
	return n
}

func fitDecimal(value any, precision, scale int) any {
	number, ok := value.(json.Number)
	if !ok {
		return nil
	}
	text, ok := parseNumber(string(number)).decimal(precision, scale)
	if !ok {
		return nil
	}
	return text
}

var dateText = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)

// fitDate accepts only YYYY-MM-DD and existing days, of the years 1 to 9999.
func fitDate(value any) any {
	text, _ := value.(string)
	if !dateText.MatchString(text) {
		return nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || !hasYear(day) {
		return nil
	}
	return text
}

var instantText = regexp.MustCompile(
	`^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$`)

// hasYear reports whether an instant is in the years 1 to 9999, which every reader of the lake can write.
func hasYear(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }

// fitTimestamp accepts YYYY-MM-DDThh:mm:ss with an optional fraction, then Z or an offset ±hh:mm. The date as written
// and the instant in UTC are both in the years 1 to 9999.
func fitTimestamp(value any) any {
	text, _ := value.(string)
	m := instantText.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	instant, err := time.Parse("2006-01-02T15:04:05", m[1]) // refuses what is on no clock or calendar
	if err != nil || !hasYear(instant) {
		return nil
	}
	if m[3] != "" {
		hours, _ := strconv.Atoi(m[4])
		minutes, _ := strconv.Atoi(m[5])
		if hours > 23 || minutes > 59 {
			return nil
		}
		offset := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
		if m[3] == "+" {
			offset = -offset
		}
		instant = instant.Add(offset)
	}
	if !hasYear(instant) {
		return nil
	}
	micros := (m[2] + "000000")[:6] // digits beyond are cut, not rounded
	return instant.Format("2006-01-02T15:04:05") + "." + micros + "Z"
}
