// Package study has the pages of those who ask a lake their own questions: Tables and Analyses.
//
// Takes: the tables of schemas/lake; the analyses of package sql; requests.
// Gives: contents of pages.
// Keeps: a form asks only what its macro takes; a value of it is bound, never a part of a statement.
// Fails: with the error of a statement; with a status for an address that names nothing.
// May change here: a page is a line in Pages, a function, a template, and its statements in sql/explorer.
package study
