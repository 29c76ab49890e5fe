package jsonread

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns the string read last, a name or a value, unescaped. Without escape sequences the result is a part of the
// text; otherwise it is appended to arena, and grown is the longer arena. Lone surrogates become U+FFFD; whole reports
// that there was none.
func (r *Reader) Text(arena []byte) (text, grown []byte, whole bool) {
	inside := r.text[r.last.start+1 : r.last.end-1 : r.last.end-1]
	if !r.last.escaped {
		return inside, arena, true
	}
	start := len(arena)
	grown, whole = appendUnescaped(arena, inside)
	return grown[start:len(grown):len(grown)], grown, whole
}

// Plain reports whether the string read last has no escape sequence.
func (r *Reader) Plain() bool { return !r.last.escaped }

// appendUnescaped appends the inside of a valid string, unescaped.
func appendUnescaped(to, inside []byte) (grown []byte, whole bool) {
	whole = true
	for {
		next := bytes.IndexByte(inside, '\\')
		if next < 0 {
			return append(to, inside...), whole
		}
		to = append(to, inside[:next]...)
		inside = inside[next:]
		if inside[1] != 'u' {
			to = append(to, unescaped(inside[1]))
			inside = inside[2:]
			continue
		}
		c := unit(inside)
		inside = inside[6:]
		if utf16.IsSurrogate(c) {
			c = utf16.DecodeRune(c, unit(inside))
			if c == utf8.RuneError {
				whole = false
			} else {
				inside = inside[6:]
			}
		}
		to = utf8.AppendRune(to, c)
	}
}

// unescaped returns the character for the letter after a backslash.
func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// unit returns the UTF-16 unit of the sequence \uXXXX at the start of a text. For any other text it returns 0, which
// completes no surrogate pair.
func unit(text []byte) (c rune) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	for _, digit := range text[2:6] {
		c <<= 4
		if isDigit(digit) {
			c += rune(digit - '0')
		} else {
			c += rune(digit|0x20-'a') + 10
		}
	}
	return c
}
