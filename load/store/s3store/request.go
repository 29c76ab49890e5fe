package s3store

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"dealflow/load/store"
)

// do sends a request, and again if that may help. op and key are for its error.
func (s *Store) do(ctx context.Context, op, key string, send func(context.Context) error) error {
	_, err := s.try(ctx, op, key, send)
	return err
}

// try is do, but also reports whether an attempt before the last one may have been applied although its answer was
// lost.
func (s *Store) try(ctx context.Context, op, key string, send func(context.Context) error) (unsure bool, err error) {
	for attempt := 1; ; attempt++ {
		sent, err := s.send(ctx, send)
		if err == nil {
			s.gate.passed(sent)
			return unsure, nil
		}
		fault := s.fault(op, key, err)
		if ctx.Err() != nil {
			return unsure, fault.ended(ctx)
		}
		if !fault.again || attempt == s.cfg.Attempts {
			return unsure, fault
		}
		if fault.retryAfter > s.cfg.LongestWait {
			return unsure, fmt.Errorf("the provider asked for a wait of %s, want %s at most: %w", fault.retryAfter, s.cfg.LongestWait, fault)
		}
		s.cfg.Log.Warn("request failed", "op", op, "key", key, "attempt", attempt, "error", fault)
		unsure = unsure || fault.mayBeApplied()
		if fault.slowDown {
			s.logWait(ctx, key, s.gate.hold(sent, fault.retryAfter), "the provider asked for fewer requests")
			continue // the next attempt waits at the gate
		}
		wait := backoff(s.cfg.Wait, s.cfg.LongestWait, attempt-1)
		s.logWait(ctx, key, wait, "repeating a failed request")
		if err := store.Pause(ctx, wait); err != nil {
			return unsure, fault.ended(ctx)
		}
	}
}

// logWait logs a wait as extract logs those of the API.
func (s *Store) logWait(ctx context.Context, key string, wait time.Duration, reason string) {
	level := slog.LevelInfo
	if wait < time.Second {
		level = slog.LevelDebug
	}
	s.cfg.Log.Log(ctx, level, "waiting", "key", key, "wait", wait, "reason", reason)
}

// send waits for a free slot and for the gate, then sends once.
func (s *Store) send(ctx context.Context, send func(context.Context) error) (sent time.Time, err error) {
	if err := s.slots.Acquire(ctx, 1); err != nil {
		return time.Time{}, err
	}
	defer s.slots.Release(1)
	if err := s.gate.wait(ctx); err != nil {
		return time.Time{}, err
	}
	sent = time.Now()
	return sent, send(ctx)
}
