// Package sql publishes a lake as a DuckDB catalog.
//
// Takes: the live files, the runs and the root of a lake, as values.
// Gives: catalog.duckdb: the default schema (each table as of now), snapshots, history, as-of macros,
// the index of deals, runs and feed runs, every column with its comment; and connections to query it.
// Keeps: the catalog is derived: it is built whole beside and never the only copy of anything. Views
// name the committed files and nothing else, as paths below one root, which SET VARIABLE lake moves.
// Fails: DuckDB's errors, with the statement's name.
// May change here: a new view or macro is one .sql file in views/ or macros/.
package sql
