package pull

import (
	"sync"
	"time"

	"dealflow/schemas/lake"
)

// clock returns a run's instants: the machine's, or those of the server's Date headers. It is safe for concurrent use.
type clock struct {
	machine func() time.Time
	server  bool // instants are the server's

	mu     sync.Mutex
	latest time.Time // the latest instant observed
}

// observe records an instant of observation: the commit must be later.
func (c *clock) observe(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.latest) {
		c.latest = t
	}
}

func (c *clock) observed() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latest
}

// now returns the present instant. The server's clock is known only from its last answer.
func (c *clock) now() time.Time {
	if c.server {
		return c.observed()
	}
	return c.machine()
}

// knownAt returns the instant of a commit: the present, but later than everything observed for it, and later than last,
// the instant of the previous commit.
func (c *clock) knownAt(last lake.Instant) lake.Instant {
	known := lake.At(c.now())
	for _, floor := range []lake.Instant{lake.At(c.observed()), last} {
		if !known.After(floor.Time) {
			known = floor.Next()
		}
	}
	return known
}
