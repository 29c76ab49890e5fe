package jsonread

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Text gives what the string says that was read last, as a name or a value: a part of the text where
// nothing in it is escaped, else a part of the arena, which may have grown. Lone surrogates become
// U+FFFD; whole says that there was none.
func (r *Reader) Text(arena []byte) (text, grown []byte, whole bool) {
	inside := r.text[r.last.start+1 : r.last.end-1 : r.last.end-1]
	if !r.last.escaped {
		return inside, arena, true
	}
	start := len(arena)
	grown, whole = appendUnescaped(arena, inside)
	return grown[start:len(grown):len(grown)], grown, whole
}

// Plain says whether the string that was read last holds no escape sequence.
func (r *Reader) Plain() bool { return !r.last.escaped }

// appendUnescaped appends what the inside of a valid string says.
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

// unescaped is what stands for a character behind a backslash.
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

// unit is the UTF-16 unit of the sequence \uXXXX that begins a text; 0, which completes no pair, for
// another text.
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
