// Package answer reads the result of a query and writes it as exact text: CSV, JSON, JSON lines, or cells for a table.
// Takes: an open DuckDB database, and a statement.
// Gives: rows, one at a time.
// Keeps: decimals have all digits of their scale, instants are RFC 3339, NULL differs from the empty text.
// Fails: DuckDB's errors, the writer's.
// May change here: a further format of text.
package answer
