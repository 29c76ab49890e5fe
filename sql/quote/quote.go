// Package quote writes texts and names into SQL.
// Takes: any text without U+0000.
// Gives: SQL that DuckDB, and other engines that follow the standard, read as that text or name.
// And statements around a query: ToParquet, Once.
// Keeps: no text ends its quotes.
// Fails: never.
// May change here: the settings of Parquet files that answers are copied to.
package quote

import "strings"

// Text returns a text as a literal: 'it”s'.
func Text(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Name returns a name as an identifier: "by".
func Name(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// ToParquet returns the statement that copies the answer of another one to a Parquet file. DuckDB returns its number of rows.
func ToParquet(statement, path string) string {
	return "COPY (" + statement + ") TO " + Text(path) + " (FORMAT parquet, COMPRESSION zstd)"
}
