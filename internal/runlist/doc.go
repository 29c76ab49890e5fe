// Package runlist lists runs: the commits of a lake, and the attempts that made none.
//
// Takes: a lake as it was read, and the work folder of this machine.
// Gives: rows, newest first.
// Keeps: a commit is older than the attempts that knew it, whatever their clocks say.
// Fails: if attempts cannot be read; those that wait here are only logged then.
// May change here: how many attempts are read, and in which order they are shown.
package runlist
