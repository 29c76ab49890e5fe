package pull

import (
	"sync"
	"time"

	"dealflow/schemas/lake"
)

// clock gives a run's instants: the machine's, or those of the server's Date headers. It is safe for concurrent use.
type clock struct {
	machine func() time.Time
	server  bool // by the server's Date

	mu     sync.Mutex
	latest time.Time // the latest instant observed
}

// observe takes in an instant of observation: the commit must be later.
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

// now is the present. The server's clock is known only by its answers.
func (c *clock) now() time.Time {
	if c.server {
		return c.observed()
	}
	return c.machine()
}

// knownAt chooses the instant of a commit: the present, but later than everything observed for it and than the commit
// before it, which was at last.
func (c *clock) knownAt(last lake.Instant) lake.Instant {
	at := lake.At(c.now())
	for _, floor := range []lake.Instant{lake.At(c.observed()), last} {
		if !at.After(floor.Time) {
			at = floor.Next()
		}
	}
	return at
}
