// Package oracle computes the rows that a deal's JSON flattens to in the seventeen tables. It is simple and
// independent: tests compare the product's flattening with it.
//
// Takes: testdata/tables.md (names, types and sources of all columns, read at run time), then a feed, its base URL
// and the exact bytes of one deal.
// Gives: the rows of each table of that feed, spelled as testdata/samples/expected spells them; a readable diff of
// two row sets.
// Keeps: no code shared with transform or schemas/lake; correct before fast (maps, big.Rat); no I/O. An Oracle never
// changes and may be shared by goroutines.
// Fails: Parse names the line it cannot read. Rows returns an error for a record that belongs in quarantine (no
// object, no usable id, repeated member name, invalid UTF-8 or JSON), an unknown feed and an unusable base URL. A
// value that does not fit its column is no error: it is nil.
// May change here: the forms of Markdown it reads. A new column or table needs no change.
package oracle
