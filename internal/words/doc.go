// Package words writes numbers, times and errors as a person reads them in a line.
//
// Takes: sizes in bytes, durations, texts of the API, reasons of attempts.
// Gives: a part of a line.
// Keeps: what it writes has no character that controls a terminal, and no line's end.
// Fails: never.
// May change here: how values read.
package words
