package main

import "runtime/debug"

// gcPercent is the growth of the heap, in percent of the live heap, after which Go collects garbage. The heap of a pull
// consists of buffers, which are cheap to scan. A third of Go's default saves a third of the memory and costs a few
// percent more CPU time (docs/bench).
const gcPercent = 30

// spareHeap is how far the heap may grow at least while feeds are read and written: at this size that phase needs no more
// memory than the catalog after it.
const spareHeap = 32 << 20

// saveMemory makes garbage collection more frequent until restore is called, unless the user has set GOGC. It returns by how many bytes the heap
// may grow all the same where memory is to spare. The setting is of the whole process.
func (a *app) saveMemory() (spare int64, restore func()) {
	if a.getenv("GOGC") != "" {
		return 0, func() {}
	}
	before := debug.SetGCPercent(gcPercent)
	return spareHeap, func() { debug.SetGCPercent(before) }
}
