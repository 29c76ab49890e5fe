// Command dealflow keeps the full, point-in-time history of a bond and loan deal-flow API.
//
// Takes: flags, environment, a settings file, the wall clock.
// Gives: data on stdout, messages on stderr, an exit code (exit.go).
// Keeps: only this package reads flags, exits, and reads the clock that instants of a lake come from; others read the clock for waits and ages alone.
// Of the environment, libraries read what is theirs: proxies, and the settings of AWS. A command is one file, a large one several.
// Fails: with a sentence that says what was attempted and what to do next.
// May change here: a new command is one file and a line in root.go.
package main
