// Package lines decodes texts of many lines, each of which is a JSON value.
// Takes: lines. Gives: the values, in the order of the lines.
// Keeps: it holds some hundred lines at a time for each processor.
// Fails: with the error of the lines, or of a line that is no such value.
// May change here: how many lines are decoded at once.
package lines
