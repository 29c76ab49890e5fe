// Package load turns Arrow records into a lake: it writes Parquet files, makes them visible by a commit, and reads them
// again.
// Takes: Arrow records of one table at a time, in deal_id order, and what the caller knows of its run (feeds and
// counts).
// Gives: Parquet files and one commit that makes all of them visible at once. For reading: the log, the live files, the
// newest known version of every deal, and payloads.
// Keeps: a reader sees all of a run or nothing of it. Data files are put first, under names that contain the run's id;
// the commit is put last, create-only. No data file or commit is overwritten, and no reader opens a file that no commit
// names. The same rows give the same bytes. Commit numbers have no gaps, and known_at rises.
// Fails: ErrNoLake, ErrConflict, *lake.FormatError; the error for a damaged object names its key.
// May change here: how the log is summed up (checkpoint.go), how newest versions are found (versions.go), what a
// session does before and after its command (session.go).
package load
