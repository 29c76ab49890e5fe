// Package explorer has the statements of the explorer.
//
// Takes: the tables of schemas/lake.
// Gives: statements by name, each with a sentence that says what it returns, for a catalog of package sql.
// Keeps: a statement reads public names alone, as of the instant of its parameter $as_of (TestStatementsKeepToTheirInstant).
// Fails: with the name of a file that is in another form.
// May change here: a new statement is one file.
package explorer
