package text

import (
	"unicode"
	"unicode/utf8"
)

// Normalise trims a text and replaces each run of white space by one space, each dash or minus sign by "-", ± by "+/-",
// ½ by " 1/2" after a digit and by 0.5 otherwise, × by "x", an arrow by "->", and a curly apostrophe by a straight one. It drops
// square brackets, which desks write around what is indicative, characters without a width (except a soft hyphen, which may be a
// dash), a space inside parentheses, a full stop at the end, after a word, and marks of exclamation there. Case does not change,
// except of letters with marks that are in words. If the text needs no rewriting, the result is a part of raw; otherwise it is appended to arena, and
// grown is the longer arena. Normalising twice changes nothing.
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
		case hasNoWidth(c) && !joinsDigits(arena[start:], raw[size:]):
		default:
			if n := len(arena); n > start && arena[n-1] == '(' || c == ')' {
				pending = false
			}
			fraction := fractionOf(c)
			if n := len(arena); fraction != "" && (n == start || !isDigit(arena[n-1])) { // ½bp
				fraction = decimalOf(fraction)
			}
			if n := len(arena); pending || fraction != "" && n > start && isDigit(arena[n-1]) {
				arena = append(arena, ' ')
				pending = false
			}
			if arena = append(arena, fraction...); fraction == "" {
				arena = appendUnified(arena, c, raw[:size])
			}
		}
		raw = raw[size:]
	}
	return withoutStop(arena[start:len(arena):len(arena)]), arena
}

// hasNoWidth reports whether a character only formats others: a zero-width space, a byte order mark, a mark of direction.
func hasNoWidth(c rune) bool { return c != '\u00ad' && unicode.Is(unicode.Cf, c) }

// joinsDigits reports whether two digits would become one number without what is between them.
func joinsDigits(before, after []byte) bool {
	return len(before) > 0 && len(after) > 0 && isDigit(before[len(before)-1]) && isDigit(after[0])
}

// withoutStop drops a full stop at the end of a text. After a digit it stays: the number may have been cut off there.
func withoutStop(text []byte) []byte {
	for len(text) > 1 && text[len(text)-1] == '!' {
		text = text[:len(text)-1]
	}
	n := len(text)
	if n < 2 || text[n-1] != '.' {
		return text
	}
	if before := text[n-2]; isLetter(before) || before == '%' || before == ')' {
		return text[:n-1]
	}
	return text
}

// fractionOf returns a character that is a fraction as digits: 1/2 for ½; "" for another character.
func fractionOf(c rune) string {
	switch c {
	case '½':
		return "1/2"
	case '¼':
		return "1/4"
	case '¾':
		return "3/4"
	case '⅛':
		return "1/8"
	case '⅜':
		return "3/8"
	case '⅝':
		return "5/8"
	case '⅞':
		return "7/8"
	}
	return ""
}

// decimalOf returns a fraction of fractionOf with a point: 0.5 for 1/2.
func decimalOf(fraction string) string {
	switch fraction {
	case "1/2":
		return "0.5"
	case "1/4":
		return "0.25"
	case "3/4":
		return "0.75"
	case "1/8":
		return "0.125"
	case "3/8":
		return "0.375"
	case "5/8":
		return "0.625"
	}
	return "0.875"
}

// isPlain reports whether a text is already normal: ASCII without square brackets, with single spaces only.
func isPlain(text []byte) bool {
	open := false
	space := true // as if a space came before the text: the text must not begin with one
	for _, c := range text {
		if c >= utf8.RuneSelf || c == '[' || c == ']' || '\t' <= c && c <= '\r' || c == ' ' && (space || open) || c == ')' && space {
			return false
		}
		open = c == '('
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
	case '\u2192', '\u21d2', '\u2794', '\u279c':
		return append(arena, "->"...)
	case 'Ä', 'Ö', 'Ü', 'À', 'Á', 'Å', 'É', 'Ñ', 'Ó': // words with them are compared byte by byte
		return utf8.AppendRune(arena, unicode.ToLower(c))
	case '\u2018', '\u2019':
		return append(arena, '\'')
	}
	return append(arena, raw...)
}
