// Package ui is the explorer: pages about a lake, as of now or as of any instant.
//
// Takes: an asof.Lake; functions that say what `dealflow status` and `dealflow runs` say.
// Gives: the server of all pages.
// Keeps: a page as of an instant says nothing that was learned later (TestExplorer). No text of the data is markup
// (TestHostileTexts).
// Fails: with an error of a template.
// May change here: which pages there are. What they share is in frame, what they show in operator, deals and study.
package ui
