// Package parquet writes and reads Parquet files of a lake, each for itself.
// Takes: Arrow records of one table, in the order of the file; for reading, a store and a key.
// Gives: a finished file, with its size, SHA-256 and range of deal_ids, to the caller's put function. For reading:
// records, footers, and the keys and cells of rows in a form that can be compared and hashed.
// Keeps: the same rows give the same bytes. Each record is one row group. Only this package imports the Parquet
// library, because importing it registers a zstd codec for the whole process (zstd.go).
// Fails: with the file's key in the error. If a footer makes the library panic, that is an error too.
// May change here: encodings, row groups, compression.
package parquet
