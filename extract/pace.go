package extract

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// pacer decides when a request may leave. All feeds share one, because the limit is the account's: a
// server that asks one feed to wait has asked them all.
type pacer struct {
	limiter *rate.Limiter // nil: no limit of our own

	mu     sync.Mutex
	until  time.Time
	reason string
}

func newPacer(perSecond float64) *pacer {
	if perSecond == 0 {
		return &pacer{}
	}
	return &pacer{limiter: rate.NewLimiter(rate.Limit(perSecond), 1)}
}

// hold stops all requests for d from now. A shorter hold never ends a longer one.
func (p *pacer) hold(d time.Duration, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until, p.reason = until, reason
	}
}

func (p *pacer) held() (time.Duration, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Until(p.until), p.reason
}

// admit returns when a request may leave. It calls waiting before each wait for a hold.
func (p *pacer) admit(ctx context.Context, waiting func(d time.Duration, reason string)) error {
	for {
		if err := p.passHold(ctx, waiting); err != nil {
			return err
		}
		if err := p.takeTurn(ctx); err != nil {
			return err
		}
		// A hold may have begun while this request waited for its turn.
		if left, _ := p.held(); left <= 0 {
			return nil
		}
	}
}

// passHold waits until nothing is held.
func (p *pacer) passHold(ctx context.Context, waiting func(d time.Duration, reason string)) error {
	for {
		left, reason := p.held()
		if left <= 0 {
			return nil
		}
		// Not all feeds in the same instant; never earlier than asked.
		left += rand.N(min(left/10, time.Second) + 1)
		waiting(left, reason)
		if err := sleep(ctx, left); err != nil {
			return fmt.Errorf("%s: %w", reason, err)
		}
	}
}

// takeTurn waits until our own rate allows a request.
func (p *pacer) takeTurn(ctx context.Context) error {
	if p.limiter == nil {
		return nil
	}
	turn := p.limiter.Reserve()
	if err := sleep(ctx, turn.Delay()); err != nil {
		turn.Cancel()
		return fmt.Errorf("rate limit: %w", err)
	}
	return nil
}

// sleep waits for d, or fails at once where the context's deadline comes before the wait is over: what
// would be late anyway need not be waited for.
func sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if d <= 0 {
		return nil
	}
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline); left < d {
			return fmt.Errorf("would have to wait %s, but the deadline is in %s: %w",
				d.Round(time.Millisecond), left.Round(time.Millisecond), context.DeadlineExceeded)
		}
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

// ended is the error of a context that is done, with its cause.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}
