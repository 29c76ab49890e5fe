// Package status says whether all is well with a lake, and what to do where it is not.
//
// Takes: a lake, what is recorded of commands, the published catalog and tables, an instant.
// Gives: the object that `dealflow status --json` prints.
// Keeps: it writes nothing; each finding has its kind, its reason, and a command that can be done.
// Fails: without a lake (load.ErrNoLake), after its time (ErrNoAnswer), and if what it needs cannot be read.
// May change here: findings, which docs/reference/status.md and docs/how-to/runbook.md explain.
package status
