package schedule

import (
	"fmt"
	"strings"
	"time"
)

// TimeOfDay is a time that clocks on the wall show.
type TimeOfDay struct {
	Hour   int // 0 to 23
	Minute int // 0 to 59
}

// ParseTimeOfDay parses a time such as 22:00.
func ParseTimeOfDay(text string) (TimeOfDay, error) {
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return TimeOfDay{}, fmt.Errorf("%q: want a time of day such as 22:00", text)
	}
	return TimeOfDay{t.Hour(), t.Minute()}, nil
}

// String is the form that ParseTimeOfDay parses.
func (t TimeOfDay) String() string { return fmt.Sprintf("%02d:%02d", t.Hour, t.Minute) }

// TimeOfWeek is a time of day on one weekday.
type TimeOfWeek struct {
	Weekday time.Weekday
	TimeOfDay
}

// ParseTimeOfWeek parses a time such as "Sat 06:00".
func ParseTimeOfWeek(text string) (TimeOfWeek, error) {
	name, clock, _ := strings.Cut(text, " ")
	t, err := ParseTimeOfDay(clock)
	for day := time.Sunday; err == nil && day <= time.Saturday; day++ {
		if strings.EqualFold(name, day.String()[:3]) {
			return TimeOfWeek{day, t}, nil
		}
	}
	return TimeOfWeek{}, fmt.Errorf("%q: want a weekday and a time of day such as \"Sat 06:00\"", text)
}

// String is the form that ParseTimeOfWeek parses.
func (t TimeOfWeek) String() string { return t.Weekday.String()[:3] + " " + t.TimeOfDay.String() }
