package text

// unread returns the status of a text that a grammar did not read. The text says that there is no number, has words
// instead of a number, is ambiguous, or is something else.
func unread(text []byte, v verdict) []byte {
	switch {
	case v == ambiguous:
		return statusAmbiguous
	case saysNothing(text):
		return statusNoNumber
	case isVerbal(text):
		return statusVerbal
	}
	return statusUnparsed
}

// saysNothing reports whether a text says that there is no number, or none yet.
func saysNothing(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	s := scanner{text}
	for s.char('-') {
		if s.end() {
			return true
		}
	}
	var buffer [maxWord]byte
	return nothing[string(fold(&buffer, text))]
}

// nothing are the texts that say that there is no number, in lower case.
var nothing = map[string]bool{
	"n/a": true, "n.a": true, "na": true, "nm": true, "n.m": true, "n/m": true, "tbc": true, "tbd": true, "tba": true, "t.b.c": true, "t.b.d": true,
	"undisclosed": true, "not disclosed": true, "confidential": true, "unknown": true, "none": true, "subject": true,
	"not available": true, "not applicable": true, "not meaningful": true,
	"to be confirmed": true, "to be determined": true, "to be announced": true,
}

// isVerbal reports whether a text has words instead of a number, with an optional benchmark: low/mid 200s, T+high 100s,
// low 8s, high teens, single digits.
func isVerbal(text []byte) bool {
	s := scanner{text}
	over := s
	if _, ok := over.benchmark(bonds, nil); ok {
		over.space()
		if _, found := over.sign(); found {
			over.space()
			s = over
		}
	}
	return s.verbal() && s.end()
}

// verbal reads words instead of a number.
func (s *scanner) verbal() bool {
	words := 0
	for s.oneOf("very", "low", "mid", "middle", "high") {
		words++
		for s.char('/') || s.char('-') || s.char(' ') || s.word("to") {
			continue
		}
	}
	if s.oneOf("single digits", "single digit", "single-digits", "single-digit", "double digits", "double digit", "double-digits", "double-digit", "teens") {
		return s.nearly()
	}
	if words == 0 {
		return false
	}
	if _, ok := s.digits(); !ok {
		return false
	}
	inPercent := s.unit(percent)
	s.char('\'')
	return (s.word("s") || inPercent) && s.nearly()
}

// nearly skips what may follow words instead of a number. It always returns true.
func (s *scanner) nearly() bool {
	s.unit(basisPoints)
	s.noted("area")
	return true
}
