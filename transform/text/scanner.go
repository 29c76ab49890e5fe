package text

// scanner reads a normalised text from the left. It is a value: to try a reading, a parser works on a copy and drops it
// if the reading fails.
type scanner struct{ rest []byte }

func (s *scanner) end() bool { return len(s.rest) == 0 }

// space skips one space, if it is next.
func (s *scanner) space() {
	if len(s.rest) > 0 && s.rest[0] == ' ' {
		s.rest = s.rest[1:]
	}
}

// char skips a character, if it is next.
func (s *scanner) char(c byte) bool {
	if len(s.rest) > 0 && s.rest[0] == c {
		s.rest = s.rest[1:]
		return true
	}
	return false
}

// has skips a phrase, given in lower case, if it is next in any case. Letters or digits may follow.
func (s *scanner) has(phrase string) bool {
	if !begins(s.rest, phrase) {
		return false
	}
	s.rest = s.rest[len(phrase):]
	return true
}

// begins reports whether a text begins with a phrase, given in lower case, in any case.
func begins(text []byte, phrase string) bool {
	if len(text) < len(phrase) {
		return false
	}
	for i := range len(phrase) {
		if lower(text[i]) != phrase[i] {
			return false
		}
	}
	return true
}

// word skips a phrase, given in lower case, if it is next in any case and no letter or digit follows.
func (s *scanner) word(phrase string) bool {
	if !begins(s.rest, phrase) {
		return false
	}
	if rest := s.rest[len(phrase):]; len(rest) == 0 || !isLetter(rest[0]) && !isDigit(rest[0]) {
		s.rest = rest
		return true
	}
	return false
}

// oneOf skips the first of the phrases that is next as a word. It compares first letters before phrases, because most
// texts begin with none of them.
func (s *scanner) oneOf(phrases ...string) bool {
	if s.end() {
		return false
	}
	first := lower(s.rest[0])
	for _, phrase := range phrases {
		if phrase[0] == first && s.word(phrase) {
			return true
		}
	}
	return false
}

// noted is oneOf for a remark after other text: the remark may follow a comma, a space, and may be in parentheses.
func (s *scanner) noted(phrases ...string) bool {
	ahead := *s
	ahead.char(',')
	ahead.space()
	inside := ahead.char('(')
	if !ahead.oneOf(phrases...) || inside && !ahead.char(')') {
		return false
	}
	*s = ahead
	return true
}

// remarkList reads any number of remarks after other text. They may follow commas and spaces, and may be in parentheses,
// several in one pair.
type remarkList struct{ open bool }

// next skips what is before a remark.
func (l *remarkList) next(s scanner) (ahead scanner, inside bool) {
	if spaced := s; spaced.has(" ,") || spaced.has(" ;") || spaced.has(" |") || spaced.has(" - ") {
		s = spaced
	} else if !s.char(',') && !s.char(';') {
		s.char('|')
	}
	s.space()
	return s, l.open || s.char('(')
}

// take moves s to the end of a remark that was read.
func (l *remarkList) take(s *scanner, ahead scanner, inside bool) {
	l.open = inside && !ahead.char(')')
	*s = ahead
}

// letters skips the next letters and returns them.
func (s *scanner) letters() []byte {
	n := 0
	for n < len(s.rest) && isLetter(s.rest[n]) {
		n++
	}
	found := s.rest[:n]
	s.rest = s.rest[n:]
	return found
}

// maxWord is greater than the length of the longest word in the tables of words.
const maxWord = 16

// fold writes a word in lower case into a buffer. It returns nil if the word is too long.
func fold(buffer *[maxWord]byte, word []byte) []byte {
	if len(word) > maxWord {
		return nil
	}
	for i, c := range word {
		buffer[i] = lower(c)
	}
	return buffer[:len(word)]
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isLetter(c byte) bool { return 'a' <= lower(c) && lower(c) <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
