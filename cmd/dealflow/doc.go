// Command dealflow keeps the full, point-in-time history of a bond and loan deal-flow API.
//
// Takes: flags, environment, a settings file, the wall clock.
// Gives: data on stdout, messages on stderr, an exit code (exit.go).
// Keeps: only this package reads flags, environment and the wall clock, and exits. Each command is one file.
// Fails: with a sentence that says what was attempted and what to do next.
// May change here: a new command is one file and a line in root.go.
package main
