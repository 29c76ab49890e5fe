package jsonread

import "fmt"

// Error is the first fault of a text.
type Error struct {
	Offset    int    // in bytes from the text's begin
	Duplicate bool   // the JSON is well-formed so far, and a member's name came twice in its object
	Fault     string // in words
}

func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.Fault, e.Offset) }

// fail stops the reader, unless it has stopped: the text's fault is the first one.
func (r *Reader) fail(fault string) {
	r.stop(&Error{Offset: r.pos, Fault: fault})
}

// FailDuplicate stops the reader because the name that was read last came before in its object.
func (r *Reader) FailDuplicate() {
	name := r.text[r.last.start:r.last.end]
	r.stop(&Error{Offset: r.last.start, Duplicate: true, Fault: fmt.Sprintf("member %.60s comes a second time in its object", name)})
}

func (r *Reader) stop(fault *Error) {
	if r.fault != nil {
		return
	}
	if r.pos >= len(r.text) && !fault.Duplicate {
		fault.Fault = "the text ends early: " + fault.Fault
	}
	r.fault, r.pos = fault, len(r.text)
}
