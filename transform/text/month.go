package text

// monthNames are the months in calendar order: the first three letters and the full name.
var monthNames = [12][2]string{
	{"jan", "january"}, {"feb", "february"}, {"mar", "march"}, {"apr", "april"}, {"may", "may"}, {"jun", "june"},
	{"jul", "july"}, {"aug", "august"}, {"sep", "september"}, {"oct", "october"}, {"nov", "november"}, {"dec", "december"},
}

// germanMonths are the names of months that differ in German.
var germanMonths = map[string]int64{"januar": 1, "februar": 2, "märz": 3, "mai": 5, "juni": 6, "juli": 7, "oktober": 10, "okt": 10, "dezember": 12, "dez": 12}

// month reads the name of a month: its full name or the first three letters.
func (s *scanner) month() (month int64, ok bool) {
	ahead := *s
	var buffer [maxWord]byte
	word := fold(&buffer, ahead.letters())
	for i, names := range monthNames {
		if string(word) == names[0] || string(word) == names[1] || i == 8 && string(word) == "sept" {
			*s = ahead
			return int64(i + 1), true
		}
	}
	if number, ok := germanMonths[string(word)]; ok {
		*s = ahead
		return number, true
	}
	return 0, false
}

// monthAndYear reads Feb-31, Feb31, Feb '31, Feb-2031, Feb 2031 or February 2031. A year of two digits needs a dash, an
// apostrophe or no space before it: in Feb 31 they may be a day.
func (s *scanner) monthAndYear() (month, year int64, ok bool) {
	ahead := *s
	month, ok = ahead.month()
	if !ok {
		return 0, 0, false
	}
	dash := ahead.char('-') || len(ahead.rest) > 0 && isDigit(ahead.rest[0])
	if !dash && !ahead.char(' ') {
		return 0, 0, false
	}
	short := ahead.char('\'') || dash
	year, count := ahead.count()
	switch {
	case count == 2 && short:
		year += century
	case count != 4:
		return 0, 0, false
	}
	if year < firstYear || year > lastYear {
		return 0, 0, false
	}
	*s = ahead
	return month, year, true
}

// count reads up to nine digits as an integer, and returns the number of digits too.
func (s *scanner) count() (n int64, digits int) {
	for digits < 9 && len(s.rest) > 0 && isDigit(s.rest[0]) {
		n = n*10 + int64(s.rest[0]-'0')
		s.rest = s.rest[1:]
		digits++
	}
	return n, digits
}
