package text

import "time"

// parseMaturity reads when a loan is due, 2031-02-15, 15 Feb 2031, Feb-31, Feb 2031, 2031, Q2 2031, A&E to 2030, or in how many
// years, 7yr, 84 months, 364-day, 5yr (5+1+1), 12m + 6m + 6m. Of a quarter or a half only the year is kept.
func parseMaturity(text []byte, _ Siblings, r *Reading) {
	s := scanner{text}
	if s.maturity(r) && s.end() {
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

// The words around a maturity. They have no columns.
var (
	dueWords       = []string{"bullet", "tlb", "tla", "rcf", "term loan", "mat.", "mat", "due in", "due on", "due", "maturing in", "maturing on", "maturing", "matures in", "matures on", "matures", "final maturity", "maturity date", "maturity of", "maturity", "tenor of", "tenor", "laufzeit", "fällig"}
	amendWords     = []string{"a&e", "amend & extend", "amend and extend", "amended & extended", "amended and extended", "maturity extended", "extended", "extension"}
	finalWords     = []string{"d2d", "door-to-door", "door to door", "final maturity", "legal final", "legal maturity", "final", "maturity", "bullet", "amortising", "amortizing", "tenor"}
	lifeWords      = []string{"weighted average life", "average life", "avg. life", "avg life", "av. life", "av life", "wal", "w.a.l.", "al"}
	startWords     = []string{"from closing", "from close", "from signing", "from issuance", "from issue", "from drawdown", "from funding", "from completion", "from the closing date", "from closing date", "after closing", "after signing", "post closing", "post-closing"}
	extensionWords = []string{"extension options", "extension option", "extensions", "extension", "options", "option", "ext. options", "ext. option", "ext options", "ext option", "ext.", "ext"}
)

// maturity reads a day, a month, a year or a tenor, and the words around it.
func (s *scanner) maturity(r *Reading) bool {
	switch amended, ok := s.amended(); {
	case amended && !ok, amended && !s.dueAt(r):
		return false
	case !amended:
		if s.oneOf(dueWords...) {
			s.char(':')
			s.space()
		}
		if !s.dueAt(r) && !s.dueIn(r) {
			return false
		}
	}
	var list remarkList
	for !s.end() {
		separated := s.rest[0] != ' '
		ahead, inside := list.next(*s)
		if ahead.char('/') {
			ahead.space()
			separated = true
		}
		switch {
		case (separated || inside) && (ahead.dueToo(r) || ahead.namedOptions(r)):
		case ahead.oneOf(finalWords...), (separated || inside) && ahead.life(r), r.Tenor.Set && ahead.oneOf(startWords...),
			ahead.springing(), ahead.dueBefore(r), (separated || inside) && ahead.calledFrom(r), inside && ahead.callTerms(), inside && (ahead.tenorToo(r) || ahead.yearToo(r)):
		default:
			return false
		}
		list.take(s, ahead, inside)
	}
	return !list.open
}

// amended skips the words of an extension before the new date: A&E to, extended from 2027 to. ok is false if the new date does
// not follow.
func (s *scanner) amended() (found, ok bool) {
	if !s.oneOf(amendWords...) {
		return false, false
	}
	s.space()
	if s.oneOf("from") {
		s.space()
		var before, after Reading
		if !s.dueAt(&before) {
			return true, false
		}
		s.space()
		ahead := *s
		if !ahead.oneOf("to", "until") || !ahead.char(' ') || !ahead.dueAt(&after) || after.isDueBefore(&before) {
			return true, false
		}
	}
	ok = s.oneOf("to", "until")
	s.space()
	return true, ok
}

// dueBefore skips the date before this one: extended from 2027.
func (s *scanner) dueBefore(r *Reading) bool {
	ahead := *s
	if !ahead.oneOf("extended from", "from", "was") || !ahead.char(' ') {
		return false
	}
	var before Reading
	return r.Year.Set && ahead.dueAt(&before) && !r.isDueBefore(&before) && s.skipTo(ahead)
}

// calledFrom skips from when the borrower may repay a loan or a bond, which is before it is due: call Mar-28.
func (s *scanner) calledFrom(r *Reading) bool {
	ahead := *s
	if !ahead.oneOf("first call", "1st call", "par call", "callable", "call date", "call", "non-call", "noncall", "nc") {
		return false
	}
	ahead.char(':')
	ahead.space()
	if ahead.oneOf("from", "in", "on") {
		ahead.space()
	}
	var call Reading
	return r.Year.Set && ahead.dueAt(&call) && call.isDueBefore(r) && s.skipTo(ahead)
}

// isDueBefore reports whether a date is before another, as far as both are known.
func (r *Reading) isDueBefore(other *Reading) bool {
	return r.Year.Value < other.Year.Value ||
		r.Year == other.Year && r.Month.Set && other.Month.Set && r.Month.Value < other.Month.Value
}

// tenorToo reads the tenor after a date: 2032 (7yr).
func (s *scanner) tenorToo(r *Reading) bool {
	ahead := *s
	tenor, ok := ahead.tenor()
	if !ok || r.Tenor.Set || !tenorBounds.contain(tenor) {
		return false
	}
	r.Tenor = tenor
	return s.skipTo(ahead)
}

// yearToo reads the year after a tenor, perhaps with its month: 7yr (2031), 7yr (Feb-32).
func (s *scanner) yearToo(r *Reading) bool {
	ahead := *s
	if month, year, ok := ahead.monthAndYear(); ok && !r.Year.Set && firstYear <= year && year <= lastYear {
		r.Year, r.Month = Integer{year, true}, Integer{month, true}
		return s.skipTo(ahead)
	}
	year, digits := ahead.count()
	if digits != 4 || year < firstYear || year > lastYear || r.Year.Set { // 7yr (Q2 2026): the quarter of the launch?
		return false
	}
	r.Year = Integer{year, true}
	return s.skipTo(ahead)
}

// dueToo reads the date after a tenor, or the tenor after a date: 7yr, due 2032; 2032, tenor 7yr. If the text has given it before, it is the same.
func (s *scanner) dueToo(r *Reading) bool {
	ahead := *s
	if !ahead.oneOf("due in", "due", "maturing", "maturity", "tenor", "mat.", "mat") {
		return false
	}
	ahead.char(':')
	ahead.space()
	var due Reading
	if !ahead.dueAt(&due) {
		tenor, ok := ahead.tenor()
		if !ok || !tenorBounds.contain(tenor) || r.Tenor.Set && r.Tenor != tenor {
			return false
		}
		r.Tenor = tenor
		return s.skipTo(ahead)
	}
	switch {
	case !r.Year.Set:
		r.Date, r.Year, r.Month = due.Date, due.Year, due.Month
	case due.Year != r.Year, due.Month.Set && r.Month.Set && due.Month != r.Month, due.Date.Set && r.Date.Set && due.Date != r.Date:
		return false
	}
	return s.skipTo(ahead)
}

// namedOptions reads options to extend after their word: extension options 1+1. One number without a unit may be how many there are.
func (s *scanner) namedOptions(r *Reading) bool {
	ahead := *s
	if !r.Tenor.Set || r.Extended.Set || !ahead.oneOf(extensionWords...) {
		return false
	}
	ahead.char(':')
	ahead.space()
	ahead.oneOf("of")
	ahead.char('+')
	ahead.space()
	first, in, ok := ahead.duration()
	if in == unnamed {
		first, ok = ahead.number(decimal)
		ok = ok && !whole(2).less(first) // 6+6: months
	}
	if !ok || mostOption.less(first) {
		return false
	}
	sum, several := ahead.options(r.Tenor.plus(first), in)
	if !several && in == unnamed || !tenorBounds.contain(sum) {
		return false
	}
	r.Extended = sum
	return s.skipTo(ahead)
}

// life skips the average life, which has no column: 8yr avg life, WAL 9yr. It is not more than the tenor.
func (s *scanner) life(r *Reading) bool {
	ahead := *s
	named := ahead.oneOf(lifeWords...)
	if named {
		ahead.char(':')
		ahead.space()
		ahead.oneOf("of")
		ahead.space()
	}
	life, ok := ahead.tenor()
	if !ok && named {
		life, ok = ahead.number(decimal)
		ok = ok && !ahead.callNext()
	}
	if !ok || r.Tenor.Set && r.Tenor.less(life) {
		return false
	}
	ahead.space()
	return (named || ahead.oneOf(lifeWords...)) && s.skipTo(ahead)
}

// springing skips that the loan is due earlier if other debt is not repaid: springing 91 days inside notes.
func (s *scanner) springing() bool {
	ahead := *s
	if !ahead.oneOf("springing", "springs") {
		return false
	}
	for !ahead.end() && ahead.rest[0] != ')' && ahead.rest[0] != ',' && ahead.rest[0] != ';' {
		ahead.rest = ahead.rest[1:]
	}
	return s.skipTo(ahead)
}

// dueAt reads a day, a month or a year. It tries the longer form first.
func (s *scanner) dueAt(r *Reading) (ok bool) {
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
	if year, ok = s.onlyYear(); ok {
		r.Year = Integer{year, true}
	}
	return ok
}

// apart reports whether a number ends here: the text ends, or a separate word follows.
func (s *scanner) apart() bool {
	return s.end() || s.rest[0] == ' ' || s.rest[0] == ',' || s.rest[0] == ';' || s.rest[0] == ')'
}

// monthDay reads June 15, 2030.
func (s *scanner) monthDay() (year, month, day int64, ok bool) {
	ahead := *s
	month, ok = ahead.month()
	if !ok || !ahead.char(' ') {
		return 0, 0, 0, false
	}
	day, d := ahead.count()
	ahead.oneOf("st", "nd", "rd", "th")
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
	dash := !point && ahead.char('-')
	first := point || dash || ahead.char('/')
	month, m := ahead.count()
	second := point && ahead.char('.') || dash && ahead.char('-') || !point && !dash && ahead.char('/')
	year, y := ahead.count()
	if !first || !second || d == 0 || d > 2 || m == 0 || m > 2 || y != 4 && (y != 2 || dash) {
		return 0, 0, 0, no
	}
	if y == 2 {
		if !point && 12 < day && day >= leastShortYear && year <= 31 && month <= 12 { // 28/09/29: is it the year that comes first?
			return 0, 0, 0, ambiguous
		}
		year += century
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

// leastShortYear is the least number of two digits that may be the year before a month and a day.
const leastShortYear = 25

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
	if !ok || m > 2 || y != 4 || month < 1 || month > 12 || year < firstYear || year > lastYear || !ahead.apart() {
		return 0, 0, false
	}
	*s = ahead
	return month, year, true
}

// The words for a part of a year. A year of two digits may follow a quarter or a half: 2Q31.
var (
	quarterWords = []string{"q1", "q2", "q3", "q4", "1q", "2q", "3q", "4q", "h1", "h2", "1h", "2h"}
	partOfYear   = []string{"early", "mid", "late", "ende", "mitte", "anfang", "end of", "end", "year-end", "year end", "ye"}
)

// onlyYear reads a year alone, or with the part of it: 2031, '31, Q2 2031, 2Q31, end-2031.
func (s *scanner) onlyYear() (year int64, ok bool) {
	ahead := *s
	short := ahead.hasAny(quarterWords)
	if short || ahead.oneOf(partOfYear...) {
		if !ahead.char('-') && !ahead.char('/') {
			ahead.space()
		}
	}
	short = ahead.char('\'') || short
	year, digits := ahead.count()
	if digits == 2 && short {
		year += century
	} else if digits != 4 {
		return 0, false
	}
	if !ahead.apart() || year < firstYear || year > lastYear {
		return 0, false
	}
	*s = ahead
	return year, true
}

// hasAny skips the first of the phrases that is next. Letters or digits may follow it.
func (s *scanner) hasAny(phrases []string) bool {
	for _, phrase := range phrases {
		if s.has(phrase) {
			return true
		}
	}
	return false
}

// dueIn reads a tenor, and options to extend it: 7yr, 5yr (5+1+1), 5+1+1, 5yr+1+1, 12m + 6m, 3yr with two 1yr extensions.
func (s *scanner) dueIn(r *Reading) (ok bool) {
	if s.oneOf("long") {
		r.Length = lengthLong
	} else if s.oneOf("short") {
		r.Length = lengthShort
	}
	s.space()
	ahead := *s
	if r.Tenor, r.Extended, ok = ahead.extended(); ok {
		ahead.space()
		named := ahead.oneOf(yearWords...)
		*s = ahead
		return (named || !mostBareTenor.less(r.Tenor)) && tenorBounds.contain(r.Tenor) && tenorBounds.contain(r.Extended)
	}
	r.Extended = Number{}
	tenor, in, ok := s.duration()
	if r.Tenor = tenor; !ok || !tenorBounds.contain(tenor) {
		return false
	}
	ahead = *s
	ahead.char(',')
	ahead.space()
	inside := ahead.char('(')
	sum, found := ahead.extensions(tenor)
	if !found {
		sum, found = ahead.options(tenor, in)
	}
	if !found && inside {
		var first Number
		first, sum, found = ahead.extended()
		found = found && first == tenor && in == inYears
	}
	if ahead.space(); found {
		ahead.oneOf(extensionWords...)
	}
	if found && (!inside || ahead.char(')')) && tenorBounds.contain(sum) {
		*s, r.Extended = ahead, sum
	}
	return true
}

// mostBareTenor is the greatest number of years without a unit before options: 12+6+6 is in months.
var mostBareTenor = whole(10)

// extensions reads options to extend a tenor, in words or as a product: with two 1yr extensions, + 1yr extension option, 2x1yr.
// It returns the sum.
func (s *scanner) extensions(tenor Number) (sum Number, ok bool) {
	ahead := *s
	if ahead.oneOf("with", "w/", "plus", "and") || ahead.char('+') {
		ahead.space()
	}
	ahead.oneOf("a", "an")
	ahead.space()
	n, times := whole(1), false
	option, ok := ahead.tenor()
	if !ok {
		if n, ok = ahead.spelled(); !ok {
			n, ok = ahead.number(decimal)
		}
		ahead.space()
		if times = ahead.has("x"); times {
			ahead.space()
		}
		if !ok || n != whole(1) && n != whole(2) && n != whole(3) {
			return sum, false
		}
		option, ok = ahead.tenor()
	}
	ahead.space()
	if !ok || !ahead.oneOf(extensionWords...) && !times {
		return sum, false
	}
	for sum = tenor; !n.isZero(); n = n.minus(whole(1)) {
		sum = sum.plus(option)
	}
	return sum, s.skipTo(ahead)
}

// extended reads a tenor with options, in years: 5+1+1. sum is the tenor with all of them.
func (s *scanner) extended() (tenor, sum Number, ok bool) {
	ahead := *s
	if tenor, ok = ahead.number(decimal); !ok {
		return tenor, sum, false
	}
	if sum, ok = ahead.options(tenor, unnamed); ok {
		*s = ahead
	}
	return tenor, sum, ok
}

// mostOption is the longest option to extend a tenor, in years.
var mostOption = whole(3)

// options reads options to extend a tenor, +1+1, and returns the sum. Each has the unit of the tenor. It may be left out after
// years, and without a unit all are years.
func (s *scanner) options(tenor Number, in timeUnit) (sum Number, ok bool) {
	sum = tenor
	for {
		ahead := *s
		ahead.space()
		if !ahead.char('+') {
			return sum, ok
		}
		ahead.space()
		option, unit, found := ahead.duration()
		if !found && in != inMonths && in != inDays {
			option, found = ahead.number(decimal)
			found = found && !whole(2).less(option) // 1yr+6+6: months
		}
		if !found || unit == inMonths && in == unnamed || mostOption.less(option) || sum.less(option) && whole(1).less(option) { // 5yr + 7yr, 2yr + 3yr: two tranches
			return sum, ok
		}
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
	if d > 0 && !ahead.char('.') {
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
