// Package console has the page on which a reader runs statements of their own.
//
// Takes: a Runner; requests.
// Gives: the content of the page: the names that a statement may use, its answer, and the statement for other places; answers as
// files.
// Keeps: a statement is run by the Runner alone, on a catalog that has nothing of what was learned after the instant of the page
// (asof.View.Catalog). At most two run at a time. A link of another site fills the form and runs nothing.
// Fails: a statement that is refused or fails is a part of the page.
// May change here: limits of the page.
package console
