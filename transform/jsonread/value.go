package jsonread

// Value reads any value and returns it as it stands in the text, without white space around it.
func (r *Reader) Value() []byte {
	c := r.Peek()
	start := r.pos
	switch c {
	case '"':
		return r.string()
	case '{':
		r.skipObject()
	case '[':
		r.skipList()
	case 't':
		r.literal("true")
	case 'f':
		r.literal("false")
	case 'n':
		r.literal("null")
	default:
		r.number()
	}
	if r.fault != nil {
		return nil
	}
	return r.text[start:r.pos:r.pos]
}

// IsNumber says whether a value that was read is a number.
func IsNumber(value []byte) bool { return value[0] == '-' || isDigit(value[0]) }

func (r *Reader) skipObject() {
	object := r.EnterObject()
	for more := r.Open(Object); more; more = r.More(Object) {
		r.Name()
		r.Distinct(object)
		r.Colon()
		r.Value()
	}
	r.LeaveObject(object)
}

func (r *Reader) skipList() {
	for more := r.Open(List); more; more = r.More(List) {
		r.Value()
	}
}

func (r *Reader) literal(want string) {
	if end := r.pos + len(want); end <= len(r.text) && string(r.text[r.pos:end]) == want {
		r.pos = end
		return
	}
	r.fail("want " + want)
}

// number passes over a number: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func (r *Reader) number() {
	at := r.pos
	if r.is(at, '-') {
		at++
	}
	whole := r.digits(at)
	if whole > at+1 && r.text[at] == '0' {
		whole = at + 1 // what follows a leading zero is no part of the number
	}
	end, ok := whole, whole > at
	if ok && r.is(end, '.') {
		at = end + 1
		end = r.digits(at)
		ok = end > at
	}
	if ok && (r.is(end, 'e') || r.is(end, 'E')) {
		at = end + 1
		if r.is(at, '+') || r.is(at, '-') {
			at++
		}
		end = r.digits(at)
		ok = end > at
	}
	if !ok {
		r.pos = at
		r.fail("want a value")
		return
	}
	r.pos = end
}

func (r *Reader) is(at int, c byte) bool { return at < len(r.text) && r.text[at] == c }

// digits is the end of the digits that begin at a place.
func (r *Reader) digits(at int) int {
	for at < len(r.text) && isDigit(r.text[at]) {
		at++
	}
	return at
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
