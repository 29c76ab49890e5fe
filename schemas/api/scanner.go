package api

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The classes of bytes that the scanner distinguishes.
const (
	isOther = iota
	isSpace
	isQuote
	isOpen
	isClose
	isPunct
)

var class = [256]uint8{
	' ': isSpace, '\t': isSpace, '\n': isSpace, '\r': isSpace,
	'"': isQuote, '{': isOpen, '[': isOpen, '}': isClose, ']': isClose, ',': isPunct, ':': isPunct,
}

// scanner reads JSON text. pos is the start of the next value or sign to read.
//
// It is a second reader next to transform/jsonread on purpose:
//   - It is lenient inside records: of a value it checks only that brackets pair up and strings end, and a
//     name may contain control characters. A strict reader would fail before it reaches the id. A record
//     without an id could be any deal and stops all removals of its feed (TestLenient).
//   - Its errors are stored in quarantine files, and so are those of jsonread. A common reader would need
//     both sets of words (TestDetails).
//   - What they share is short: white space, commas, colons and closing brackets. Finding the end of a
//     string or of nested brackets without reading what is inside has no part in jsonread.
type scanner struct {
	data   []byte
	pos    int
	depth  int  // number of open objects and arrays
	strict bool // names and texts that are read have no control characters
}

// fault adds the position and the kind of value to an error.
func (s *scanner) fault(err error, what string) error {
	return fmt.Errorf("byte %d: %s: %w", s.pos, what, err)
}

func (s *scanner) want(what string) error {
	if s.pos >= len(s.data) {
		return s.fault(errTruncated, "want "+what)
	}
	return fmt.Errorf("byte %d: want %s, got %s", s.pos, what, shorten(s.data[s.pos:min(s.pos+1, len(s.data))]))
}

// peek returns the byte at the position; 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// space skips white space.
func (s *scanner) space() {
	for s.pos < len(s.data) && class[s.data[s.pos]] == isSpace {
		s.pos++
	}
}

// document reads one object with nothing but white space around it.
func (s *scanner) document(visit func(name []byte) error) error {
	if err := s.members(visit); err != nil {
		return err
	}
	s.space()
	if s.pos < len(s.data) {
		return s.want("the end")
	}
	return nil
}

// members reads an object and calls visit for each member, with the position at its value. visit must skip the value.
// The name is unescaped and valid until visit returns.
func (s *scanner) members(visit func(name []byte) error) error {
	return s.sequence('{', '}', func() error {
		name, err := s.text()
		if err != nil {
			return err
		}
		s.space()
		if s.peek() != ':' {
			return s.want("':'")
		}
		s.pos++
		s.space()
		return visit(name)
	})
}

// sequence reads items between open and end, separated by commas.
func (s *scanner) sequence(open, end byte, item func() error) error {
	s.space()
	if s.peek() != open {
		return s.want(fmt.Sprintf("%q", open))
	}
	if s.depth >= maxDepth {
		return s.fault(errTooDeep, "value")
	}
	s.pos++
	s.depth++
	s.space()
	if s.peek() == end {
		s.pos++
		s.depth--
		return nil
	}
	for {
		s.space()
		if err := item(); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case end:
			s.pos++
			s.depth--
			return nil
		default:
			return s.want(fmt.Sprintf("',' or %q", end))
		}
	}
}

// text reads a string and returns it unescaped. Without escape sequences the result is a sub-slice of the data.
func (s *scanner) text() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.want("a string")
	}
	start := s.pos
	if err := s.skipString(); err != nil {
		return nil, err
	}
	raw := s.data[start+1 : s.pos-1]
	if s.strict && hasControl(raw) {
		return nil, fmt.Errorf("byte %d: string: a control character", start)
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw, nil
	}
	var text string
	if err := json.Unmarshal(s.data[start:s.pos], &text); err != nil {
		return nil, fmt.Errorf("byte %d: %w", start, err)
	}
	return []byte(text), nil
}

// hasControl says whether a text has a control character: no string of JSON has one unescaped, and no address has one.
func hasControl[T []byte | string](text T) bool {
	for i := range len(text) {
		if text[i] < ' ' {
			return true
		}
	}
	return false
}

// skipString skips a string.
func (s *scanner) skipString() error {
	end := stringEnd(s.data, s.pos)
	if end < 0 {
		return s.fault(errTruncated, "string")
	}
	s.pos = end
	return nil
}

// stringEnd returns the position after the closing quote of the string whose opening quote is at start; -1 if there is
// none. The closing quote is the first that follows an even number of backslashes.
func stringEnd(data []byte, start int) int {
	first := start + 1
	for pos := first; ; {
		i := bytes.IndexByte(data[pos:], '"')
		if i < 0 {
			return -1
		}
		pos += i
		slash := pos
		for slash > first && data[slash-1] == '\\' {
			slash--
		}
		pos++
		if (pos-1-slash)%2 == 0 {
			return pos
		}
	}
}

// strictValue skips any value. A value that is not an object, array or string must be a literal or a number.
func (s *scanner) strictValue() error {
	start := s.pos
	if err := s.value(); err != nil {
		return err
	}
	switch token := s.data[start:s.pos]; token[0] {
	case '{', '[', '"':
		return nil
	default:
		if !isLiteral(token) && !isNumber(token) {
			s.pos = start
			return s.want("a JSON value")
		}
	}
	return nil
}

// value skips any value. It checks only that brackets are paired and strings end.
func (s *scanner) value() error {
	switch class[s.peek()] {
	case isOpen:
		return s.skipNested()
	case isQuote:
		return s.skipString()
	}
	start := s.pos
	for s.pos < len(s.data) && class[s.data[s.pos]] == isOther {
		s.pos++
	}
	if s.pos == start {
		return s.want("a value")
	}
	return nil
}

// skipNested skips an object or an array.
func (s *scanner) skipNested() error {
	var objects [maxDepth / 64]uint64 // bit d is set if level d is an object
	data, pos, depth := s.data, s.pos, 0
	for pos < len(data) {
		switch c := data[pos]; class[c] {
		case isQuote:
			if pos = stringEnd(data, pos); pos < 0 {
				pos = len(data)
			}
			continue
		case isOpen:
			if s.depth+depth >= maxDepth {
				s.pos = pos
				return s.fault(errTooDeep, "value")
			}
			if bit := uint64(1) << (depth % 64); c == '{' {
				objects[depth/64] |= bit
			} else {
				objects[depth/64] &^= bit
			}
			depth++
		case isClose:
			depth--
			if object := objects[depth/64]>>(depth%64)&1 == 1; object != (c == '}') {
				s.pos = pos
				return s.want("the other closing bracket")
			}
			if depth == 0 {
				s.pos = pos + 1
				return nil
			}
		}
		pos++
	}
	s.pos = len(data)
	return s.fault(errTruncated, "value")
}

// null skips a null. It returns false if another value is next.
func (s *scanner) null() bool {
	if !bytes.HasPrefix(s.data[s.pos:], []byte("null")) {
		return false
	}
	if end := s.pos + 4; end < len(s.data) && class[s.data[end]] == isOther {
		return false
	}
	s.pos += 4
	return true
}
