// Package deals has the pages about deals: Pipeline, Deals, a deal with its versions, Changes.
//
// Takes: requests.
// Gives: contents of pages.
// Keeps: what a page says comes from statements of sql/explorer, asked through the request's View.
// Fails: with the error of a statement; with a status for an address that names nothing.
// May change here: a page is a line in Pages, a function, a template, and its statements in sql/explorer.
package deals
