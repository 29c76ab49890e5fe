package text

import (
	"unicode"
	"unicode/utf8"
)

// Normalise trims a text and replaces each run of white space by one space, each dash or minus sign by "-", ± by "+/-",
// ½ by " 1/2", × by "x", and a curly apostrophe by a straight one. It drops square brackets, which desks write around what is
// indicative, and a full stop at the end, after a word. Case does not change. If the text needs no rewriting, the result is a part of raw; otherwise it is appended to
// arena, and grown is the longer arena. Normalising twice changes nothing.
func Normalise(arena, raw []byte) (text, grown []byte) {
	if isPlain(raw) {
		return withoutStop(raw), arena
	}
	start := len(arena)
	pending := false // a space is due before the next character
	for len(raw) > 0 {
		c, size := utf8.DecodeRune(raw)
		switch {
		case unicode.IsSpace(c):
			pending = len(arena) > start
		case c == '[' || c == ']':
		default:
			if n := len(arena); fractions[c] != "" && n > start && isDigit(arena[n-1]) {
				pending = true
			}
			if pending {
				arena = append(arena, ' ')
				pending = false
			}
			arena = appendUnified(arena, c, raw[:size])
		}
		raw = raw[size:]
	}
	return withoutStop(arena[start:len(arena):len(arena)]), arena
}

// withoutStop drops a full stop at the end of a text. After a digit it stays: the number may have been cut off there.
func withoutStop(text []byte) []byte {
	n := len(text)
	if n < 2 || text[n-1] != '.' {
		return text
	}
	if before := text[n-2]; isLetter(before) || before == '%' || before == ')' {
		return text[:n-1]
	}
	return text
}

// fractions are characters that are a fraction.
var fractions = map[rune]string{'½': "1/2", '¼': "1/4", '¾': "3/4", '⅛': "1/8", '⅜': "3/8", '⅝': "5/8", '⅞': "7/8"}

// isPlain reports whether a text is already normal: ASCII without square brackets, with single spaces only.
func isPlain(text []byte) bool {
	space := true // as if a space came before the text: the text must not begin with one
	for _, c := range text {
		if c >= utf8.RuneSelf || c == '[' || c == ']' || '\t' <= c && c <= '\r' || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return !space || len(text) == 0
}

// appendUnified appends a character in its common form. raw is the character as written.
func appendUnified(arena []byte, c rune, raw []byte) []byte {
	switch c {
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212', '\ufe58', '\ufe63', '\uff0d':
		return append(arena, '-')
	case '±':
		return append(arena, "+/-"...)
	case '×':
		return append(arena, 'x')
	case '\u2018', '\u2019':
		return append(arena, '\'')
	}
	if written := fractions[c]; written != "" {
		return append(arena, written...)
	}
	return append(arena, raw...)
}
