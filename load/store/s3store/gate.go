package s3store

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"dealflow/load/store"
)

// gate makes all requests of a store wait while its provider asks for fewer: if each waited on its own, they would keep
// the provider overloaded. It is safe for concurrent use.
type gate struct {
	first, longest time.Duration

	mu    sync.Mutex
	holds int       // consecutive ones, without a success in between
	began time.Time // of the last hold
	until time.Time
}

// wait blocks until the gate is open or ctx has ended. Those that wait return spread over some time.
func (g *gate) wait(ctx context.Context) error {
	for {
		g.mu.Lock()
		left := time.Until(g.until)
		g.mu.Unlock()
		if left <= 0 {
			return ctx.Err()
		}
		if err := store.Pause(ctx, left+rand.N(left/4+1)); err != nil {
			return err
		}
	}
}

// hold closes the gate after the provider turned down a request. sent is when the request was sent. The gate stays
// closed for at least as long as the provider asks. A request that was sent before the last hold began does not
// lengthen the backoff. It returns how long the gate is closed from now on.
func (g *gate) hold(sent time.Time, atLeast time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	wait := atLeast
	if sent.After(g.began) {
		wait = max(wait, backoff(g.first, g.longest, g.holds))
		g.holds++
		g.began = now
	}
	if until := now.Add(wait); until.After(g.until) {
		g.until = until
	}
	return g.until.Sub(now)
}

// passed records the success of a request that was sent at an instant.
func (g *gate) passed(sent time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if sent.After(g.began) {
		g.holds = 0
	}
}

// backoff returns a random wait: between half and all of first·2^times, which is at most longest.
func backoff(first, longest time.Duration, times int) time.Duration {
	wait := min(longest, first<<min(times, 20))
	return wait/2 + rand.N(wait/2+1)
}
