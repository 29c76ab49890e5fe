// Package known says when the versions of deals, and so the rows of history, became known and stopped being current.
// Takes: an open lake; the history of its tables, and deal_versions, which has the instants.
// Gives: commits by number, versions by feed, and the rows of a data file by the commits at which they changed (Event).
// Keeps: of a file only the columns that say that are read, a few files at a time. It writes nothing.
// Fails: with the file in the error. A row whose version deal_versions does not have is damage.
// May change here: how the rows of a version are found in a file.
package known
