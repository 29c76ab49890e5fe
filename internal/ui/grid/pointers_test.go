package grid

import (
	"fmt"
	"slices"
	"testing"
)

// TestPointerDiff compares JSON texts: members and entries that are other, new or gone, numbers by their digits, and names that a
// pointer has to escape.
func TestPointerDiff(t *testing.T) {
	for _, c := range []struct {
		was, is string
		want    []string
	}{
		{`{"a":1,"b":[1,2]}`, `{"b":[1,2],"a":1}`, nil},
		{`{"a":1.0}`, `{"a":1.00}`, []string{"/a: 1.0 → 1.00"}},
		{`{"a":12345678901234567890}`, `{"a":12345678901234567891}`, []string{"/a: 12345678901234567890 → 12345678901234567891"}},
		{`{"a":null}`, `{}`, []string{"/a: null → "}},
		{`{}`, `{"x":{"y":"<b>"}}`, []string{`/x:  → {"y":"<b>"}`}},
		{`{"l":[1,2,3]}`, `{"l":[1,4]}`, []string{"/l/1: 2 → 4", "/l/2: 3 → "}},
		{`{"a/b":{"~":true}}`, `{"a/b":{"~":false}}`, []string{"/a~1b/~0: true → false"}},
		{`{"a":[]}`, `{"a":{}}`, []string{"/a: [] → {}"}},
		{`{"z":1,"b":{"c":1}}`, `{"z":2,"b":{"c":2}}`, []string{"/b/c: 1 → 2", "/z: 1 → 2"}},
		{`1`, `2`, []string{": 1 → 2"}},
	} {
		found, err := PointerDiff(c.was, c.is)
		var got []string
		for _, e := range found {
			got = append(got, fmt.Sprintf("%s: %s → %s", e.Name, e.Was, e.Is))
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s and %s: got %q, %v; want %q", c.was, c.is, got, err, c.want)
		}
	}
	for _, text := range []string{"", "{", `{"a":}`} {
		if found, err := PointerDiff(text, "{}"); err == nil {
			t.Errorf("%q: got %v, want an error", text, found)
		}
	}
}
