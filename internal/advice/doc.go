// Package advice says what to do about what has happened: a command, in backquotes, that mends it.
//
// Takes: how an attempt ended, or what a lake needs.
// Gives: a sentence with a command.
// Keeps: the command is one that this program can do on that lake.
// Fails: never; without advice the text is empty.
// May change here: the advice after each ending.
package advice
