// Package live keeps the live files of a log.
// Takes: the files that commits add, and the paths that they remove.
// Gives: the files by path, in order, and by table.
// Keeps: reading costs what is asked for, not what the lake has: after years that is tens of thousands of files, and each feed asks
// for those of its tables.
// Fails: never.
// May change here: how the files are ordered.
package live
