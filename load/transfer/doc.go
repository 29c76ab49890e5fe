// Package transfer makes a lake from another one: a copy in another store, or a lake of the present format version from
// one of an older version.
// Takes: the store of a lake, and an empty store, or one in which a transfer of that lake was begun or made before.
// Gives: a lake with the same commit numbers, instants and file bytes, so that every as-of answer is the same.
// Keeps: the source as it is. A new lake appears all at once: its first commit is put last. No commit is ever there
// without its files.
// Fails: load.ErrNoLake; ErrOwnCommits for a target that has gone its own way; ErrGone for files that the source has lost.
// May change here: what a format version changes is in upgrade.go.
package transfer
