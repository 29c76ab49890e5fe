// Package manifest writes manifests and manifest lists: the Avro files of the Iceberg format, version 2.
// Takes: entries, and what a manifest says of its table.
// Gives: the bytes of a file, and the form of entries for readers.
// Keeps: the same entries give the same bytes.
// Fails: if an entry cannot be encoded.
// May change here: which optional fields of the format there are.
package manifest
