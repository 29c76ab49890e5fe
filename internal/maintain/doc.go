// Package maintain compacts, expires and replays a lake. These commands rewrite or remove files and pull nothing.
// Takes: a store, a clock and settings; no client of the API.
// Gives: at most one commit, what is derived from it, and a Result that says what happened.
// Keeps: no answer changes, except what replay mends and reports. Rows of a damaged file are never copied into a new
// one. Only expire deletes objects, and only those that are no part of the lake and older than load.Grace.
// Fails: load.ErrConflict if other commands commit again and again, or have replaced the same files;
// mirror.ErrNotCommitted for damaged files.
// May change here: what is merged and when (merge.go, compact.go), what is kept (waste.go).
package maintain
