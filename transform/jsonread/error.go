package jsonread

import "fmt"

// Error is the first fault of a text.
type Error struct {
	Offset    int    // in bytes from the start of the text
	Duplicate bool   // the JSON is well-formed up to here, but a member's name occurs twice in its object
	Fault     string // description of the fault
}

func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.Fault, e.Offset) }

// fail stops the reader with a fault at the current byte. If the reader has already stopped, the first fault remains.
func (r *Reader) fail(fault string) {
	r.stop(&Error{Offset: r.pos, Fault: fault})
}

// FailDuplicate stops the reader because the name read last occurred before in its object.
func (r *Reader) FailDuplicate() {
	name := r.text[r.last.start:r.last.end]
	r.stop(&Error{Offset: r.last.start, Duplicate: true, Fault: fmt.Sprintf("duplicate member name %.60s", name)})
}

func (r *Reader) stop(fault *Error) {
	if r.fault != nil {
		return
	}
	if r.pos >= len(r.text) && !fault.Duplicate {
		fault.Fault = "unexpected end of the text: " + fault.Fault
	}
	r.fault, r.pos = fault, len(r.text)
}
