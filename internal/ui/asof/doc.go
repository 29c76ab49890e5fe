// Package asof answers the explorer's statements about a lake as of an instant.
//
// Takes: Editions, each a lake at one commit with its catalog open; the instant that a reader asks for.
// Gives: a View, the lake as it was known at that instant. A View is the only way from a page to a connection, and only
// this package can make one.
// Keeps: a View runs the statements of sql/explorer alone, with its instant bound to $as_of, and lists the commits up to
// it alone. So nothing that was learned later is in an answer (TestNoLookAhead, TestPinnedPages). A View keeps its
// edition open until it is released; an older edition is closed after its last View. What goes on in the background, a newer
// edition that is opened or a large catalog that is cut, ends with the Lake.
// Fails: with ErrBusy if too many statements wait, with ErrCutting while a large catalog is cut, with ErrBroken if the engine itself failed; with DuckDB's message otherwise.
// May change here: the number of statements at once, and what answers cost in memory (limits.go).
package asof
