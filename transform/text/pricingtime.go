package text

const (
	secondsPerDay   = 86_400
	microsPerSecond = 1_000_000
	// maxOffset is the greatest offset of a clock from UTC, in seconds.
	maxOffset = 14 * 3600
)

// The first day of the year 1 and the last of 9999, in days since 1970-01-01. Many readers of the lake cannot represent
// instants outside.
const (
	firstDay = -719_162
	lastDay  = 2_932_896
)

// parsePricingTime reads a time of day with its offset, 14:35+01:00 or T14:35:00Z, and adds it to the date of another
// column. A time without an offset, or without a date, is AMBIGUOUS.
func parsePricingTime(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	s.char('T')
	seconds, ok := s.clock()
	offset, known, valid := s.offset()
	if !ok || !valid || !s.end() {
		r.Status = unread(text, no)
		return
	}
	if !known || !siblings.Dated {
		r.Status = statusAmbiguous
		return
	}
	instant := siblings.Day*secondsPerDay + seconds - offset
	if instant < firstDay*secondsPerDay || instant >= (lastDay+1)*secondsPerDay {
		r.Status = statusUnparsed
		return
	}
	r.Instant, r.Status = Integer{instant * microsPerSecond, true}, statusOK
}

// clock reads hh:mm or hh:mm:ss as seconds since midnight.
func (s *scanner) clock() (seconds int64, ok bool) {
	hour, minute, ok := s.hourAndMinute()
	if !ok || hour > 23 {
		return 0, false
	}
	second, n := int64(0), 2
	if s.char(':') {
		second, n = s.count()
	}
	return hour*3600 + minute*60 + second, n == 2 && second <= 59
}

// hourAndMinute reads hh:mm.
func (s *scanner) hourAndMinute() (hour, minute int64, ok bool) {
	hour, h := s.count()
	colon := s.char(':')
	minute, m := s.count()
	return hour, minute, h == 2 && colon && m == 2 && minute <= 59
}

// offset reads Z or ±hh:mm as seconds east of UTC. known is false if the text has ended. ok is false if anything else
// is next.
func (s *scanner) offset() (seconds int64, known, ok bool) {
	switch {
	case s.end():
		return 0, false, true
	case s.char('Z'):
		return 0, true, true
	}
	west, found := s.sign()
	hour, minute, ok := s.hourAndMinute()
	if seconds = hour*3600 + minute*60; seconds > maxOffset {
		ok = false
	}
	if west {
		seconds = -seconds
	}
	return seconds, true, found && ok
}
