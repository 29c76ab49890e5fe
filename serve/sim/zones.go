package sim

import (
	"fmt"
	"time"
)

// zone is a time zone. Its rules are written here, so that a market does not depend on the time zones of the machine.
type zone uint8

const (
	london zone = iota
	newYork
	hongKong
)

// zoneOf returns the zone from which deals in a currency are managed.
func zoneOf(code string) zone {
	switch code {
	case "USD", "CAD", "BRL":
		return newYork
	case "CNH", "HKD", "SGD", "JPY", "AUD", "IDR":
		return hongKong
	}
	return london
}

// offset returns the zone's offset from UTC at an instant, positive to the east.
func (z zone) offset(at time.Time) time.Duration {
	switch z {
	case newYork:
		start, end := sunday(at.Year(), time.March, 2), sunday(at.Year(), time.November, 1)
		if !at.Before(start.Add(7*time.Hour)) && at.Before(end.Add(6*time.Hour)) {
			return -4 * time.Hour
		}
		return -5 * time.Hour
	case hongKong:
		return 8 * time.Hour
	}
	start, end := lastSunday(at.Year(), time.March), lastSunday(at.Year(), time.October)
	if !at.Before(start.Add(time.Hour)) && at.Before(end.Add(time.Hour)) {
		return time.Hour
	}
	return 0
}

// at returns the instant of a local time of a day, in minutes since its midnight.
func (z zone) at(date time.Time, minutes int) time.Time {
	local := date.Truncate(day).Add(time.Duration(minutes) * time.Minute)
	return local.Add(-z.offset(local.Add(-z.offset(local))))
}

// local returns the zone's wall clock at an instant, as a time in UTC.
func (z zone) local(at time.Time) time.Time { return at.UTC().Add(z.offset(at)) }

// suffix returns the offset as ±hh:mm.
func (z zone) suffix(at time.Time) string {
	minutes := int(z.offset(at) / time.Minute)
	sign := '+'
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	return fmt.Sprintf("%c%02d:%02d", sign, minutes/60, minutes%60)
}

// sunday returns the n-th Sunday of a month.
func sunday(year int, month time.Month, n int) time.Time {
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	return first.AddDate(0, 0, (7-int(first.Weekday()))%7+7*(n-1))
}

func lastSunday(year int, month time.Month) time.Time {
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
	return last.AddDate(0, 0, -int(last.Weekday()))
}

// midnight returns the end of an instant's day in London, where the API's days end.
func midnight(t time.Time) time.Time {
	return london.at(london.local(t).Truncate(day).Add(day), 0)
}
