package main

import "runtime/debug"

// gcPercent is how far the heap may grow beyond what is in use before it is collected, in percent. A pull holds
// buffers, which cost little to look through: at a third of Go's default it needs a third less memory and
// a few percent more CPU time (docs/bench).
const gcPercent = 30

// saveMemory has the heap collected more often, unless the user says how often.
func (a *app) saveMemory() {
	if a.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
