// Package arch holds the shape of the program as tests: who may import whom.
//
// Takes: the source tree.
// Gives: nothing to import.
// Keeps: the rooms stand side by side and meet only in schemas; internal/pipeline and cmd carry
// values from room to room.
// Fails: with what to do instead.
// May change here: the table in arch_test.go, when the design changes.
package arch
