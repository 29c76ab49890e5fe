// Package storetest is the conformance suite that every kind of store passes.
// Takes: a function that opens a new, empty store.
// Gives: subtests.
// Keeps: only tests import it.
// Fails: through testing.T.
// May change here: a property that some store was found to lack.
package storetest

import (
	"testing"

	"dealflow/load/store"
)

// Config says what to test. All fields must be set.
type Config struct {
	// Open opens a new, empty store.
	Open func(t *testing.T) store.Store
	// LargeBytes is the size of a body that the store treats as large, such as by sending it in parts.
	LargeBytes int64
	// Objects is the number of objects of a long listing. It should fill several of the store's pages.
	Objects int
}

// Run checks all that a store promises. A test of an optional interface is skipped if the store lacks the interface.
func Run(t *testing.T, cfg Config) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, store.Store, Config)
	}{
		{"put and get", putAndGet},
		{"get what is not there", getAbsent},
		{"an empty body", emptyBody},
		{"a large body", largeBody},
		{"a body that does not start at its first byte", laterStart},
		{"odd keys", oddKeys},
		{"create only once", createOnce},
		{"create a large body only once", createLargeOnce},
		{"a race to create has one winner", race},
		{"list", listing},
		{"a long listing comes in order", longListing},
		{"stop in a listing", stopListing},
		{"list what is after a key", laterListing},
		{"delete", deletion},
		{"delete many", deleteMany},
		{"keys cannot leave the root", badKeys},
		{"a body that breaks leaves nothing", brokenBody},
		{"a large body that breaks leaves nothing", brokenLargeBody},
		{"a cancelled put leaves nothing", cancelledPut},
		{"a cancelled put of a large body leaves nothing", cancelledLargePut},
		{"nothing goes on after the context", cancelled},
		{"read at any offset", readAt},
		{"read at offsets side by side", readAtConcurrently},
		{"open what is not there", openAbsent},
		{"replace only what was seen", replaceIf},
		{"a race to replace has one winner", replaceRace},
		{"a put is never replaced unseen", replaceAgainstPut},
		{"probe", probe},
		{"nothing is left over", nothingLeft},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, cfg.Open(t), cfg) })
	}
}
