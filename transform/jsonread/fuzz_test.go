package jsonread_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"dealflow/transform/jsonread"
)

// verdict is what a reader reports about a text.
type verdict string

const (
	read      verdict = "read"
	duplicate verdict = "duplicate name"
	invalid   verdict = "invalid"
)

// seeds contain, for each rule of the grammar, a text that follows it, one that breaks it, and similar texts.
var seeds = []string{
	``, ` `, `null`, `nul`, `nullx`, `true`, `false`, `tru`, `fals3`, "\ufeff{}", "\x00", `{}`, ` { } `, `[]`, "[\t\r\n]", "[\v]", "\u00a0[]",
	`{"a":1}`, `{"a":1,}`, `{,"a":1}`, `{"a"}`, `{"a":}`, `{"a" 1}`, `{"a"::1}`, `{a:1}`, `{1:1}`, `{"a":1 "b":2}`, `{"a":1]`, `[1}`, `[1,]`, `[,1]`, `[1 2]`, `[1:2]`,
	`{`, `[`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `[1`, `[1,`, `}`, `]`, `:`, `,`, `{} {}`, `{}x`, `[]]`, `{null:1}`, `{{}:1}`, `{[]:1}`, `{"a":1,"b"}`,
	`0`, `-0`, `-`, `+1`, `01`, `-01`, `00`, `1.`, `.1`, `1.0`, `-1.5e10`, `1e`, `1e+`, `1E-07`, `1e5.`, `1.e5`, `1.5.5`, `0x1`, `1a`, `--1`, `NaN`, `-Infinity`, `[0.0,-0e-0]`,
	`"`, `"a`, `"a"b`, `"\`, `"\"`, `"\\"`, `"\"\\\/\b\f\n\r\t"`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\uABCD"`, `"\u123`, `"\U1234"`, `'a'`, "\"\x7f\"", "\"\x1f\"", "\"a\nb\"", "\"\t\"",
	`"\ud800"`, `"\udc00"`, `"\ud83d\ude00"`, `"\ud800\ud800"`, `"\ud800\u0041"`, `"\ud800x"`, `"\ud83d\u"`, `"€😀"`, `"abcdefgh"`, `"abcdefg\"h"`, "\"abcdefg\x01\"", "\"1234567\x008\"",
	`"1234567\u00418"`, `"ÿþýüûúùø"`, "\"\u0100\u2122!!!!!\"", `"[]]]]]]]]]]]"`, `"!!!!!!!!!!!!"`,
	`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"":1,"":2}`, `{"\ud800":1,"\udbff":2}`, `{"\ud800":1,"\ufffd":2}`, `{"a":{"a":{"a":1}},"b":{"a":1}}`, `{"a":{"a":1,"b":2,"a":3}}`,
	`[{"a":1},{"a":1}]`, `{"a":1,"a"}`, `{"a":1,"a"x`, `{"a":1,"a`, `{"a":1,x,"a":2}`, `{"a":[{"x":1,"x":2}],}`, `{"a":1,"b":2,"a":`, `{"a":1,"A":2}`, `{"a":01,"a":2}`,
	`{{"a":1,"a":2}:1}`, `{[{"a":1,"a":2}]:1}`,
}

// addSeeds adds the seeds, and texts that are deep or wide.
func addSeeds(f *testing.F) {
	f.Helper()
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	var wide strings.Builder
	for i := range 200 {
		wide.WriteString(`"` + strings.Repeat("x", i) + `":{"y":0},`)
	}
	f.Add([]byte("{" + wide.String() + `"z":0}`))
	f.Add([]byte("{" + wide.String() + `"` + strings.Repeat("x", 77) + `":0}`))
	f.Add([]byte("{" + wide.String() + `"a":` + strings.Repeat(`{"a":`, 300) + "0" + strings.Repeat("}", 301))) // one name at all depths, after others
	for _, depth := range []int{9_999, 10_000, 10_001} {
		f.Add([]byte(strings.Repeat("[", depth) + strings.Repeat("]", depth)))
		f.Add([]byte(strings.Repeat(`{"a":`, depth) + "0" + strings.Repeat("}", depth)))
	}
}

// FuzzReader compares the reader with jsontext: both accept the same texts, reject the others for the same reason, and
// find the same values.
func FuzzReader(f *testing.F) {
	addSeeds(f)
	var r jsonread.Reader
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) {
			return // the caller of a Reader refuses it
		}
		want, wantVerdict := tokens(text)
		r.Reset(text)
		r.Value()
		r.End()
		if got := verdictOf(t, &r); got != wantVerdict {
			t.Fatalf("%.200q passed over: got %s (%v), want %s", text, got, r.Err(), wantVerdict)
		}
		r.Reset(text)
		got := walk(t, &r, nil)
		r.End()
		if v := verdictOf(t, &r); v != wantVerdict {
			t.Fatalf("%.200q: got %s (%v), want %s", text, v, r.Err(), wantVerdict)
		}
		if wantVerdict == read && !bytes.Equal(got, want) {
			t.Fatalf("%.200q: got tokens\n%s\nwant\n%s", text, got, want)
		}
		if got := r.Value(); r.Err() != nil && (got != nil || r.Peek() != 0) {
			t.Fatalf("%.200q: after %v: got %s", text, r.Err(), got)
		}
	})
}

func verdictOf(t *testing.T, r *jsonread.Reader) verdict {
	t.Helper()
	var fault *jsonread.Error
	switch err := r.Err(); {
	case err == nil:
		return read
	case !errors.As(err, &fault):
		t.Fatalf("got error %v, want an *Error", err)
	case fault.Duplicate:
		return duplicate
	}
	return invalid
}

// walk reads a value part by part and appends its tokens, one per line, with unescaped strings.
func walk(t *testing.T, r *jsonread.Reader, to []byte) []byte {
	t.Helper()
	switch r.Peek() {
	case '{':
		object := r.EnterObject()
		to = append(to, "{\n"...)
		for more := r.Open(jsonread.Object); more; more = r.More(jsonread.Object) {
			name := r.Name()
			r.Distinct(object)
			if r.Err() == nil {
				to = appendToken(t, to, r, name)
			}
			r.Colon()
			to = walk(t, r, to)
		}
		r.LeaveObject(object)
		if r.Err() == nil {
			to = append(to, "}\n"...)
		}
		return to
	case '[':
		to = append(to, "[\n"...)
		for more := r.Open(jsonread.List); more; more = r.More(jsonread.List) {
			to = walk(t, r, to)
		}
		if r.Err() == nil {
			to = append(to, "]\n"...)
		}
		return to
	}
	if value := r.Value(); value != nil {
		return appendToken(t, to, r, value)
	}
	return to
}

// appendToken appends a token. For a string it appends the unescaped text, which must be equal to that of jsontext.
func appendToken(t *testing.T, to []byte, r *jsonread.Reader, raw []byte) []byte {
	t.Helper()
	if raw[0] == '"' {
		arena := []byte("arena")
		text, grown, whole := r.Text(arena)
		want, err := jsontext.AppendUnquote(nil, raw)
		if !bytes.Equal(text, want) || whole != (err == nil) || !bytes.HasPrefix(grown, arena) || r.Plain() == bytes.ContainsRune(raw, '\\') {
			t.Fatalf("%q: got %q %t, want %q %v", raw, text, whole, want, err)
		}
		raw = text
	}
	return append(append(to, raw...), '\n')
}

// tokens reads a text with jsontext, in the way that walk reads it with Reader.
func tokens(text []byte) ([]byte, verdict) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowInvalidUTF8(true))
	var to []byte
	for {
		token, err := dec.ReadToken()
		switch {
		case errors.Is(err, jsontext.ErrDuplicateName):
			return to, duplicate
		case err != nil:
			return to, invalid
		}
		to = append(append(to, token.String()...), '\n')
		if dec.StackDepth() > 0 {
			continue
		}
		if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
			return to, invalid
		}
		return to, read
	}
}
