// Package oracle computes the rows of the seventeen tables for a deal's JSON, in a simple and independent way. Tests
// compare the program's rows with them.
//
// Takes: testdata/tables.md (names, types and sources of all columns, read at run time), then a feed, its base URL
// and the exact bytes of one deal.
// Gives: the rows of each table of that feed, spelled as testdata/samples/expected spells them; a readable diff of
// two row sets.
// Keeps: no code shared with transform or schemas/lake; no optimisation (maps, big.Rat); no I/O. An Oracle never
// changes and may be shared by goroutines.
// Fails: Parse names the line it cannot read. Rows returns an error for a record that belongs in quarantine (no
// object, no usable id, repeated member name, invalid UTF-8 or JSON), an unknown feed and an unusable base URL. A
// value that does not fit its column is no error: it is nil.
// May change here: the forms of Markdown it reads. A new column or table needs no change.
package oracle
