// Package upgrade makes a lake of the present format version from one of an older format version.
// Takes: the store of the older lake, and an empty store, or one in which an upgrade of that lake was begun.
// Gives: a lake with the same commit numbers, instants and file bytes, so that every as-of answer is the same.
// Keeps: the older lake as it is. The new lake appears all at once: its first commit is put last.
// Fails: load.ErrNoLake; ErrOwnCommits for a new lake that has gone its own way.
// May change here: what a format version changes is in convert.go.
package upgrade
