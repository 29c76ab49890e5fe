package jsonread

// Reader reads a JSON text from start to end. The caller calls Peek to see which value is next, and reads it:
//
//	for more := r.Open(jsonread.Object); more; more = r.More(jsonread.Object) {
//		name := r.Name()
//		r.Colon()
//		value := r.Value()
//	}
//
// The first fault stops the reader: after it Peek returns 0, Open and More return false, values are nil, and
// Err returns the fault. So the caller needs to check Err only at the end. The zero value reads the empty
// text. Reset reuses a Reader, which is not safe for concurrent use.
type Reader struct {
	text  []byte
	pos   int    // index of the next byte; len(text) after a fault
	depth int    // number of open brackets
	last  quoted // the string read last
	names names
	fault *Error
}

// quoted is a string in the text, with its quotes.
type quoted struct {
	start, end int
	escaped    bool // the string has escape sequences
}

// maxDepth is the limit of nested brackets.
const maxDepth = 10_000

// Bracket is the closing bracket of an object or a list.
type Bracket byte

// The two kinds of brackets.
const (
	Object Bracket = '}'
	List   Bracket = ']'
)

// Reset starts to read a text. The caller must not change the text until the next Reset.
func (r *Reader) Reset(text []byte) {
	r.text, r.pos, r.depth, r.last, r.fault = text, 0, 0, quoted{}, nil
	r.names.leave(0)
}

// Err returns the fault that stopped the reader, an *Error, or nil.
func (r *Reader) Err() error {
	if r.fault == nil {
		return nil
	}
	return r.fault
}

// Offset returns the index of the next byte in the text.
func (r *Reader) Offset() int { return r.pos }

// Since returns the text read from start, which is an Offset, without leading white space.
func (r *Reader) Since(start int) []byte {
	for start < r.pos && isSpace(r.text[start]) {
		start++
	}
	return r.text[start:r.pos:r.pos]
}

// Peek skips white space and returns the next byte: the first byte of a value, a bracket, a comma or a colon. At the
// end of the text it returns 0, which is not a byte of any JSON text.
func (r *Reader) Peek() byte {
	if r.pos < len(r.text) {
		if c := r.text[r.pos]; c > ' ' { // the usual case: there is no white space
			return c
		}
	}
	return r.peekAfterSpace()
}

func (r *Reader) peekAfterSpace() byte {
	for r.pos < len(r.text) && isSpace(r.text[r.pos]) {
		r.pos++
	}
	if r.pos == len(r.text) {
		return 0
	}
	return r.text[r.pos]
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// Open skips an opening bracket that Peek has found. It reports whether the object or list has an entry; if not, Open
// has skipped the closing bracket too.
func (r *Reader) Open(b Bracket) (more bool) {
	if r.depth == maxDepth {
		r.fail("nested deeper than 10,000 levels")
		return false
	}
	r.depth++
	r.pos++
	if r.Peek() != byte(b) {
		return true
	}
	r.pos++
	r.depth--
	return false
}

// More is called after an entry. It skips the comma before the next entry and returns true, or skips the closing
// bracket and returns false.
func (r *Reader) More(b Bracket) (more bool) {
	switch r.Peek() {
	case ',':
		r.pos++
		return true
	case byte(b):
		r.pos++
		r.depth--
	default:
		r.fail("want a comma or " + string(rune(b)))
	}
	return false
}

// Name reads a member's name and returns it with its quotes.
func (r *Reader) Name() []byte {
	if r.Peek() != '"' {
		r.fail("want a member's name")
		return nil
	}
	return r.readString()
}

// Colon skips the colon after a member's name.
func (r *Reader) Colon() {
	if r.Peek() != ':' {
		r.fail("want a colon")
		return
	}
	r.pos++
}

// End checks that only white space follows the text's value.
func (r *Reader) End() {
	if r.Peek(); r.pos < len(r.text) {
		r.fail("text after the value")
	}
}
