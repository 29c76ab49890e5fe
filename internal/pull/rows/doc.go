// Package rows writes the rows of a feed's deals.
// Takes: the deals in the order of their ids, a function that reads one, and the feed's last snapshot.
// Gives: files of the day's snapshot with the rows of all deals, and of history with those of new versions; the drift.
// Keeps: a deal is flattened once at most. Row groups of the last snapshot of whose deals none has changed are taken over
// as they are; the files have the same bytes as without that. No file is put before all rows are written.
// Fails: with ErrEarlier if the last snapshot cannot be read; then nothing was put, and the caller writes without it.
// May change here: what is taken over, and when.
package rows
