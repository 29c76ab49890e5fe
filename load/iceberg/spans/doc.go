// Package spans divides a lake's commits into spans, which the blocks of a published table are.
// Takes: numbers of commits.
// Gives: the spans that together are all commits up to one, or after one, and which of them are one block.
// Keeps: spans of 1, 8, 64 … commits begin after a multiple of their size, so that the same ones serve many commits. Those that a
// state of a lake names stay as they are.
// Fails: never.
// May change here: nothing, for a lake with published tables: the next publication continues from its spans.
package spans
