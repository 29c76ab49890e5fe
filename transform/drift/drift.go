// Package drift counts what the schema of the API does not describe.
// Takes: pointers, kinds and examples, one occurrence at a time.
// Gives: lake.Drift, sorted.
// Keeps: memory is bounded, however many names a record has.
// Fails: never.
// May change here: the bounds.
package drift

import (
	"slices"
	"strings"
	"unicode/utf8"

	"dealflow/schemas/lake"
)

const (
	maxExample = 120  // bytes of an example in a report
	maxPairs   = 1000 // pairs counted separately; further pairs count under their parent pointer
)

// Log counts (pointer, kind) pairs. Its zero value is empty. It is not safe for concurrent use.
type Log struct {
	pairs map[pair]*lake.Drift
}

type pair struct {
	pointer string
	kind    lake.DriftKind
}

// Add counts one occurrence of drift. example is JSON text; the first one of a pair is kept.
func (l *Log) Add(pointer string, kind lake.DriftKind, example []byte) {
	if found := l.pairs[pair{pointer, kind}]; found != nil {
		found.Count++
		return
	}
	l.AddAll(lake.Drift{Pointer: pointer, Kind: kind, Count: 1, Example: shorten(example)})
}

// AddAll counts all that another log has of a pair.
func (l *Log) AddAll(d lake.Drift) {
	key := pair{d.Pointer, d.Kind}
	if found := l.pairs[key]; found != nil {
		found.Count += d.Count
		return
	}
	if len(l.pairs) >= maxPairs {
		if parent, _, ok := cutLast(d.Pointer, "/"); ok && !strings.HasSuffix(d.Pointer, "/*") {
			d.Pointer = parent + "/*"
			l.AddAll(d)
			return
		}
	}
	if l.pairs == nil {
		l.pairs = map[pair]*lake.Drift{}
	}
	l.pairs[key] = &d
}

// Take returns what the log has counted, by pointer and kind, and empties the log.
func (l *Log) Take() []lake.Drift {
	all := make([]lake.Drift, 0, len(l.pairs))
	for _, d := range l.pairs {
		all = append(all, *d)
	}
	slices.SortFunc(all, lake.CompareDrift)
	l.pairs = nil
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
