// Package text reads the free texts of deals into numbers and words: spreads, yields, sizes, tenors.
//
// Takes: a text as the source wrote it, and what stands beside it (a currency or a date).
// Gives: a Reading: a status, and the parts that the text names. docs/generated/helper-columns.md tells what each
// parser reads.
// Keeps: pure. A text is read as a whole or not at all: never the first number found in it. A number
// that is not in the text comes from a declared rule only (a unit, x (+/-y), 7/8, the sign of
// "inside", flat = 0, par = 100, months as years, the century of a two-digit year). Numbers are exact
// and never pass through a float; one that does not fit its column, or that is not plausible (see
// bounds.go), leaves the text UNPARSED. Nothing is allocated but what Normalise must rewrite.
// Fails: never; a text that says something else has the status UNPARSED.
// May change here: what a parser understands, with a new lake.ParserVersion and a case in
// testdata/parsing; a new parser, with its row in parsers.
package text
