// Package mirror gives DuckDB a local folder of a lake's files, wherever the lake is stored.
//
// Takes: a store, and files as commits name them.
// Gives: a folder that contains each file that was fetched, under its path in the lake. The folder of a lake that is
// itself a local folder is that folder, and nothing is fetched.
// Keeps: a copy is used only if its bytes have the SHA-256 that the commit names. Copies are shared by all mirrors of a
// cache folder, also those of other processes.
// Fails: ErrNotCommitted for a file with other bytes; the store's errors, with the file's path.
// May change here: how much a cache keeps and when it makes room.
package mirror
