// Package operator has the pages of those who run the lake: Health and Runs.
//
// Takes: a Source, which says what `dealflow status` and `dealflow runs` say; requests.
// Gives: contents of pages.
// Keeps: a page as of an instant has what commits say. What is so now is on pages of the newest state alone.
// Fails: with the error of the Source or of a statement.
// May change here: a page is a line in Pages, a function and a template.
package operator
