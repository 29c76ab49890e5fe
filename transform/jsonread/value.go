package jsonread

// Value reads any value and returns its text, without white space around it.
func (r *Reader) Value() []byte {
	c := r.Peek()
	start := r.pos
	switch c {
	case '"':
		return r.readString()
	case '{':
		r.skipObject()
	case '[':
		r.skipList()
	case 't':
		r.skipLiteral("true")
	case 'f':
		r.skipLiteral("false")
	case 'n':
		r.skipLiteral("null")
	default:
		r.skipNumber()
	}
	if r.fault != nil {
		return nil
	}
	return r.text[start:r.pos:r.pos]
}

// IsNumber reports whether a value that Value returned is a number.
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

func (r *Reader) skipLiteral(want string) {
	if end := r.pos + len(want); end <= len(r.text) && string(r.text[r.pos:end]) == want {
		r.pos = end
		return
	}
	r.fail("want " + want)
}

// skipNumber skips a number: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func (r *Reader) skipNumber() {
	pos := r.pos
	if r.isAt(pos, '-') {
		pos++
	}
	integerEnd := r.digitsEnd(pos)
	if integerEnd > pos+1 && r.text[pos] == '0' {
		integerEnd = pos + 1 // digits after a leading zero are not part of the number
	}
	end, ok := integerEnd, integerEnd > pos
	if ok && r.isAt(end, '.') {
		pos = end + 1
		end = r.digitsEnd(pos)
		ok = end > pos
	}
	if ok && (r.isAt(end, 'e') || r.isAt(end, 'E')) {
		pos = end + 1
		if r.isAt(pos, '+') || r.isAt(pos, '-') {
			pos++
		}
		end = r.digitsEnd(pos)
		ok = end > pos
	}
	if !ok {
		r.pos = pos
		r.fail("want a value")
		return
	}
	r.pos = end
}

func (r *Reader) isAt(pos int, c byte) bool { return pos < len(r.text) && r.text[pos] == c }

// digitsEnd returns the end of the digits that begin at pos.
func (r *Reader) digitsEnd(pos int) int {
	for pos < len(r.text) && isDigit(r.text[pos]) {
		pos++
	}
	return pos
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
