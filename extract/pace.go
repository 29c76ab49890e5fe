package extract

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// pacer decides when a request may be sent. All feeds share one because the limit is the account's: a server that asks
// one feed to wait means all of them. It is safe for concurrent use.
type pacer struct {
	rate *adaptiveRate

	mu     sync.Mutex
	until  time.Time // no request is sent before
	reason string
}

// waitFunc waits for d, and logs, reports and counts the wait.
type waitFunc func(ctx context.Context, d time.Duration, reason string) error

func newPacer(perSecond float64) *pacer { return &pacer{rate: newAdaptiveRate(perSecond)} }

// hold stops all requests for d from now. A shorter hold never ends a longer one.
func (p *pacer) hold(d time.Duration, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until, p.reason = until, reason
		p.rate.pauseUntil(until)
	}
}

func (p *pacer) held() (time.Duration, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Until(p.until), p.reason
}

// admit waits until a request may be sent. era identifies the rate at which the request is sent; see
// adaptiveRate.slower.
func (p *pacer) admit(ctx context.Context, wait waitFunc) (era int, err error) {
	for {
		if err := p.passHold(ctx, wait); err != nil {
			return 0, err
		}
		if err := p.acquireTurn(ctx, wait); err != nil {
			return 0, err
		}
		// A hold may have begun while this request waited for its turn.
		if left, _ := p.held(); left <= 0 {
			return p.rate.recordSent(), nil
		}
	}
}

// passHold waits until there is no hold.
func (p *pacer) passHold(ctx context.Context, wait waitFunc) error {
	for {
		left, reason := p.held()
		if left <= 0 {
			return ended(ctx)
		}
		// Spread the feeds over a tenth of the wait; never earlier than asked.
		left += rand.N(min(left/10, time.Second) + 1)
		if err := wait(ctx, left, reason); err != nil {
			return fmt.Errorf("%s: %w", reason, err)
		}
	}
}

// acquireTurn waits until the rate allows a request.
func (p *pacer) acquireTurn(ctx context.Context, wait waitFunc) error {
	turn := p.rate.reserve()
	delay := turn.Delay()
	if delay <= 0 {
		return nil
	}
	if err := wait(ctx, delay, "request rate limit"); err != nil {
		turn.Cancel()
		return fmt.Errorf("rate limit: %w", err)
	}
	return nil
}

// tooLong refuses a wait that would pass the context's deadline, without waiting for it. The error lacks the cause that
// the caller has given the deadline: a context returns its cause only after the deadline.
func tooLong(ctx context.Context, d time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline); left < d {
			return fmt.Errorf("the next request must wait %s, but the deadline is in %s: %w",
				d.Round(time.Millisecond), left.Round(time.Millisecond), context.DeadlineExceeded)
		}
	}
	return nil
}

// sleep waits for d or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

// ended returns the error of a context that is done, with its cause; nil if it is not done.
func ended(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); err != nil && !errors.Is(cause, err) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
