// Package parquet writes and reads one Parquet file of a lake.
//
// Takes: Arrow records of one table, in the order of the file; for reading, a store and a key.
// Gives: a file with its size, SHA-256 and range of deal_ids, handed to the caller's put; and back again: records,
// footers, and the keys and cells of rows in a form that can be compared and hashed.
// Keeps: the same rows give the same bytes. Each record is one row group. This is the only package that imports the
// Parquet library, because importing it registers a zstd codec for the whole process (zstd.go).
// Fails: with the file's key in the error; a footer that makes the library panic is an error too.
// May change here: encodings, row groups, compression.
package parquet
