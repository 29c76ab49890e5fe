// Command dealflow keeps the full, point-in-time history of a bond and loan deal-flow API.
//
// Takes: flags, environment, a settings file, the wall clock.
// Gives: data on stdout, messages on stderr, an exit code (exit.go).
// Keeps: the only place that reads flags, environment and the wall clock, and that exits; one file a
// command.
// Fails: with a sentence that says what was being done and what to do next.
// May change here: a new command is one file and a line in root.go.
package main
