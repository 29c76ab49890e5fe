package jsonread

// Reader reads a JSON text from its begin to its end. Whoever walks over it asks Peek what is next and
// reads that:
//
//	for more := r.Open(jsonread.Object); more; more = r.More(jsonread.Object) {
//		name := r.Name()
//		r.Colon()
//		value := r.Value()
//	}
//
// The first fault stops it: from then on Peek finds nothing, there is no more, what is read is nil, and
// Err tells the fault. So a walk has to look at Err only when it is through. The zero value reads the
// empty text. It is reused by Reset and is not safe for concurrent use.
type Reader struct {
	text  []byte
	pos   int // of the next byte; behind the text once there is a fault
	depth int // brackets open
	last  quoted
	names names
	fault *Error
}

// quoted is a string in the text, with its quotes.
type quoted struct {
	start, end int
	escaped    bool // it holds escape sequences
}

// maxDepth is how deep brackets may nest.
const maxDepth = 10_000

// Bracket is what an object or a list ends with.
type Bracket byte

// The two kinds of brackets.
const (
	Object Bracket = '}'
	List   Bracket = ']'
)

// Reset begins to read a text, which must not change until the next Reset.
func (r *Reader) Reset(text []byte) {
	r.text, r.pos, r.depth, r.last, r.fault = text, 0, 0, quoted{}, nil
	r.names.leave(0)
}

// Err is the fault that stopped the reader, an *Error; nil for none.
func (r *Reader) Err() error {
	if r.fault == nil {
		return nil
	}
	return r.fault
}

// Offset is the place of the next byte, in bytes from the text's begin.
func (r *Reader) Offset() int { return r.pos }

// Since is what was read from start, an Offset, without the white space before it.
func (r *Reader) Since(start int) []byte {
	for start < r.pos && isSpace(r.text[start]) {
		start++
	}
	return r.text[start:r.pos:r.pos]
}

// Peek passes over white space and gives the byte that is next: a value's first byte, a bracket, a
// comma or a colon. At the end of the text it gives 0, which no JSON has.
func (r *Reader) Peek() byte {
	if r.pos < len(r.text) {
		if c := r.text[r.pos]; c > ' ' { // the usual case: there is no white space
			return c
		}
	}
	return r.peekBehindSpace()
}

func (r *Reader) peekBehindSpace() byte {
	for r.pos < len(r.text) && isSpace(r.text[r.pos]) {
		r.pos++
	}
	if r.pos == len(r.text) {
		return 0
	}
	return r.text[r.pos]
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// Open passes over an opening bracket that Peek has found, and says whether there is an entry behind it;
// if not, it has passed over the closing bracket too.
func (r *Reader) Open(b Bracket) (more bool) {
	if r.depth == maxDepth {
		r.fail("brackets nest deeper than 10,000")
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

// More stands behind an entry: it passes over the comma before the next one, or over the closing
// bracket, and says which.
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
	return r.string()
}

// Colon passes over the colon behind a member's name.
func (r *Reader) Colon() {
	if r.Peek() != ':' {
		r.fail("want a colon")
		return
	}
	r.pos++
}

// End wants nothing but white space behind the text's value.
func (r *Reader) End() {
	if r.Peek(); r.pos < len(r.text) {
		r.fail("text behind the value")
	}
}
