package transform

import (
	"slices"
	"strings"
	"unicode/utf8"

	"dealflow/schemas/lake"
)

const (
	maxExample    = 120  // bytes of an example in a report
	maxDriftPairs = 1000 // pairs counted separately in one feed; further pairs count under their parent pointer
)

// driftLog counts (pointer, kind) pairs.
type driftLog struct {
	pairs map[driftPair]*lake.Drift
}

type driftPair struct {
	pointer string
	kind    lake.DriftKind
}

// add counts one occurrence of drift. example is JSON text.
func (d *driftLog) add(pointer string, kind lake.DriftKind, example []byte) {
	pair := driftPair{pointer, kind}
	if found := d.pairs[pair]; found != nil {
		found.Count++
		return
	}
	if len(d.pairs) >= maxDriftPairs {
		if parent, _, ok := cutLast(pointer, "/"); ok && !strings.HasSuffix(pointer, "/*") {
			d.add(parent+"/*", kind, example)
			return
		}
	}
	if d.pairs == nil {
		d.pairs = map[driftPair]*lake.Drift{}
	}
	d.pairs[pair] = &lake.Drift{Pointer: pointer, Kind: kind, Count: 1, Example: shorten(example)}
}

// sorted returns the log by pointer and kind.
func (d *driftLog) sorted() []lake.Drift {
	all := make([]lake.Drift, 0, len(d.pairs))
	for _, drift := range d.pairs {
		all = append(all, *drift)
	}
	slices.SortFunc(all, lake.CompareDrift)
	return all
}

// shorten cuts an example to maxExample bytes, without splitting a UTF-8 character.
func shorten(example []byte) string {
	if len(example) <= maxExample {
		return string(example)
	}
	cut := maxExample
	for cut > 0 && !utf8.RuneStart(example[cut]) {
		cut--
	}
	return string(example[:cut]) + "…"
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
