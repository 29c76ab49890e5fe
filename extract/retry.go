package extract

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// mostThrottled bounds how often in a row a request is sent again because the server asked to wait, as
// a multiple of MaxAttempts: such answers are no failures, yet must not go on for ever.
const mostThrottled = 10

// again marks an error that another try may cure.
type again struct {
	err     error
	hold    bool          // every feed has to wait, for at least after
	after   time.Duration // what the server asked for
	ordered bool          // the server asked for a wait
}

func (e *again) Error() string { return e.err.Error() }
func (e *again) Unwrap() error { return e.err }

// repeat calls try until it succeeds, fails for good, or MaxAttempts is reached, and waits in between:
// as long as the server asks, with all other feeds, or else a random part of an interval that doubles
// each time.
func (j *job) repeat(ctx context.Context, what string, try func(context.Context) error) error {
	failures, throttled := 0, 0
	for {
		if err := j.client.pace.admit(ctx, j.waiting(what)); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		err := try(ctx)
		var retry *again
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", what, ended(ctx))
		case !errors.As(err, &retry):
			return err
		}
		if retry.ordered {
			throttled++
		} else {
			failures++
		}
		if failures >= j.client.cfg.MaxAttempts || throttled >= mostThrottled*j.client.cfg.MaxAttempts {
			return fmt.Errorf("gave up after %d attempts: %w", failures+throttled, retry.err)
		}
		if retry.after > j.client.cfg.MaxWait {
			return fmt.Errorf("asked to wait %s, longer than the %s that are allowed: %w", retry.after, j.client.cfg.MaxWait, retry.err)
		}
		if err := j.pause(ctx, what, retry, failures+throttled); err != nil {
			return fmt.Errorf("%w (after: %w)", err, retry.err)
		}
		j.tally.retries.Add(1)
	}
}

// pause waits between two attempts.
func (j *job) pause(ctx context.Context, what string, retry *again, attempt int) error {
	backoff := j.client.backoff(attempt)
	j.log.Warn("request failed", "url", what, "attempt", attempt, "error", retry.err)
	if !retry.hold {
		j.waiting(what)(backoff, "repeating a failed request")
		return sleep(ctx, backoff)
	}
	wait := retry.after
	if !retry.ordered || wait == 0 {
		wait = backoff
	}
	j.client.pace.hold(wait, "the API asked to wait")
	// The wait itself happens in admit, where every feed meets it; here only the deadline is judged.
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return sleep(ctx, wait)
	}
	return nil
}

// waiting gives the function that counts, logs and shows a wait.
func (j *job) waiting(what string) func(time.Duration, string) {
	return func(d time.Duration, reason string) {
		j.tally.waited.Add(int64(d))
		j.log.Info("waiting", "url", what, "wait", d, "reason", reason)
		j.progress(d, reason)
	}
}

// backoff is a random time up to Backoff doubled with each attempt and capped ("full jitter").
func (c *Client) backoff(attempt int) time.Duration {
	limit := c.cfg.Backoff
	for ; attempt > 1 && limit < c.cfg.MaxBackoff; attempt-- {
		limit *= 2
	}
	return rand.N(min(limit, c.cfg.MaxBackoff) + 1)
}

// retryAfter reads a Retry-After header: seconds, or an HTTP date, which is compared with the answer's
// own Date so that the two clocks need not agree (RFC 9110 §10.2.3).
func retryAfter(header http.Header) (time.Duration, bool) {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, at.Sub(now)), true
}
