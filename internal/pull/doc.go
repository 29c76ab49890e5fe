// Package pull pulls feeds of the API into a lake: run, sync, and the retry of records in quarantine.
// Takes: a client of the API, a store, a clock and settings.
// Gives: at most one commit, the catalog published after it, and a Result that says what happened.
// Keeps: feeds are extracted concurrently and flattened a few at a time. The failure of one feed does not affect the
// others. Nothing becomes visible before the commit. A deal is removed only if the API says so when it is asked for by
// id. No goroutine outlives a run.
// Fails: with ErrFeedsFailed, ErrFeedsHeld or ErrDeadline, and a Result: the other feeds are committed, unless
// Result.Commit is 0. With ErrClock, ErrContract, ErrQuality, ErrNothingDone or load.ErrConflict nothing is committed.
// Other errors are those of extract, load and catalog.
// May change here: the order of work, concurrency, guards (removals.go).
package pull
