package main

import "runtime/debug"

// gcPercent is the growth of the heap, in percent of the live heap, after which Go collects garbage. The heap of a pull
// consists of buffers, which are cheap to scan. A third of Go's default saves a third of the memory and costs a few
// percent more CPU time (docs/bench).
const gcPercent = 30

// saveMemory makes garbage collection more frequent, unless the user has set GOGC.
func (a *app) saveMemory() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
