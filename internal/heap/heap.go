package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Grow lets the heap grow by this many bytes before garbage is collected, or by the percentage that is set, whichever is
// more. stop restores the percentage. The setting is of the whole process: call stop before the next Grow. stop may be
// called again, and by any goroutine. Without bytes, and if garbage is not collected at all, nothing is set.
//
// A percentage alone is wrong for a program whose live heap is small and whose garbage is many large buffers: a low one
// collects all the time, and a high one makes a large heap half garbage.
func Grow(bytes int64) (stop func()) {
	least := percentSet()
	if bytes <= 0 || least < 0 {
		return func() {}
	}
	g := &growth{bytes: bytes, least: least, percent: least}
	g.adjust()
	return g.stop
}

// growth is a Grow that has not ended.
type growth struct {
	bytes int64
	least int // percent, as it was set before

	mu      sync.Mutex
	percent int // as it is set now
	stopped bool
}

// adjust sets the percentage for the heap that the last collection has left, now and after each following one.
func (g *growth) adjust() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	if percent := max(g.least, percentOf(g.bytes, liveHeap())); percent != g.percent {
		g.percent = percent
		debug.SetGCPercent(percent)
	}
	// A finalizer is called after the collection that has found its object unreachable: this one at once.
	runtime.SetFinalizer(&collected{growth: g}, func(c *collected) { c.growth.adjust() })
}

// collected is an object that nothing refers to.
type collected struct{ growth *growth }

func (g *growth) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.stopped {
		g.stopped = true
		debug.SetGCPercent(g.least)
	}
}

// mostPercent bounds the growth of a heap that is almost empty, and of which the next collection finds much more.
const mostPercent = 400

func percentOf(bytes, live int64) int {
	if live*mostPercent <= bytes*100 {
		return mostPercent
	}
	return int(bytes * 100 / live)
}

// liveHeap returns the bytes that the last collection has found to be in use.
func liveHeap() int64 { return read("/gc/heap/live:bytes") }

// percentSet returns the percentage that is set; less than 0 if garbage is not collected.
func percentSet() int { return int(read("/gc/gogc:percent")) }

// read returns a number of package runtime/metrics.
func read(name string) int64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
