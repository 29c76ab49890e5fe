// Package lineage describes commands as events of OpenLineage: that a command began, and how it ended, with the lists that
// it read and the tables that it wrote.
// Takes: what the command is, which commit it made, and the results of its feeds.
// Gives: one JSON document for each event, in the form of the specification 2-0-2.
// Keeps: a command has one START, and one of COMPLETE, FAIL and ABORT. Names of data sets are the same in all commands.
// Fails: only if a value cannot be encoded.
// May change here: more facets. Names of jobs and data sets are never changed: they connect the graph of a reader.
package lineage
