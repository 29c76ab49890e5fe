package s3store

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// gate holds all senders of a store while its provider asks for fewer requests: senders that each wait
// on their own would keep it overloaded.
type gate struct {
	first, longest time.Duration

	mu    sync.Mutex
	holds int       // in a row, without a success in between
	began time.Time // of the last hold
	until time.Time
}

// wait blocks until the gate is open or ctx has ended. Those that wait come back spread over some time.
func (g *gate) wait(ctx context.Context) error {
	for {
		g.mu.Lock()
		left := time.Until(g.until)
		g.mu.Unlock()
		if left <= 0 {
			return ctx.Err()
		}
		if err := sleep(ctx, left+rand.N(left/4+1)); err != nil {
			return err
		}
	}
}

// hold closes the gate after a request that was sent at an instant was turned down, for at least as long
// as the provider asks. Requests that were under way when the last hold began are answered by that one.
func (g *gate) hold(sent time.Time, atLeast time.Duration) {
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
}

// passed says that a request that was sent at an instant went through.
func (g *gate) passed(sent time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if sent.After(g.began) {
		g.holds = 0
	}
}

// backoff is a random part, at least half, of first doubled times over, and at most longest.
func backoff(first, longest time.Duration, times int) time.Duration {
	wait := min(longest, first<<min(times, 20))
	return wait/2 + rand.N(wait/2+1)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
