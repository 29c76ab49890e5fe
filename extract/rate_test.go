package extract

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// throttled makes a market that accepts the given requests per second and answers 429 to others.
func throttled(perSecond int) (m *market, refused *int) {
	m, refused = newMarket().fill(bondPriced, 3, time.Minute), new(int)
	var taken []time.Time
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		now := time.Now()
		for len(taken) > 0 && now.Sub(taken[0]) >= time.Second {
			taken = taken[1:]
		}
		if len(taken) < perSecond {
			taken = append(taken, now)
			return false
		}
		*refused++
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusTooManyRequests, "slow down")
		return true
	}
	return m, refused
}

// ask sends n requests by id from several workers, with answers that take a tenth of a second.
func ask(t *testing.T, c *Client, workers, n int) {
	t.Helper()
	var work sync.WaitGroup
	for range workers {
		spool := newSpool(t, bondPriced)
		work.Go(func() {
			for range n / workers {
				if _, err := c.Confirm(context.Background(), bondPriced, Question{IDs: []int64{1000}}, spool); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
}

// TestRateFollowsTheServer: a server that accepts ten requests a second refuses few, and the time is not much longer
// than necessary.
func TestRateFollowsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, refused := throttled(10)
		cfg := m.config()
		cfg.Transport = slowly(m, 100*time.Millisecond)
		c := newClient(t, cfg)
		began := time.Now()
		const requests = 1500
		ask(t, c, 12, requests)
		took := time.Since(began).Seconds()
		t.Logf("%d of %d requests refused, %.1f s where %d are the least", *refused, requests, took, requests/10)
		if *refused > requests/40 || took > 2*requests/10 {
			t.Errorf("%d refused in %.0f s", *refused, took)
		}
		counts := c.Counts(bondPriced)
		if counts.Requests != requests+counts.Retries || counts.Retries > *refused || counts.Waits == 0 || counts.Waited == 0 {
			t.Errorf("got %+v", counts)
		}
	})
}

// slowly delays a transport's answers.
func slowly(next http.RoundTripper, d time.Duration) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		time.Sleep(d)
		return next.RoundTrip(r)
	})
}

func TestRateFallsAndRises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		send := func(a *adaptiveRate, n int, apart time.Duration) (era int) {
			for range n {
				time.Sleep(apart)
				era = a.recordSent()
			}
			return era
		}
		limit := func(a *adaptiveRate) float64 {
			a.reserve().Cancel()
			return float64(a.limiter.Limit())
		}
		near := func(got, want float64) bool { return got > want*0.95 && got < want*1.05 }

		unlimited := newAdaptiveRate(0)
		old := send(unlimited, 40, 50*time.Millisecond) // 20 a second
		if got, lowered := unlimited.slower(old); !lowered || !near(got, 14) {
			t.Errorf("lowered %v to %v, want seven tenths of the 20 reached", lowered, got)
		}
		// Requests that were already sent say nothing about the new rate.
		if got, lowered := unlimited.slower(old); lowered {
			t.Errorf("lowered to %v a second time for the same burst", got)
		}
		time.Sleep(quietStretch - 1)
		if got := limit(unlimited); !near(got, 14) {
			t.Errorf("raised to %v before a quiet stretch", got)
		}
		time.Sleep(time.Nanosecond)
		if got := limit(unlimited); !near(got, 17.5) {
			t.Errorf("raised to %v after a quiet stretch, want 17.5", got)
		}
		unlimited.pauseUntil(time.Now().Add(time.Hour))
		time.Sleep(time.Hour)
		if got := limit(unlimited); !near(got, 17.5) {
			t.Errorf("raised to %v by an hour in which nothing was tried", got)
		}
		time.Sleep(10 * time.Minute)
		if got := limit(unlimited); got < 1e9 {
			t.Errorf("still limited to %v", got)
		}

		wished := newAdaptiveRate(8)
		if got, lowered := wished.slower(send(wished, 8, 125*time.Millisecond)); !lowered || got > 6 {
			t.Errorf("lowered %v to %v", lowered, got)
		}
		for range 5 {
			if got, _ := wished.slower(send(wished, 1, time.Second)); got < slowest {
				t.Errorf("lowered to %v, below the floor", got)
			}
		}
		time.Sleep(10 * time.Minute)
		if got := limit(wished); got != 8 {
			t.Errorf("raised to %v, want the 8 that were wished for", got)
		}

		snail := newAdaptiveRate(0.1)
		if got, _ := snail.slower(send(snail, 1, time.Second)); got != 0.1 {
			t.Errorf("a 429 raised the rate from 0.1 to %v", got)
		}
	})
}

// TestOverloadIsNoMatterOfRate: a 503 with Retry-After stops all feeds, and leaves the rate unchanged.
func TestOverloadIsNoMatterOfRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMarket().fill(bondPriced, 3, time.Minute)
		m.instead = func(w http.ResponseWriter, r *http.Request) bool {
			if len(m.requests) != 2 {
				return false
			}
			w.Header().Set("Retry-After", "3")
			fail(w, http.StatusServiceUnavailable, "later")
			return true
		}
		c := newClient(t, m.config())
		ask(t, c, 1, 2)
		if got := float64(c.pace.rate.limiter.Limit()); got < 1e9 {
			t.Errorf("limited to %v", got)
		}
		if counts := c.Counts(bondPriced); counts.Waits != 1 || counts.Waited < 3*time.Second || counts.Waited > 4*time.Second {
			t.Errorf("got %+v", counts)
		}
	})
}

// TestAWaitThatIsCutShortCountsAsLongAsItWas: an interrupted wait counts with its real length. A wait that does not
// begin counts as none.
func TestAWaitThatIsCutShortCountsAsLongAsItWas(t *testing.T) {
	for after, want := range map[string]time.Duration{"600": time.Minute, "2000": 0} {
		synctest.Test(t, func(t *testing.T) {
			m := newMarket()
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				if strings.Contains(r.URL.Path, "token") {
					return false
				}
				w.Header().Set("Retry-After", after)
				fail(w, http.StatusServiceUnavailable, "later")
				return true
			}
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
			time.AfterFunc(time.Minute, cancel)
			s, err := newClient(t, m.config()).Snapshot(ctx, bondPriced, newSpool(t, bondPriced))
			if err == nil || s.Waited != want || s.Waits != int(want/time.Minute) {
				t.Errorf("%s: got %+v, %v", after, s, err)
			}
		})
	}
}

// TestPastAndNegativeRetryAfter: no such header makes a wait shorter than the ordinary pause.
func TestPastAndNegativeRetryAfter(t *testing.T) {
	for _, header := range []string{"-5", "soon", "0", "Mon, 02 Mar 2020 09:00:00 GMT", "1.5"} {
		synctest.Test(t, func(t *testing.T) {
			m := newMarket().fill(bondPriced, 3, time.Minute)
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				if len(m.requests) != 2 {
					return false
				}
				w.Header().Set("Retry-After", header)
				fail(w, http.StatusTooManyRequests, "slow down")
				return true
			}
			s, _, err := m.snapshot(t, bondPriced)
			if err != nil || s.Deals != 3 || s.Retries != 1 || s.Waited > 2*time.Second {
				t.Errorf("%s: got %+v, %v", header, s, err)
			}
		})
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, text := range []string{"0", "7", " 12 ", "-1", "4294967296", "9223372036", "9223372037", "99999999999999999999", "1e9", "Mon, 02 Mar 2026 09:00:30 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", ""} {
		f.Add(text, "Mon, 02 Mar 2026 09:00:00 GMT")
	}
	f.Fuzz(func(t *testing.T, text, date string) {
		got, ok := retryAfter(http.Header{"Retry-After": {text}, "Date": {date}})
		if got < 0 || !ok && got != 0 {
			t.Fatalf("%q: got %s, %v", text, got, ok)
		}
		trimmed := strings.TrimSpace(text)
		digits := trimmed != "" && strings.Trim(trimmed, "0123456789") == ""
		if digits && !ok {
			t.Fatalf("%q: seconds are taken for no wait at all", text)
		}
		if !digits || got == 1<<63-1 {
			return
		}
		// Neither over nor under what the text says.
		if want := strings.TrimLeft(trimmed, "0"); seconds(got) != want {
			t.Fatalf("%q: got %s", text, got)
		}
	})
}

// seconds writes a whole number of seconds without leading zeros, "" for none.
func seconds(d time.Duration) string {
	text := ""
	for n := int64(d / time.Second); n > 0; n /= 10 {
		text = string(rune('0'+n%10)) + text
	}
	return text
}
