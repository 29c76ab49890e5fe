// Package export writes what changed in a lake between two commits as files, for programs that load them elsewhere.
// Takes: an open lake, its catalog, a store for the files, and where the last export ended.
// Gives: the deals that changed, the rows of these deals in each table, and a manifest that names all files.
// Keeps: a loader that deletes the deals of an export and then inserts its rows has each table as of the export's last
// commit. Each change is in exactly one of two neighbouring exports. Only a manifest makes files visible: it is put
// last, create-only. Nothing is replaced or deleted. The same export again changes nothing.
// Fails: ErrFork, *RestatedError, ErrUsage; other errors name the table.
// May change here: a further format; what a manifest says besides. sql/macros says which rows belong to an export.
package export
