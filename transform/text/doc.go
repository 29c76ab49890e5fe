// Package text reads the free texts of deals into numbers and words: spreads, yields, sizes, tenors.
//
// Takes: a text as the source wrote it, and the value of a column that helps to read it (a currency or a date).
// Of several steps of one price it reads all and keeps the latest; remarks that say that they are about something else are left out
// (inContext).
// Gives: a Reading: a status, and the parts that the text names. docs/generated/helper-columns.md says what
// each parser reads.
// Keeps: a reading depends on its inputs only. A parser reads a complete text or nothing: never only the first number found in it. A
// number that is not in the text comes from a declared rule only (a unit, x (+/-y), 7/8, the sign of
// "inside", flat = 0, par = 100, months as years, basis points as percent, 5+1+1 years, the century of a two-digit year, numbers in words, par less a
// discount, a size and its oversubscriptions as a sum). Numbers are exact
// and never pass through a float; one that does not fit its column, or that is not plausible (see
// bounds.go), leaves the text UNPARSED. Only Normalise allocates memory, and only for a text that it rewrites.
// Fails: never. A text that a parser does not understand, or of more than mostBytes, has the status UNPARSED.
// May change here: what a parser understands, with a new lake.ParserVersion and a case in
// testdata/parsing; a new parser, with its row in parsers.
package text
