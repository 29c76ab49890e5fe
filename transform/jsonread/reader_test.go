package jsonread_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dealflow/transform/jsonread"
)

// TestErrors checks where a text is wrong, and how.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                          "unexpected end of the text: want a value at byte 0",
		`{"a" 1}`:                   "want a colon at byte 5",
		`{"a":1,}`:                  "want a member's name at byte 7",
		`{"a":1 "b":2}`:             "want a comma or } at byte 7",
		`[1 2]`:                     "want a comma or ] at byte 3",
		`[1,]`:                      "want a value at byte 3",
		`[-x]`:                      "want a value at byte 2",
		`[nil]`:                     "want null at byte 1",
		`["\x"]`:                    "want an escape sequence at byte 2",
		"[\"a\n\"]":                 "want the end of a string, and no control character before it at byte 3",
		`["abc`:                     "unexpected end of the text: want the end of a string, and no control character before it at byte 5",
		`{} {}`:                     "text after the value at byte 3",
		`{"a":1,"b":2,"\u0061":3}`:  `duplicate member name "\u0061" at byte 13`,
		strings.Repeat("[", 10_001): "nested deeper than 10,000 levels at byte 10000",
	} {
		var r jsonread.Reader
		r.Reset([]byte(text))
		r.Value()
		r.End()
		var fault *jsonread.Error
		if err := r.Err(); !errors.As(err, &fault) || err.Error() != want || fault.Duplicate != strings.HasPrefix(want, "duplicate") {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}

// TestReset resets a reader that has stopped in the middle of an object.
func TestReset(t *testing.T) {
	var r jsonread.Reader
	for _, text := range []string{`{"a":1,"b":{"a":1,"c":}}`, `{"a":1,"a":2}`, strings.Repeat("[", 10_001)} {
		r.Reset([]byte(text))
		if r.Value(); r.Err() == nil {
			t.Fatalf("%.40q: got no error", text)
		}
		r.Reset([]byte(`{"a":{"a":1,"b":2}}`))
		if r.Value(); r.Err() != nil {
			t.Fatalf("after %.40q: got %v, want none", text, r.Err())
		}
	}
}

// TestSince checks that Since returns what was read, as written and without white space around it.
func TestSince(t *testing.T) {
	var r jsonread.Reader
	r.Reset([]byte(`{ "a" :  [1, {"b" : 2} ] , "c":3}`))
	r.Peek()
	r.Open(jsonread.Object)
	r.Name()
	r.Colon()
	start := r.Offset()
	r.Value()
	if got, want := string(r.Since(start)), `[1, {"b" : 2} ]`; got != want || r.Err() != nil {
		t.Errorf("got %q %v, want %q", got, r.Err(), want)
	}
}

// TestLinear skips an object with very many names, and very many nested objects, in linear time: with a step back for
// each name the test would not end.
func TestLinear(t *testing.T) {
	const names = 200_000
	var wide strings.Builder
	wide.WriteByte('{')
	for i := range names {
		fmt.Fprintf(&wide, `"name %d":{"x":0},`, i)
	}
	for last, duplicate := range map[string]bool{"name": false, fmt.Sprintf("name %d", names/2): true} {
		var r jsonread.Reader
		r.Reset(fmt.Appendf(nil, `%s"%s":0}`, wide.String(), last))
		r.Value()
		var fault *jsonread.Error
		if errors.As(r.Err(), &fault) != duplicate || duplicate && !fault.Duplicate {
			t.Errorf("%q: got %v, want duplicate %t", last, r.Err(), duplicate)
		}
	}
}

// TestAllocations reads texts without a new allocation for each.
func TestAllocations(t *testing.T) {
	text := []byte(`{"a":[1.5e3,true,null,"x\n\u20ac"],"\u0062":{"a":{"c":"d"}},"e":[]}`)
	var r jsonread.Reader
	allocated := testing.AllocsPerRun(100, func() {
		r.Reset(text)
		if r.Value(); r.Err() != nil {
			t.Fatal(r.Err())
		}
	})
	if allocated != 0 {
		t.Errorf("got %g allocations for a text, want none", allocated)
	}
}
