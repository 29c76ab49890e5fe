// Package iceberg publishes a lake as tables of the Iceberg format, version 2, without copying a data file.
// Takes: an open lake, and what the lake's own settings say (Settings).
// Gives: objects under lake.IcebergPrefix: delete files, manifests, manifest lists and table metadata, and one object
// that says what is published (Published). For expire: which objects and data files published tables still need.
// Keeps: all tables are published for the same commit. A reader sees the tables before a publication or after it, never
// a mixture within one table, whichever put fails. No object is replaced except the hints, the settings and Published. What
// was replaced is remembered for the grace (replaced.go).
// Fails: with the table in the error. A failed publication changes no table; the next one does all of its work.
// May change here: how rows are divided into blocks (block.go), which commits stay readable (keep.go).
package iceberg
