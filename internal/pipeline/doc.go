// Package pipeline carries values from room to room: it is a run.
//
// Takes: a client of the API, a store, a clock and settings.
// Gives: one commit at most, the catalog published after it, and a Result that says what happened.
// Keeps: feeds are extracted side by side and flattened a few at a time; the failure of one leaves
// the others; nothing becomes visible before the commit; an absent deal is removed only by an answer
// to a question by id. No goroutine outlives a run.
// Fails: with the rooms' errors, ErrClock, ErrNothingDone; with ErrFeedsFailed and ErrFeedsHeld beside
// a Result whose other feeds are committed.
// May change here: the order of work, concurrency, guards (removals.go).
package pipeline
