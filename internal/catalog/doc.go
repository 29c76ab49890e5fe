// Package catalog builds, checks, publishes and opens the DuckDB catalog of a lake.
// Takes: an open lake, a cache for lakes that are no local folder, and the state of the lake that the catalog is to
// show.
// Gives: a catalog file, the results of the quality checks, and open catalogs for queries.
// Keeps: a published catalog is never replaced by an older one. A reader whose published catalog is older than the log
// gets a private one that is current.
// Fails: with the step that failed. The only object that it ever writes is catalog.duckdb.
// May change here: when a catalog is extended and when it is built from scratch; how it is published.
package catalog
