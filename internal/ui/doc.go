// Package ui serves the explorer: pages about a lake, as of now or as of any instant.
//
// Takes: an asof.Lake; functions that say what `dealflow status` and `dealflow runs` say; HTTP requests.
// Gives: HTML pages that work without a script, and the tables of pages as CSV, JSON and Parquet.
// Keeps: a page is a function of the lake, the instant in its path, and its address; Health and Runs of the newest state
// also say what is so now. Everything that a page says of deals comes from statements of sql/explorer through an asof.View,
// so that a page as of an instant says nothing that was learned later. No value of the data is ever markup. Nothing is
// written. No page makes a browser ask another host for anything.
// Fails: a page says what could not be answered, with the statement; the other sections go on.
// May change here: a page is a line in pages (pages.go), a function, a template, and its statements in sql/explorer.
package ui
