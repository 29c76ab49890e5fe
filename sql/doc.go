// Package sql publishes a lake as a DuckDB catalog.
//
// Takes: the live files, the runs and the root of a lake; the user's aliases; the previous catalog; and a function that
// compares versions. All of them are values.
// Gives: catalog.duckdb, and connections to query it. The catalog contains the default schema (each table as of now),
// snapshots, history, as-of macros, the index of deals, the analyses, the tables derived from history
// (field_change, the lineage of tranches), the runs and feed runs, and a comment for every column. Build
// also returns the results of the quality checks. The package also gives the texts of examples and of the
// report's queries.
// Keeps: a catalog is derived and never the only copy of anything. It is written to a new file. Views name the
// committed files and nothing else, as paths below one root, which SET VARIABLE lake moves. What is derived from
// a version depends only on this version and earlier ones, so an extended catalog and one built from scratch
// contain the same rows. No analysis uses what became known after its as_of.
// Fails: DuckDB's errors, with the step's name.
// May change here: the schema _dealflow, which nothing else reads. A new view or macro is one .sql file in
// views/ or macros/ (layout.go lists them). A new analysis is one file in analyses/; its comment contains the
// queries that prove it keeps to an instant. What each commit updates is in refresh/; derived tables are in
// derived/; a new check is one file in checks/; the report's queries are in report/.
package sql
