package instant

// Date reads YYYY-MM-DD as days since 1970-01-01. It accepts the days of the Gregorian calendar in the years 1 to 9999.
func Date(text []byte) (int32, bool) {
	if len(text) != 10 || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	year, ok1 := digits(text[0:4])
	month, ok2 := digits(text[5:7])
	day, ok3 := digits(text[8:10])
	if !ok1 || !ok2 || !ok3 || year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	return int32(daysSinceEpoch(year, month, day)), true
}

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
)

// Many readers of the lake cannot represent instants outside the years 1 to 9999.
var (
	minInstant = int64(daysSinceEpoch(1, 1, 1)) * microsPerDay
	maxInstant = int64(daysSinceEpoch(9999, 12, 31)+1)*microsPerDay - 1
)

// Timestamp reads YYYY-MM-DDThh:mm:ss, an optional fraction, and Z or ±hh:mm. It returns microseconds since
// 1970-01-01T00:00:00Z; further digits are cut off. exact reports that none of these was other than 0.
func Timestamp(text []byte) (micros int64, exact, ok bool) {
	if len(text) < 20 || text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return 0, false, false
	}
	days, ok := Date(text[:10])
	hour, ok1 := digits(text[11:13])
	minute, ok2 := digits(text[14:16])
	second, ok3 := digits(text[17:19])
	if !ok || !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 59 {
		return 0, false, false
	}
	micros, exact, rest, ok := fraction(text[19:])
	if !ok {
		return 0, false, false
	}
	offset, ok := zone(rest)
	if !ok {
		return 0, false, false
	}
	t := int64(days)*microsPerDay + int64(hour*3600+minute*60+second-offset)*microsPerSecond + micros
	return t, exact, t >= minInstant && t <= maxInstant
}

// fraction reads an optional ".digits" and returns microseconds and the rest of the text. exact reports that no digit
// after the sixth is other than 0.
func fraction(text []byte) (micros int64, exact bool, rest []byte, ok bool) {
	if text[0] != '.' {
		return 0, true, text, true
	}
	i := 1
	exact = true
	unit := int64(microsPerSecond / 10)
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		micros += int64(text[i]-'0') * unit
		exact = exact && (unit > 0 || text[i] == '0')
		unit /= 10
	}
	return micros, exact, text[i:], i > 1
}

// zone reads Z or ±hh:mm as seconds east of UTC.
func zone(text []byte) (seconds int, ok bool) {
	if len(text) == 1 && text[0] == 'Z' {
		return 0, true
	}
	if len(text) != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':' {
		return 0, false
	}
	hour, ok1 := digits(text[1:3])
	minute, ok2 := digits(text[4:6])
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return 0, false
	}
	seconds = hour*3600 + minute*60
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// digits reads a text of decimal digits only.
func digits(text []byte) (int, bool) {
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(text) > 0
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysSinceEpoch returns days since 1970-01-01 in the Gregorian calendar. It counts years from March, so that the leap
// day is the last day of a year.
func daysSinceEpoch(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return 365*year + year/4 - year/100 + year/400 + dayOfYear - 719_468
}
