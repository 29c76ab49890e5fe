// Package report writes the contents of a lake as one HTML page.
//
// Takes: Data, the results of the report's queries, as values.
// Gives: one self-contained page. It has sections with charts (inline SVG), the numbers of each chart in a table,
// the definition of each chart, and the SQL statements.
// Keeps: the same values give the same bytes; no clock, no network, no script. Every text goes through
// html/template, charts included: nothing in the data is ever markup. Characters that could steer a terminal or
// change the direction of writing become U+FFFD.
// Fails: with the writer's errors only.
// May change here: a new section is one file and a line in sections.
package report
