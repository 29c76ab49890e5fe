package extract

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// mostThrottled limits how often in a row the server may ask one request to wait, as a multiple of MaxAttempts. Such
// answers are no failures, but they must end.
const mostThrottled = 10

// retryable marks an error that another attempt may cure.
type retryable struct {
	err     error
	hold    bool          // every feed must wait, at least for after
	slower  bool          // the requests were too fast
	after   time.Duration // the wait that the server asked for
	ordered bool          // the server asked for a wait
	free    bool          // expected now and then: the next attempt is made at once, and this one does not count
}

func (e *retryable) Error() string { return e.err.Error() }
func (e *retryable) Unwrap() error { return e.err }

// repeat calls try until it succeeds, fails for good, or MaxAttempts is reached. Between attempts it waits: as long as
// the server asks, together with all other feeds, or else a random part of an interval that doubles each time.
func (j *job) repeat(ctx context.Context, what string, try func(context.Context) error) error {
	failures, throttled := 0, 0
	for {
		era, err := j.client.pace.admit(ctx, j.waiter(what))
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		err = try(ctx)
		var retry *retryable
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", what, ended(ctx))
		case !errors.As(err, &retry):
			return err
		case retry.free:
			j.log.Info("request is repeated at once", "url", what, "error", retry.err)
			continue
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
			return fmt.Errorf("the API asked for a wait of %s, want %s at most: %w", retry.after, j.client.cfg.MaxWait, retry.err)
		}
		if err := j.pause(ctx, what, era, retry, failures+throttled); err != nil {
			return fmt.Errorf("%w (after: %w)", err, retry.err)
		}
		j.tally.retries.Add(1)
	}
}

// pause waits between two attempts, or makes the next admit wait.
func (j *job) pause(ctx context.Context, what string, era int, retry *retryable, attempt int) error {
	backoff := j.client.backoff(attempt)
	j.log.Warn("request failed", "url", what, "attempt", attempt, "error", retry.err)
	if retry.slower {
		if rate, lowered := j.client.pace.rate.slower(era); lowered {
			j.log.Info("lowering the request rate", "requests_per_second", rate)
		}
	}
	if !retry.hold {
		return j.waiter(what)(ctx, backoff, "repeating a failed request")
	}
	wait := retry.after
	if !retry.ordered || wait == 0 {
		wait = backoff
	}
	j.client.pace.hold(wait, "the API asked to wait")
	// All feeds wait in admit; here only the deadline is checked.
	return tooLong(ctx, wait)
}

// waiter returns a function that waits, and logs, reports and counts the wait. It counts the time that really passed.
func (j *job) waiter(what string) waitFunc {
	return func(ctx context.Context, d time.Duration, reason string) error {
		if err := tooLong(ctx, d); err != nil {
			return err
		}
		level := slog.LevelInfo
		if d < time.Second {
			level = slog.LevelDebug
		}
		j.log.Log(ctx, level, "waiting", "url", what, "wait", d, "reason", reason)
		j.progress(d, reason)
		j.tally.waits.Add(1)
		began := time.Now()
		defer func() { j.tally.waited.Add(int64(time.Since(began))) }()
		return sleep(ctx, d)
	}
}

// backoff returns a random time up to Backoff, doubled with each attempt, up to MaxBackoff ("full jitter").
func (c *Client) backoff(attempt int) time.Duration {
	limit := c.cfg.Backoff
	for ; attempt > 1 && limit < c.cfg.MaxBackoff; attempt-- {
		limit *= 2
	}
	return rand.N(min(limit, c.cfg.MaxBackoff) + 1)
}

// retryAfter parses a Retry-After header: seconds, or an HTTP date. It compares a date with the answer's own Date
// header, so that the two clocks need not agree (RFC 9110 §10.2.3). The wait is never negative. It returns false for
// any other text. More seconds than a Duration can contain give the longest Duration, so that a wait that is too long
// does not count as none.
func retryAfter(header http.Header) (time.Duration, bool) {
	text := strings.TrimSpace(header.Get("Retry-After"))
	seconds, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err == nil && seconds <= math.MaxInt64/uint64(time.Second):
		return time.Duration(seconds) * time.Second, true
	case err == nil, errors.Is(err, strconv.ErrRange):
		return math.MaxInt64, true
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
