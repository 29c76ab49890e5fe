// Package arch checks the shape of the program: who may import whom, and that cited pages and tests exist.
//
// Takes: the source tree.
// Gives: nothing to import.
// Keeps: the rooms import schemas and not each other; they meet only in the use cases, internal/catalog,
// internal/maintain and internal/pull, and in cmd. Statements outside sql read only public names of a catalog.
// Fails: with what to do instead.
// May change here: the table in arch_test.go, when the design changes; the kinds of files that cite pages, in docs_test.go.
package arch
