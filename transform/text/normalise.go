package text

import (
	"unicode"
	"unicode/utf8"
)

// Normalise trims a text, makes one space of every run of white space, and writes every dash and minus
// sign as "-" and ± as "+/-". A text that needs no rewriting is returned as the part of raw that it
// is; any other is appended to arena. Case stays. Normalising twice changes nothing.
func Normalise(arena, raw []byte) (text, grown []byte) {
	if isPlain(raw) {
		return raw, arena
	}
	start := len(arena)
	pending := false // a space before the next character
	for len(raw) > 0 {
		c, size := utf8.DecodeRune(raw)
		if unicode.IsSpace(c) {
			pending = len(arena) > start
		} else {
			if pending {
				arena = append(arena, ' ')
				pending = false
			}
			arena = appendUnified(arena, c, raw[:size])
		}
		raw = raw[size:]
	}
	return arena[start:len(arena):len(arena)], arena
}

// isPlain says whether a text is normal already: ASCII without odd spaces.
func isPlain(text []byte) bool {
	space := true // before the text: none may begin it
	for _, c := range text {
		if c >= utf8.RuneSelf || '\t' <= c && c <= '\r' || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return !space || len(text) == 0
}

// appendUnified appends a character in its common form; as is what stands in the text for it.
func appendUnified(arena []byte, c rune, as []byte) []byte {
	switch c {
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212', '\ufe58', '\ufe63', '\uff0d':
		return append(arena, '-')
	case '±':
		return append(arena, "+/-"...)
	}
	return append(arena, as...)
}
