// Package testkit contains what the tests of several packages share: checked allocators, golden files, Arrow records as
// readable rows, the path of the repository, numbers from the environment, and codecs for bubbles of virtual time.
//
// Takes: a test.
// Gives: helpers that fail that test and clean up after it.
// Keeps: imported by tests only; internal/arch checks it.
// Fails: through testing.TB.
// May change here: anything that a second test needs.
package testkit
