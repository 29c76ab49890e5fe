// Package lake contains the lake's format: every table with its columns as data, the layout of keys, and
// the records of the commit log.
//
// Takes: nothing; it contains declarations and pure functions over them.
// Gives: tables and columns (name, number, type, unit, doc sentence, JSON pointer, Arrow schema),
// object keys, commits, checkpoints, and the state of a feed's deals as values.
// Keeps: no I/O, no clock. A column's number and name never change, because every file ever written stays
// readable. testdata/tables.md is the binding list of columns; TestTables compares this package with it.
// Fails: lookups by name return false if there is no such name; parsing returns errors that name the text.
// May change here: a new column takes one line in its table's file, with the next free number and
// Since set to the raised SchemaVersion; so has a new table.
package lake
