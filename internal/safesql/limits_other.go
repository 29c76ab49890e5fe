//go:build !unix

package safesql

// canLimit says whether a process can limit the files that it writes.
const canLimit = false
