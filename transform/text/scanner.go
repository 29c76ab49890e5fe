package text

// scanner reads a normalised text from the left. It is a value: a copy tries a reading, and is
// dropped where that fails.
type scanner struct{ rest []byte }

func (s *scanner) end() bool { return len(s.rest) == 0 }

// space passes over a space, if there is one.
func (s *scanner) space() {
	if len(s.rest) > 0 && s.rest[0] == ' ' {
		s.rest = s.rest[1:]
	}
}

// char passes over a character, if it is next.
func (s *scanner) char(c byte) bool {
	if len(s.rest) > 0 && s.rest[0] == c {
		s.rest = s.rest[1:]
		return true
	}
	return false
}

// has passes over a phrase in lower case, if it is next in any case. Letters or digits may follow.
func (s *scanner) has(phrase string) bool {
	if !begins(s.rest, phrase) {
		return false
	}
	s.rest = s.rest[len(phrase):]
	return true
}

// begins says whether a text begins with a phrase in lower case, in any case.
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

// word passes over a phrase in lower case that no letter or digit follows.
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

// oneOf passes over the first of the phrases that is next as a word. Most texts begin with none of
// their letters.
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

// noted is like oneOf for a remark behind something else: a space may stand before it, and it may
// stand in parentheses.
func (s *scanner) noted(phrases ...string) bool {
	ahead := *s
	ahead.space()
	inside := ahead.char('(')
	if !ahead.oneOf(phrases...) || inside && !ahead.char(')') {
		return false
	}
	*s = ahead
	return true
}

// letters passes over the letters that are next and returns them.
func (s *scanner) letters() []byte {
	n := 0
	for n < len(s.rest) && isLetter(s.rest[n]) {
		n++
	}
	found := s.rest[:n]
	s.rest = s.rest[n:]
	return found
}

// maxWord is more than the longest word that a table of words has.
const maxWord = 16

// fold writes a word in lower case into a buffer; it returns nothing for one that is too long.
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
