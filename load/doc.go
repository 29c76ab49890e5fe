// Package load turns Arrow records into a lake.
//
// Takes: Arrow records of one table at a time, in deal_id order, and what a run was (its feeds and
// counts).
// Gives: Parquet files, one commit that makes them visible all at once, and back again: the log, the
// live files, the newest version known of every deal, and payloads.
// Keeps: readers see a run wholly or not at all. Data files go first under names that hold the run's
// id; the commit goes last, create-only; nothing is ever overwritten, and nobody reads a file that no
// commit names. The same rows give the same bytes. Commit numbers have no gaps, known_at rises.
// Fails: ErrNoLake, ErrConflict, *lake.FormatError, and damage named with its key.
// May change here: how the log is summed up (checkpoint.go), what a session does before and after (session.go).
package load
