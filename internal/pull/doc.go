// Package pull pulls feeds of the API into a lake: run, sync, and the retry of records in quarantine.
//
// Takes: a client of the API, a store, a clock and settings.
// Gives: one commit at most, the catalog published after it, and a Result that says what happened.
// Keeps: feeds are extracted concurrently and flattened a few at a time; the failure of one feed leaves the others;
// nothing becomes visible before the commit; an absent deal is removed only because of the API's answer by id. No
// goroutine outlives a run.
// Fails: with the errors of extract, load and catalog, ErrClock, ErrNothingDone; with ErrFeedsFailed and ErrFeedsHeld
// together with a Result whose other feeds are committed.
// May change here: the order of work, concurrency, guards (removals.go).
package pull
