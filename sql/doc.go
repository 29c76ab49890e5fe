// Package sql publishes a lake as a DuckDB catalog.
//
// Takes: the live files, the runs and the root of a lake, the user's aliases, an earlier catalog, and a
// function that says what changed between versions; all as values.
// Gives: catalog.duckdb: the default schema (each table as of now), snapshots, history, as-of macros, the
// index of deals, the analyses, what is derived from history version by version (field_change, the
// lineage of tranches), runs and feed runs, every column with its comment; what the quality checks say of
// it; connections to query it; and the texts of examples and of the report's queries.
// Keeps: the catalog is derived: it is made whole beside and never the only copy of anything. Views
// name the committed files and nothing else, as paths below one root, which SET VARIABLE lake moves. What
// is derived from a version hangs on it and earlier ones alone, so a catalog that goes on from an earlier
// one and one made anew say the same. No analysis knows what became known after its as_of.
// Fails: DuckDB's errors, with the step's name.
// May change here: the schema _dealflow, which nothing else reads. A new view or macro is one .sql file in
// views/ or macros/ (layout.go makes them); a new analysis is one file in analyses/, whose comment says how
// it is asked as of an instant; what each commit renews is in refresh/, what it derives in derived/; a new check is one file in
// checks/; what the report asks is in report/.
package sql
