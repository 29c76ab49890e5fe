package s3store

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestGateHoldsAll checks that all senders wait after one was told to slow down, and longer each time.
func TestGateHoldsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{first: time.Second, longest: 20 * time.Second}
		began := time.Now()
		wait := func() time.Duration {
			before := time.Now()
			if err := g.wait(t.Context()); err != nil {
				t.Error(err)
			}
			return time.Since(before)
		}
		if got := wait(); got != 0 {
			t.Errorf("an open gate holds for %s", got)
		}
		time.Sleep(time.Millisecond)
		sent := time.Now()
		for range 8 { // all requests under way are turned down: that counts as one hold
			g.hold(sent, 0)
			time.Sleep(time.Millisecond)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got := wait(); got < 400*time.Millisecond || got > 1300*time.Millisecond {
					t.Errorf("held for %s, want half a second to a second and a bit", got)
				}
			})
		}
		all.Wait()
		for _, least := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second} {
			sent := time.Now()
			time.Sleep(time.Millisecond)
			g.hold(sent, 0)
			if got := wait(); got < least-time.Millisecond || got > 2*least+least {
				t.Errorf("held for %s, want %s to %s and a bit", got, least, 2*least)
			}
		}
		g.passed(began) // the success of a request that was sent before the hold does not count
		g.hold(time.Now(), 0)
		if got := wait(); got < 10*time.Second {
			t.Errorf("held for %s after an old success, want 10 s at least", got)
		}
		time.Sleep(time.Millisecond)
		g.passed(time.Now())
		g.hold(time.Now(), 0)
		if got := wait(); got > 1300*time.Millisecond {
			t.Errorf("held for %s after a success, want a second and a bit at most", got)
		}
	})
}

// TestGateHonoursTheProvider checks that senders wait at least as long as the provider asks.
func TestGateHonoursTheProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{first: time.Second, longest: 20 * time.Second}
		before := time.Now()
		time.Sleep(time.Millisecond)
		g.hold(time.Now(), 7*time.Second)
		g.hold(before, 12*time.Second) // the wait asked for by the answer to an older request counts too
		if err := g.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(before); got < 12*time.Second || got > 16*time.Second {
			t.Errorf("held for %s, want 12 s and a bit", got)
		}
	})
}

func TestGateEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{first: time.Hour, longest: time.Hour}
		time.Sleep(time.Millisecond)
		g.hold(time.Now(), time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		before := time.Now()
		if err := g.wait(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(before) != time.Second {
			t.Errorf("got %v after %s", err, time.Since(before))
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "0": 0, "-3": 0, "soon": 0, "99999999999999": 0,
		"Fri, 20 Nov 2026 22:00:30 GMT": 30 * time.Second, "Fri, 20 Nov 2026 21:00:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// TestOfAWS checks which endpoints count as AWS: checksums are sent there.
func TestOfAWS(t *testing.T) {
	for endpoint, want := range map[string]bool{
		"https://s3.eu-west-1.amazonaws.com":               true,
		"https://x.vpce-1.s3.eu-west-1.vpce.amazonaws.com": true,
		"https://s3.cn-north-1.amazonaws.com.cn":           true,
		"https://account.r2.cloudflarestorage.com":         false,
		"https://amazonaws.com.example.org":                false,
		"http://127.0.0.1:7070":                            false,
		"::":                                               false,
	} {
		if got := isAWS(endpoint); got != want {
			t.Errorf("%s: got %t, want %t", endpoint, got, want)
		}
	}
}

// TestSilentBody checks that a body fails when nothing comes any more, but not when it comes slowly.
func TestSilentBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		body, provider := io.Pipe()
		context.AfterFunc(ctx, func() { provider.CloseWithError(context.Cause(ctx)) })
		r := &bodyReader{ctx: ctx, cancel: cancel, body: body, fault: func(err error) *Error { return new(Store).fault("get", "k", err) }}
		go func() {
			for range 3 {
				time.Sleep(responseTimeout - time.Second)
				_, _ = provider.Write([]byte("piece")) // the reader says what went wrong
			}
		}()
		before := time.Now()
		data, err := io.ReadAll(r)
		if string(data) != "piecepiecepiece" || !errors.Is(err, errSilent) {
			t.Errorf("got %q, %v, want three pieces and errSilent", data, err)
		}
		if got, want := time.Since(before), 4*responseTimeout-3*time.Second; got != want {
			t.Errorf("gave up after %s, want %s", got, want)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// transport is an http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// TestSentBody checks that a request ends when the provider takes no more of its body, but not when it takes it slowly.
func TestSentBody(t *testing.T) {
	for _, c := range []struct {
		pieces int           // that the provider takes
		takes  time.Duration // for each
		want   error
		after  time.Duration
	}{
		{3, sendTimeout - time.Second, nil, 3 * (sendTimeout - time.Second)},
		{2, sendTimeout - time.Second, errNotTaken, 2*(sendTimeout-time.Second) + time.Second},
		{1, 0, errNotTaken, sendTimeout},
		{0, 0, errNotTaken, sendTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			var ended context.Context
			s := sender{transport(func(r *http.Request) (*http.Response, error) {
				ended = r.Context()
				for range c.pieces {
					if _, err := io.ReadFull(r.Body, make([]byte, 5)); err != nil {
						return nil, err
					}
					time.Sleep(c.takes)
				}
				if c.want == nil {
					return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("done"))}, nil
				}
				<-r.Context().Done()
				return nil, r.Context().Err()
			})}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://127.0.0.1/", strings.NewReader("piecepiecepiece"))
			if err != nil {
				t.Fatal(err)
			}
			before := time.Now()
			answer, err := s.RoundTrip(request)
			if took := time.Since(before); !errors.Is(err, c.want) || took != c.after {
				t.Errorf("%d pieces: %v after %s, want %v after %s", c.pieces, err, took, c.want, c.after)
			}
			if err == nil {
				time.Sleep(2 * sendTimeout) // the answer is read slowly
				if ended.Err() != nil {
					t.Error("the answer cannot be read any more")
				}
				if err := answer.Body.Close(); err != nil {
					t.Error(err)
				}
			}
			if ended.Err() == nil {
				t.Errorf("%d pieces: the request's context lives on", c.pieces)
			}
			if err != nil && !new(Store).fault("put", "k", err).again {
				t.Errorf("%v is not tried again", err)
			}
		})
	}
}
