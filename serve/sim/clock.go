package sim

import (
	"sync"
	"time"
)

// Clock returns the present of a Market. It must be safe for concurrent use.
type Clock func() time.Time

// ManualClock is a clock for tests and demonstrations. It moves only when it is set. Its methods may be called
// concurrently. Its Now is a Clock.
type ManualClock struct {
	mu  sync.Mutex
	now time.Time
}

// NewManualClock returns a clock at t.
func NewManualClock(t time.Time) *ManualClock { return &ManualClock{now: t.UTC()} }

// Now returns the clock's instant in UTC.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock to t, which can be before the clock's instant.
func (c *ManualClock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t.UTC()
}

// Advance moves the clock by d and returns the new instant.
func (c *ManualClock) Advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// RealClock returns a clock that begins at start and runs speed times as fast as the machine's monotonic clock.
func RealClock(start time.Time, speed float64) Clock {
	origin := time.Now()
	start = start.UTC()
	return func() time.Time {
		return start.Add(time.Duration(float64(time.Since(origin)) * speed))
	}
}
