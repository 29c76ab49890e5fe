// Package transform turns deals into Arrow batches.
//
// Takes: payloads of one feed (the exact bytes of a deal's JSON object) and what the lake knows of
// the feed's deals (lake.Latest).
// Gives: Arrow records of the feed's flattened tables and of deal_versions, a decision for each deal (whether
// its payload is a new version), content hashes, and the drift found while reading.
// Keeps: it uses no clock, network or disk. The columns of schemas/lake say what is read: their JSON pointers
// are compiled into one trie, and one walk over a payload (transform/jsonread) fills the rows of the deal and
// of all its lists. Then the parsers of transform/text read the texts that have helper columns. Every
// flattened column depends on the deal's content only.
// Decimals come from the JSON text and never pass through a float. No input causes a panic.
// Fails: a record that cannot be read as a deal is an *api.Reject (quarantine); a value that does
// not fit its column is not an error: the cell is NULL, and the value counts as drift. A text that a
// parser cannot read is neither error nor drift: the helper column for the status says so.
// May change here: a new type of column (scalar.go), a new way to find a column's value (walk.go).
// The canonical form (canonical.go) never changes without a new lake.HashVersion.
package transform
