package asof

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"dealflow/schemas/lake"
)

// Resolve returns the instant that a text names: an instant of RFC 3339, such as 2026-01-08T06:00:00Z; a day, which means
// the instant of the newest run that took that day's snapshot, else the end of that day in the lake's zone; or commit-8,
// the instant at which that commit became known.
func (l *Lake) Resolve(text string) (lake.Instant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.newest == nil {
		return lake.Instant{}, errClosed
	}
	return resolve(&l.newest.Edition, l.newest.days, strings.TrimSpace(text))
}

func resolve(e *Edition, days []Day, text string) (lake.Instant, error) {
	if number, ok := strings.CutPrefix(text, "commit-"); ok {
		n, err := strconv.ParseInt(number, 10, 64)
		for i := range e.Runs {
			if err == nil && e.Runs[i].Number == n {
				return e.Runs[i].KnownAt, nil
			}
		}
		if len(e.Runs) == 0 {
			return lake.Instant{}, fmt.Errorf("%q: the lake has no commit yet", text)
		}
		return lake.Instant{}, fmt.Errorf("%q: the lake has the commits 1 to %d", text, e.Log.Number)
	}
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		for _, day := range days {
			if day.Date == text {
				return day.KnownAt, nil
			}
		}
		zone, err := time.LoadLocation(e.Log.DayZone())
		if err != nil {
			return lake.Instant{}, fmt.Errorf("the lake's time zone: %w", err)
		}
		start, err := time.ParseInLocation(time.DateOnly, text, zone)
		return lake.At(start.AddDate(0, 0, 1).Add(-time.Microsecond)), err
	}
	instant, err := ParseInstant(text)
	if err != nil {
		return lake.Instant{}, fmt.Errorf("%q: want an instant such as 2026-01-08T06:00:00Z, a day such as 2026-01-08, or commit-8", text)
	}
	return instant, nil
}

// ParseInstant parses an instant of RFC 3339, with at most six digits of a second. A space may be in place of the T.
func ParseInstant(text string) (lake.Instant, error) {
	if len(text) > 10 && text[10] == ' ' {
		text = text[:10] + "T" + text[11:]
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			if at := lake.At(t); at.Equal(t) && at.Year() > 0 && at.Year() < 10000 {
				return at, nil
			}
		}
	}
	return lake.Instant{}, fmt.Errorf("%q is no instant such as 2026-01-08T06:00:00Z", text)
}

// Path returns the instant as paths have it: in UTC, with as many digits as it needs.
func Path(at lake.Instant) string { return at.UTC().Format("2006-01-02T15:04:05.999999Z") }
