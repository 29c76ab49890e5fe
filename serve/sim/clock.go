package sim

import (
	"sync"
	"time"
)

// Clock is what tells a Market its present. It may be called concurrently.
type Clock func() time.Time

// ManualClock stands still until it is set: for tests and demonstrations. Its methods may be called
// concurrently; pass its Now as Config.Clock.
type ManualClock struct {
	mu  sync.Mutex
	now time.Time
}

// NewManualClock is a clock that stands at t.
func NewManualClock(t time.Time) *ManualClock { return &ManualClock{now: t.UTC()} }

// Now is where the clock stands, in UTC.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock to t, which may lie in its past.
func (c *ManualClock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t.UTC()
}

// Advance moves the clock by d and gives the new instant.
func (c *ManualClock) Advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// RealClock runs from start on, speed times as fast as the machine's monotonic clock; 1 is real
// time.
func RealClock(start time.Time, speed float64) Clock {
	origin := time.Now()
	start = start.UTC()
	return func() time.Time {
		return start.Add(time.Duration(float64(time.Since(origin)) * speed))
	}
}
