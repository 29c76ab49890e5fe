// Package report writes what a lake knows as one HTML page.
//
// Takes: Data: the answers to the report's queries, as values.
// Gives: one self-contained page: sections with charts (inline SVG), the numbers behind each in a table,
// how each is defined, and the statements that were asked.
// Keeps: the same values give the same bytes; no clock, no network, no script. Every text goes through
// html/template, charts included: nothing in the data is ever markup. What would steer a terminal or turn
// the direction of writing is replaced by U+FFFD.
// Fails: with the writer's errors only.
// May change here: a new section is one file and a line in sections.
package report
