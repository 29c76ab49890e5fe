package text

import "time"

// parseMaturity reads when a loan is due, 2031-02-15, 15 Feb 2031, Feb-31, Feb 2031, 2031, or in how many years, 7yr, 84
// months, 5yr (5+1+1).
func parseMaturity(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	if s.due(r) && s.end() {
		r.Status = statusOK
		return
	}
	*r = Reading{Status: unread(text, no)}
	if p := (scanner{text}); p.perpetual() && p.end() {
		r.Status = statusNoNumber
	} else if _, _, _, v := p.slashedDay(); v == ambiguous {
		r.Status = statusAmbiguous
	}
}

// due reads a day, a month or a tenor. It tries the longer form first.
func (s *scanner) due(r *Reading) (ok bool) {
	year, month, day, ok := s.isoDay()
	if !ok {
		year, month, day, ok = s.writtenDay()
	}
	if !ok {
		year, month, day, ok = s.monthDay()
	}
	if ok {
		return r.dueOn(year, month, day)
	}
	if day, month, year, v := s.slashedDay(); v == yes {
		return r.dueOn(year, month, day)
	}
	month, year, ok = s.monthAndYear()
	if !ok {
		month, year, ok = s.numericMonth()
	}
	if ok {
		r.Year, r.Month = Integer{year, true}, Integer{month, true}
		return true
	}
	if year, ok := s.onlyYear(); ok {
		r.Year = Integer{year, true}
		return true
	}
	return s.dueIn(r)
}

// monthDay reads June 15, 2030.
func (s *scanner) monthDay() (year, month, day int64, ok bool) {
	ahead := *s
	month, ok = ahead.month()
	if !ok || !ahead.char(' ') {
		return 0, 0, 0, false
	}
	day, d := ahead.count()
	comma := ahead.char(',')
	space := ahead.char(' ')
	year, y := ahead.count()
	if d < 1 || d > 2 || y != 4 || !comma && !space {
		return 0, 0, 0, false
	}
	*s = ahead
	return year, month, day, true
}

// slashedDay reads 15/02/2031 or 15.02.2031. With slashes day and month come in either order: one of them must be more
// than 12, or both be the same; else the day is ambiguous.
func (s *scanner) slashedDay() (day, month, year int64, v verdict) {
	ahead := *s
	day, d := ahead.count()
	point := ahead.char('.')
	first := point || ahead.char('/')
	month, m := ahead.count()
	second := point && ahead.char('.') || !point && ahead.char('/')
	year, y := ahead.count()
	if !first || !second || d == 0 || d > 2 || m == 0 || m > 2 || y != 4 {
		return 0, 0, 0, no
	}
	if day <= 12 && month <= 12 && day != month && !point {
		return 0, 0, 0, ambiguous
	}
	if month > 12 && !point {
		day, month = month, day
	}
	*s = ahead
	return day, month, year, yes
}

// numericMonth reads 02/2031 or 2031-02.
func (s *scanner) numericMonth() (month, year int64, ok bool) {
	ahead := *s
	month, m := ahead.count()
	ok = ahead.char('/')
	year, y := ahead.count()
	if !ok {
		ahead = *s
		year, y = ahead.count()
		ok = ahead.char('-')
		month, m = ahead.count()
		ok = ok && m == 2
	}
	if !ok || m > 2 || y != 4 || month < 1 || month > 12 || year < firstYear || year > lastYear || !ahead.end() {
		return 0, 0, false
	}
	*s = ahead
	return month, year, true
}

// onlyYear reads a year alone: 2031.
func (s *scanner) onlyYear() (year int64, ok bool) {
	ahead := *s
	year, y := ahead.count()
	if y != 4 || !ahead.end() || year < firstYear || year > lastYear {
		return 0, false
	}
	*s = ahead
	return year, true
}

// dueIn reads a tenor, and options to extend it: 7yr, 5yr (5+1+1), 5+1+1, 5yr+1+1.
func (s *scanner) dueIn(r *Reading) (ok bool) {
	ahead := *s
	if r.Tenor, r.Extended, ok = ahead.extended(); ok {
		ahead.space()
		ahead.oneOf(yearWords...)
		*s = ahead
		return tenorBounds.contain(r.Tenor) && tenorBounds.contain(r.Extended)
	}
	r.Extended = Number{}
	if r.Tenor, ok = s.tenor(); !ok || !tenorBounds.contain(r.Tenor) {
		return false
	}
	ahead = *s
	ahead.space()
	if sum, found := ahead.timesOption(r.Tenor); found && tenorBounds.contain(sum) {
		*s, r.Extended = ahead, sum
	} else if ahead.char('(') {
		first, sum, found := ahead.extended()
		if !found {
			first = r.Tenor
			sum, found = ahead.options(r.Tenor)
		}
		if !found || first != r.Tenor || !ahead.char(')') || !tenorBounds.contain(sum) {
			return s.end()
		}
		*s, r.Extended = ahead, sum
	} else if sum, found := ahead.extensions(r.Tenor); found && tenorBounds.contain(sum) {
		*s, r.Extended = ahead, sum
	} else if sum, found := ahead.options(r.Tenor); found && tenorBounds.contain(sum) {
		ahead.space()
		ahead.oneOf("extension", "extensions", "ext", "ext.")
		*s, r.Extended = ahead, sum
	}
	return true
}

// timesOption reads options to extend a tenor as a product in parentheses: (2x1yr). It returns the sum.
func (s *scanner) timesOption(tenor Number) (sum Number, ok bool) {
	ahead := *s
	if !ahead.char('(') {
		return sum, false
	}
	n, count := ahead.count()
	ahead.space()
	times := ahead.has("x")
	ahead.space()
	option, ok := ahead.years()
	if !ok || !times || count != 1 || n < 1 || n > 3 || !ahead.char(')') {
		return sum, false
	}
	sum = tenor
	for range n {
		sum = sum.plus(option)
	}
	*s = ahead
	return sum, true
}

// extensions reads options to extend a tenor in words: with two 1yr extensions. It returns the sum.
func (s *scanner) extensions(tenor Number) (sum Number, ok bool) {
	ahead := *s
	if !ahead.oneOf("with", "plus", "+") {
		return sum, false
	}
	ahead.space()
	n := int64(0)
	for i, word := range []string{"one", "two", "three"} {
		if ahead.oneOf(word) {
			n = int64(i + 1)
		}
	}
	if n == 0 {
		n, _ = ahead.count()
	}
	ahead.space()
	if ahead.has("x") {
		ahead.space()
	}
	option, ok := ahead.years()
	if !ok && ahead.oneOf("one-year", "one year", "1-yr") {
		option, ok = whole(1), true
	}
	if !ok || n < 1 || n > 3 {
		return sum, false
	}
	ahead.space()
	if !ahead.oneOf("extension options", "extensions", "extension", "options", "option", "ext.", "ext") {
		return sum, false
	}
	sum = tenor
	for range n {
		sum = sum.plus(option)
	}
	*s = ahead
	return sum, true
}

// extended reads a tenor with options: 5+1+1. sum is the tenor with all of them.
func (s *scanner) extended() (tenor, sum Number, ok bool) {
	ahead := *s
	if tenor, ok = ahead.number(decimal); !ok {
		return tenor, sum, false
	}
	if sum, ok = ahead.options(tenor); ok {
		*s = ahead
	}
	return tenor, sum, ok
}

// options reads options to extend a tenor, +1+1, and returns the sum.
func (s *scanner) options(tenor Number) (sum Number, ok bool) {
	sum = tenor
	for {
		ahead := *s
		ahead.space()
		if !ahead.char('+') {
			return sum, ok
		}
		ahead.space()
		option, found := ahead.number(decimal)
		if !found {
			return sum, ok
		}
		ahead.oneOf(yearWords...)
		sum, ok = sum.plus(option), true
		*s = ahead
	}
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

// isoDay reads 2031-02-15 or 2031/02/15.
func (s *scanner) isoDay() (year, month, day int64, ok bool) {
	ahead := *s
	year, y := ahead.count()
	slash := ahead.char('/')
	dash1 := slash || ahead.char('-')
	month, m := ahead.count()
	dash2 := slash && ahead.char('/') || !slash && ahead.char('-')
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
	if d > 0 {
		ahead.oneOf("st", "nd", "rd", "th")
	}
	if d < 1 || d > 2 || !ahead.char(' ') && !ahead.char('-') {
		return 0, 0, 0, false
	}
	if month, year, ok = ahead.monthAndYear(); ok {
		*s = ahead
		return year, month, day, true
	}
	if month, ok = ahead.month(); !ok || !ahead.char(' ') { // 15 Jun 31: after a day, the number is a year
		return 0, 0, 0, false
	}
	year, y := ahead.count()
	if y != 2 {
		return 0, 0, 0, false
	}
	*s = ahead
	return year + century, month, day, true
}
