package lines_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"testing"

	"dealflow/load/lines"
)

type value struct {
	N int `json:"n"`
}

// count yields the lines {"n":0} to {"n":n-1}, of which one may be another text, and then an error, unless it is nil.
func count(n, at int, other string, last error) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var buf bytes.Buffer
		for i := range n {
			fmt.Fprintf(&buf, "{\"n\":%d}\n", i)
			text := buf.Next(buf.Len())
			if i == at {
				text = []byte(other)
			}
			if !yield(bytes.Clone(text), nil) {
				return
			}
		}
		if last != nil {
			yield(nil, last)
		}
	}
}

// TestDecode decodes few and many lines, up to a line that is no value, and up to an error.
func TestDecode(t *testing.T) {
	t.Parallel()
	gone := errors.New("the rest is gone")
	refuse := func([]byte) error { return gone }
	for name, c := range map[string]struct {
		lines  iter.Seq2[[]byte, error]
		check  func([]byte) error
		least  int // values
		most   int
		failed bool
		err    error // that it is
	}{
		"none":                 {lines: count(0, -1, "", nil)},
		"one":                  {lines: count(1, -1, "", nil), least: 1, most: 1},
		"as many as at once":   {lines: count(256, -1, "", nil), least: 256, most: 256},
		"one more":             {lines: count(257, -1, "", nil), least: 257, most: 257},
		"many":                 {lines: count(5000, -1, "", nil), check: func([]byte) error { return nil }, least: 5000, most: 5000},
		"a line is no value":   {lines: count(5000, 3000, `{"n":`, nil), most: 3000, failed: true},
		"a line has two":       {lines: count(5000, 3000, `{"n":1}{}`, nil), most: 3000, failed: true},
		"the lines end early":  {lines: count(3000, -1, "", gone), most: 3000, failed: true, err: gone},
		"the first is refused": {lines: count(10, -1, "", nil), check: refuse, failed: true, err: gone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := 0
			var failed error
			for v, err := range lines.Decode[value](c.lines, c.check) {
				if err != nil {
					failed = err
					continue // it is the last
				}
				if v.N != got {
					t.Fatalf("value %d: got %d", got, v.N)
				}
				got++
			}
			if (failed != nil) != c.failed || c.err != nil && !errors.Is(failed, c.err) {
				t.Errorf("got the error %v, want %v", failed, c.err)
			}
			if got < c.least || got > c.most {
				t.Errorf("got %d values, want %d to %d", got, c.least, c.most)
			}
		})
	}
	for v := range lines.Decode[value](count(5000, -1, "", nil), nil) {
		if v.N == 2000 {
			break // who takes them may end
		}
	}
}
