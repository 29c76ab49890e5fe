package deals

import (
	"strings"
	"time"

	"dealflow/internal/ui/asof"
)

// bondColumns are the columns of the board of bonds, in order: when a deal is expected.
var bondColumns = []string{"Today", "Tomorrow, this week", "Later", "Postponed", "Said before, then silent", "No timing", "Other words"}

// loanColumns are the columns of the board of loans, in order: how far a deal has come.
var loanColumns = []string{"Pre-marketing", "Mandated", "Launched", "In syndication", "Commitments due", "Allocated", "Signed, closed", "Postponed, withdrawn", "Other words"}

const otherWords = "Other words"

// stages are the spellings of a loan's stage that are known, in the form of stage_form. A stage that is in no list is in the
// column for other words, as it is spelt.
var stages = map[string][]string{
	"Pre-marketing":        {"pre-marketing", "premarketing", "pre marketing"},
	"Mandated":             {"mandated"},
	"Launched":             {"launched"},
	"In syndication":       {"in syndication", "syndication"},
	"Commitments due":      {"commitments due"},
	"Allocated":            {"allocated"},
	"Signed, closed":       {"signed", "closed", "signed/closed", "signed and closed", "completed"},
	"Postponed, withdrawn": {"postponed", "withdrawn", "cancelled", "canceled", "on hold", "pulled"},
}

var columnOfStage = func() map[string]string {
	all := map[string]string{}
	for column, spellings := range stages {
		for _, spelling := range spellings {
			all[spelling] = column
		}
	}
	return all
}()

// loanColumn returns the column of a loan.
func loanColumn(r asof.Row) string {
	if column, ok := columnOfStage[r.Text("stage_form")]; ok {
		return column
	}
	return otherWords
}

// bondColumn returns the column of a tranche of a bond on a day, and what to add to its timing. A timing is what the source
// said when it last changed the tranche: a "today" of last week does not mean today.
func bondColumn(r asof.Row, today time.Time) (column, note string) {
	timing := r.Text("timing_form")
	said, err := asof.ParseInstant(r.Text("timing_said"))
	if timing == "" {
		return "No timing", ""
	}
	day := said.UTC().Truncate(24 * time.Hour)
	var from, to time.Time // days on which it is expected
	switch begin, isWeek := weekOf(timing, day); {
	case timing == "on the horizon" || timing == "subject to market" || timing == "later":
		return "Later", ""
	case timing == "postponed" || timing == "withdrawn" || timing == "on hold" || timing == "cancelled":
		return "Postponed", ""
	case err != nil:
		return otherWords, "said on a day that is not known"
	case timing == "today":
		from, to = day, day
	case timing == "tomorrow":
		from, to = day.AddDate(0, 0, 1), day.AddDate(0, 0, 1)
	case timing == "this week":
		from, to = day, monday(day).AddDate(0, 0, 6)
	case timing == "next week":
		from, to = monday(day).AddDate(0, 0, 7), monday(day).AddDate(0, 0, 13)
	case isWeek:
		from, to = begin, begin.AddDate(0, 0, 6)
	default:
		return otherWords, ""
	}
	note = "said " + day.Format("2 Jan 2006")
	switch {
	case to.Before(today):
		return "Said before, then silent", note
	case from.Equal(today) && to.Equal(today):
		return "Today", ""
	case from.Before(monday(today).AddDate(0, 0, 7)) || from.Equal(today.AddDate(0, 0, 1)):
		return "Tomorrow, this week", note
	}
	return "Later", note
}

// monday returns the first day of a day's week.
func monday(day time.Time) time.Time { return day.AddDate(0, 0, -(int(day.Weekday())+6)%7) }

// weekOf reads "w/c 16 jan": the week that begins on that day, in the year in which it is nearest to the day on which it was
// said.
func weekOf(timing string, said time.Time) (time.Time, bool) {
	text, ok := strings.CutPrefix(timing, "w/c ")
	if !ok {
		return time.Time{}, false
	}
	found, err := time.Parse("2 Jan", text)
	if err != nil {
		return time.Time{}, false
	}
	var nearest time.Time
	for _, year := range []int{said.Year() - 1, said.Year(), said.Year() + 1} {
		at := time.Date(year, found.Month(), found.Day(), 0, 0, 0, 0, time.UTC)
		if nearest.IsZero() || at.Sub(said).Abs() < nearest.Sub(said).Abs() {
			nearest = at
		}
	}
	return nearest, true
}
