package text

import "time"

// parseMaturity reads when a loan is due, 2031-02-15, 15 Feb 2031, Feb-31, Feb 2031, or in how many years, 7yr, 84
// months.
func parseMaturity(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	if s.due(r) && s.end() {
		r.Status = statusOK
		return
	}
	*r = Reading{Status: unread(text, no)}
}

// due reads a day, a month or a tenor. It tries the longer form first.
func (s *scanner) due(r *Reading) (ok bool) {
	year, month, day, ok := s.isoDay()
	if !ok {
		year, month, day, ok = s.writtenDay()
	}
	if ok {
		return r.dueOn(year, month, day)
	}
	if month, year, ok := s.monthAndYear(); ok {
		r.Year, r.Month = Integer{year, true}, Integer{month, true}
		return true
	}
	r.Tenor, ok = s.tenor()
	return ok && tenorBounds.contain(r.Tenor)
}

// dueOn sets the due day. It returns false if the calendar has no such day.
func (r *Reading) dueOn(year, month, day int64) bool {
	date := time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	if date.Day() != int(day) || date.Month() != time.Month(month) || year < firstYear || year > lastYear {
		return false
	}
	r.Date = Integer{date.Unix() / secondsPerDay, true}
	r.Year, r.Month = Integer{year, true}, Integer{month, true}
	return true
}

// isoDay reads 2031-02-15.
func (s *scanner) isoDay() (year, month, day int64, ok bool) {
	ahead := *s
	year, y := ahead.count()
	dash1 := ahead.char('-')
	month, m := ahead.count()
	dash2 := ahead.char('-')
	day, d := ahead.count()
	if ok = dash1 && dash2 && y == 4 && m == 2 && d == 2; ok {
		*s = ahead
	}
	return year, month, day, ok
}

// writtenDay reads 15 Feb 2031 or 15-Feb-2031.
func (s *scanner) writtenDay() (year, month, day int64, ok bool) {
	ahead := *s
	day, d := ahead.count()
	if d < 1 || d > 2 || !ahead.char(' ') && !ahead.char('-') {
		return 0, 0, 0, false
	}
	if month, year, ok = ahead.monthAndYear(); ok {
		*s = ahead
	}
	return year, month, day, ok
}
