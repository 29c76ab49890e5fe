package extract

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// pacer decides when a request may leave. All feeds share one, because the limit is the account's: a
// server that asks one feed to wait has asked them all.
type pacer struct {
	rate *adaptiveRate

	mu     sync.Mutex
	until  time.Time // no request leaves before
	reason string
}

// waiter waits, and shows and counts the wait.
type waiter func(ctx context.Context, d time.Duration, reason string) error

func newPacer(perSecond float64) *pacer { return &pacer{rate: newAdaptiveRate(perSecond)} }

// hold stops all requests for d from now. A shorter hold never ends a longer one.
func (p *pacer) hold(d time.Duration, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until, p.reason = until, reason
		p.rate.silent(until)
	}
}

func (p *pacer) held() (time.Duration, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Until(p.until), p.reason
}

// admit returns when a request may leave, with the era of the rate that it leaves in.
func (p *pacer) admit(ctx context.Context, wait waiter) (era int, err error) {
	for {
		if err := p.passHold(ctx, wait); err != nil {
			return 0, err
		}
		if err := p.takeTurn(ctx, wait); err != nil {
			return 0, err
		}
		// A hold may have begun while this request waited for its turn.
		if left, _ := p.held(); left <= 0 {
			return p.rate.left(), nil
		}
	}
}

// passHold waits until nothing is held.
func (p *pacer) passHold(ctx context.Context, wait waiter) error {
	for {
		left, reason := p.held()
		if left <= 0 {
			return ended(ctx)
		}
		// Not all feeds in the same instant; never earlier than asked.
		left += rand.N(min(left/10, time.Second) + 1)
		if err := wait(ctx, left, reason); err != nil {
			return fmt.Errorf("%s: %w", reason, err)
		}
	}
}

// takeTurn waits until the rate allows a request.
func (p *pacer) takeTurn(ctx context.Context, wait waiter) error {
	turn := p.rate.reserve()
	delay := turn.Delay()
	if delay <= 0 {
		return nil
	}
	if err := wait(ctx, delay, "keeping to the rate"); err != nil {
		turn.Cancel()
		return fmt.Errorf("rate limit: %w", err)
	}
	return nil
}

// tooLong refuses a wait that the context's deadline would end: what would be late anyway need not be
// waited for. The cause that the caller has given the deadline is not in this error: a context tells
// it only once the deadline has passed.
func tooLong(ctx context.Context, d time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline); left < d {
			return fmt.Errorf("would have to wait %s, but the deadline is in %s: %w",
				d.Round(time.Millisecond), left.Round(time.Millisecond), context.DeadlineExceeded)
		}
	}
	return nil
}

// sleep waits for d or for the end of the context.
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

// ended is the error of a context that is done, with its cause; nil while it is not done.
func ended(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); err != nil && !errors.Is(cause, err) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
