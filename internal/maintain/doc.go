// Package maintain compacts, expires and replays a lake: commands that rewrite or drop files and pull nothing.
//
// Takes: a store, a clock and settings; no client of the API.
// Gives: one commit at most, what is derived from it, and a Result that says what happened.
// Keeps: no answer changes, except what replay mends and reports. Damage is never copied into a file that looks sound.
// Only expire deletes objects, and only garbage that is older than load.Grace.
// Fails: load.ErrConflict if other commands commit again and again, or have replaced the same files; mirror.ErrNotCommitted
// for damaged files.
// May change here: what is merged and when (merge.go, compact.go), what is kept (waste.go).
package maintain
