package extract

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/schemas/api"
)

// TestRetryAfterHoldsAllFeeds: a 429 to one feed stops them all, for as long as either form of the header says.
func TestRetryAfterHoldsAllFeeds(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		header func(date time.Time) string
	}{
		"seconds":     {429, func(time.Time) string { return "40" }},
		"date":        {429, func(date time.Time) string { return date.Add(40 * time.Second).Format(http.TimeFormat) }},
		"unavailable": {503, func(time.Time) string { return "40" }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMarket().fill(bondPriced, 25, time.Minute).fill(loanExpected, 25, time.Minute)
				var held time.Time
				m.instead = func(w http.ResponseWriter, r *http.Request) bool {
					if !held.IsZero() && time.Since(held) < 40*time.Second {
						t.Errorf("%s came after %s", r.URL, time.Since(held))
					}
					if !held.IsZero() || !strings.Contains(r.URL.RawQuery, "seeker") {
						return false
					}
					held = time.Now()
					w.Header().Set("Retry-After", test.header(m.now))
					fail(w, test.status, "slow down")
					return true
				}
				var shown atomic.Int64
				cfg := m.config()
				cfg.Rate = 1 // so that no other request is on its way when the 429 comes
				cfg.Progress = func(p Progress) {
					if p.Wait >= 39*time.Second && p.Reason != "" {
						shown.Add(1)
					}
				}
				c := newClient(t, cfg)
				var work sync.WaitGroup
				for _, feed := range []api.Feed{bondPriced, loanExpected} {
					spool := newSpool(t, feed)
					work.Go(func() {
						s, err := c.Snapshot(context.Background(), feed, spool)
						if err != nil || s.Deals != 25 || s.Waited < 39*time.Second {
							t.Errorf("got %+v, %v", s, err)
						}
					})
				}
				work.Wait()
				if took := time.Since(held); took > 60*time.Second {
					t.Errorf("took %s: the wait was multiplied", took)
				}
				if shown.Load() == 0 {
					t.Error("the wait was not shown")
				}
			})
		})
	}
}

func TestAWaitBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	for name, test := range map[string]struct{ after, want string }{
		"deadline": {"600", "the next request must wait 10m0s, but the deadline is in 5m0s"},
		"MaxWait":  {"86400", "asked for a wait of 24h0m0s, want 1h0m0s at most"},
		"huge":     {"99999999999999999999999", "want 1h0m0s at most"},
		"far date": {"Fri, 31 Dec 9999 23:59:59 GMT", "want 1h0m0s at most"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMarket()
				m.instead = func(w http.ResponseWriter, r *http.Request) bool {
					w.Header().Set("Retry-After", test.after)
					fail(w, http.StatusTooManyRequests, "slow down")
					return true
				}
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
				defer cancel()
				began := time.Now()
				_, err := newClient(t, m.config()).ServerTime(ctx)
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "slow down") || time.Since(began) > time.Second {
					t.Errorf("got %v after %s", err, time.Since(began))
				}
				if name == "deadline" && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v is no passed deadline", err)
				}
			})
		})
	}
}

func TestThrottlingHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMarket()
		m.instead = func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Retry-After", "0")
			fail(w, http.StatusTooManyRequests, "slow down")
			return true
		}
		_, err := newClient(t, m.config()).ServerTime(context.Background())
		if statusOf(err) != 0 || err == nil || !strings.Contains(err.Error(), "gave up after 80 attempts") {
			t.Errorf("got %v", err)
		}
	})
}

// TestDamageIsRepeated: a request whose answer may differ the next time is sent again, with growing pauses.
func TestDamageIsRepeated(t *testing.T) {
	whole := `{"_embedded":{"pricedDeals":[{"dealId":1}]},"_links":{}}`
	for name, test := range map[string]struct {
		answer func(r *http.Request) (*http.Response, error)
		want   string
	}{
		"truncated JSON": {reply(200, whole[:30], nil), "not valid: list page: byte 30"},
		"HTML":           {reply(200, "<html>", nil), "not valid"},
		"empty":          {reply(200, "", nil), "not valid"},
		"wrong length":   {reply(200, whole, http.Header{"Content-Length": {"9999"}}), "unexpected EOF"},
		"cut gzip":       {reply(200, string(zipped(whole)[:40]), http.Header{"Content-Encoding": {"gzip"}}), "EOF"},
		"no gzip":        {reply(200, whole, http.Header{"Content-Encoding": {"gzip"}}), "gzip"},
		"server error":   {reply(500, "oops", nil), "500 Internal Server Error"},
		"bad gateway":    {reply(502, `{"message":"m","errorId":"i"}`, nil), "502 Bad Gateway: m (errorId i)"},
		"throttled":      {reply(429, "", nil), "429 Too Many Requests"},
		"reset":          {func(*http.Request) (*http.Response, error) { return nil, io.ErrClosedPipe }, "closed pipe"},
		"dial time-out":  {func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }, "deadline exceeded"},
		"stalled": {func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, "no byte received for 1m0s"},
		"stalled body": {func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: stalled{r.Context()}, ContentLength: -1}, nil
		}, "no byte received for 1m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, damaged := range []int{2, 99} {
					m := newMarket()
					m.touch(bondPriced, 1)
					cfg := m.config()
					cfg.Backoff, cfg.MaxBackoff = time.Second, 4*time.Second
					tries := 0
					cfg.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
						if r.Method == http.MethodGet {
							if tries++; tries <= damaged {
								return test.answer(r)
							}
						}
						return m.RoundTrip(r)
					})
					spool := newSpool(t, bondPriced)
					s, err := newClient(t, cfg).Snapshot(context.Background(), bondPriced, spool)
					if damaged == 2 {
						if err != nil || s.Deals != 1 || s.Retries != 2 || s.Requests != 3 {
							t.Errorf("got %+v, %v", s, err)
						}
						continue
					}
					if err == nil || tries != 8 || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "page 1: gave up after 8 attempts: GET https://api.example.test/flow/v3/bond/ig/priced-deal?pageSize=1000: ") {
						t.Errorf("got %v after %d tries", err, tries)
					}
					if errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%v passes for a run's deadline", err)
					}
				}
			})
		})
	}
}

func TestWhatCannotGetBetterIsNotRepeated(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(r *http.Request) (*http.Response, error)
		want   string
	}{
		"not found":                {reply(404, `{"errorId":"i-1","message":"m-1"}`, nil), "404 Not Found: m-1 (errorId i-1)"},
		"forbidden":                {reply(403, ``, nil), "403 Forbidden; the answer has not the form of the API's errors"},
		"forbidden by the API":     {reply(403, `{"errorId":"e1"}`, http.Header{"Content-Type": {"application/json"}}), "403 Forbidden: The account may not see this"},
		"refused":                  {reply(400, `{"message":"\u001b[31m"}`, nil), `400 Bad Request: "\x1b[31m"`},
		"no content":               {reply(204, ``, nil), "204 No Content"},
		"brotli":                   {reply(200, `x`, http.Header{"Content-Encoding": {"br"}}), `content encoding "br"`},
		"too long":                 {reply(200, strings.Repeat(" ", 2000), nil), "want 1000 bytes at most"},
		"gzip bomb":                {reply(200, string(zipped(strings.Repeat(" ", 1<<20))), http.Header{"Content-Encoding": {"gzip"}}), "want 1000 bytes at most"},
		"redirect away":            {reply(302, ``, http.Header{"Location": {"https://evil.example.test/flow/v3/x"}}), "link https://evil.example.test/flow/v3/x: redirect leads away from"},
		"redirect to another list": {reply(302, ``, http.Header{"Location": {"/flow/v3/bond/hy/priced-deal"}}), "leads to another resource"},
		"redirect loops":           {reply(302, ``, http.Header{"Location": {"/flow/v3/bond/ig/priced-deal"}}), "not followed after 5 redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket()
			cfg := m.config()
			cfg.PageSize, cfg.MaxBody = -1, 1000
			tries := 0
			cfg.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Host != "api.example.test" && r.URL.Host != "api.example.test" {
					t.Errorf("a request went to %s", r.URL)
				}
				if r.Method == http.MethodPost {
					return m.RoundTrip(r)
				}
				tries++
				return test.answer(r)
			})
			_, err := newClient(t, cfg).Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced))
			if err == nil || !strings.Contains(err.Error(), test.want) || tries != 1 && !strings.HasPrefix(name, "redirect") {
				t.Errorf("got %v after %d tries", err, tries)
			}
		})
	}
}

// TestOverTheNetwork reads all feeds at once over real connections, compressed, with one token request.
func TestOverTheNetwork(t *testing.T) {
	m := newMarket()
	for _, feed := range api.Feeds() {
		m.fill(feed, 25, time.Minute)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("%s: gzip is not asked for", r.URL)
		}
		recorder := httptest.NewRecorder()
		m.ServeHTTP(recorder, r)
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(zipped(recorder.Body.String()))
	}))
	defer server.Close()
	m.base = server.URL
	cfg := m.config()
	cfg.Transport = nil
	at := time.Date(2030, 1, 2, 3, 4, 5, 6789, time.UTC)
	c := newClient(t, cfg)
	c.SetClock(standing(at))
	defer c.Close()
	var work sync.WaitGroup
	for _, feed := range api.Feeds() {
		spool := newSpool(t, feed)
		work.Go(func() {
			s, err := c.Snapshot(context.Background(), feed, spool)
			if err != nil || s.Deals != 25 || !s.LastObserved.Equal(at) || s.Bytes == 0 || c.Counts(feed) != s.Counts {
				t.Errorf("%s: got %+v, %v", feed, s, err)
			}
			if e, ok := spool.Entry(1000); !ok || !e.ObservedAt.Equal(at.Truncate(time.Microsecond)) {
				t.Errorf("%s: got %+v", feed, e)
			}
		})
	}
	work.Wait()
	if n := m.seen("POST"); n != 1 {
		t.Errorf("%d token requests, want one", n)
	}
}

func TestServerTime(t *testing.T) {
	m := newMarket()
	c := newClient(t, m.config())
	for range 2 {
		got, err := c.ServerTime(context.Background())
		if err != nil || !got.Equal(m.now) {
			t.Errorf("got %s, %v", got, err)
		}
	}
	if m.seen("POST /flow/oauth/token") != 2 || m.seen("") != 2 {
		t.Errorf("requests: %v", m.requests)
	}
}

// TestServerTimeWithoutDate checks that an API without a readable Date has no server's time, which is no error: the caller
// goes by the machine's clock, or refuses.
func TestServerTimeWithoutDate(t *testing.T) {
	for name, date := range map[string][]string{"absent": nil, "unreadable": {"yesterday"}} {
		m := newMarket()
		cfg := m.config()
		cfg.Transport = dated{m, date}
		if got, err := newClient(t, cfg).ServerTime(t.Context()); err != nil || !got.IsZero() {
			t.Errorf("Date %s: got %s, %v, want the zero time", name, got, err)
		}
	}
}

// dated is a market whose answers have another Date.
type dated struct {
	*market
	date []string
}

func (d dated) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := d.market.RoundTrip(r)
	if err == nil {
		response.Header["Date"] = d.date
	}
	return response, err
}

func TestTokenIsRenewed(t *testing.T) {
	t.Run("on a 401", func(t *testing.T) {
		m := newMarket().fill(bondPriced, 25, time.Minute)
		m.before = func(r *http.Request) { m.issued++ } // after every answer the token is invalid
		s, _, err := m.snapshot(t, bondPriced)
		if err != nil || s.Deals != 25 {
			t.Errorf("got %+v, %v", s, err)
		}
	})
	t.Run("never accepted", func(t *testing.T) {
		m := newMarket()
		m.instead = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet {
				fail(w, http.StatusUnauthorized, "no")
			}
			return r.Method == http.MethodGet
		}
		_, _, err := m.snapshot(t, bondPriced)
		var denied *AuthError
		if !errors.As(err, &denied) || denied.Status != 401 || m.seen("POST") != 9 || m.seen("GET") != 9 || IsForbiddenOrMissing(err) {
			t.Errorf("got %v after %v", err, m.requests)
		}
	})
	t.Run("ahead of its end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newMarket().fill(bondPriced, 10, time.Minute)
			c := newClient(t, m.config())
			for _, after := range []time.Duration{0, 58 * time.Minute, 2 * time.Minute} {
				time.Sleep(after)
				if _, err := c.Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced)); err != nil {
					t.Error(err)
				}
			}
			if m.seen("POST") != 2 || m.seen("GET") != 3 {
				t.Errorf("got %v", m.requests)
			}
		})
	})
}

// TestWrongCredentials: one request, an error that says what to do, and no secret in any message.
func TestWrongCredentials(t *testing.T) {
	for _, status := range []int{400, 401, 403} {
		m := newMarket()
		m.instead = func(w http.ResponseWriter, r *http.Request) bool {
			// This server repeats what it was sent.
			fail(w, status, "bad credentials "+r.Header.Get("Authorization")+" "+"canary=secret/!7f3a")
			return true
		}
		var log lockedBuffer
		cfg := m.config()
		cfg.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c := newClient(t, cfg)
		var work sync.WaitGroup
		for _, feed := range api.Feeds() {
			spool := newSpool(t, feed)
			work.Go(func() {
				_, err := c.Snapshot(context.Background(), feed, spool)
				var denied *AuthError
				if !errors.As(err, &denied) || denied.Status != status || denied.ErrorID == "" || !strings.Contains(err.Error(), "DEALFLOW_CLIENT_SECRET") {
					t.Errorf("got %v", err)
				}
				fmt.Fprintf(&log, "%v %+v %#v", err, err, denied)
			})
		}
		work.Wait()
		fmt.Fprintf(&log, "%v %+v %#v", c, c, c)
		if n := m.seen("POST"); n != 1 {
			t.Errorf("%d token requests, want one", n)
		}
		noCanary(t, log.String(), cfg)
	}
}

// TestNoSecretIsEverShown checks the ordinary messages for the secret.
func TestNoSecretIsEverShown(t *testing.T) {
	m := newMarket().fill(bondPriced, 25, time.Minute)
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		switch len(m.requests) {
		case 1:
			fmt.Fprint(w, `{"access_token":"canary-token-`) // damaged
		case 3, 5:
			fail(w, http.StatusBadGateway, "I got "+r.Header.Get("Authorization"))
		case 7:
			fail(w, http.StatusNotFound, "I got "+r.Header.Get("Authorization"))
		default:
			return false
		}
		return true
	}
	var log lockedBuffer
	cfg := m.config()
	cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := newClient(t, cfg)
	_, err := c.Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced))
	if statusOf(err) != 404 {
		t.Errorf("got %v", err)
	}
	fmt.Fprintf(&log, "%+v %#v %+v", err, err, c.tokens)
	noCanary(t, log.String(), cfg)
	if text := log.String(); !strings.Contains(text, "[redacted]") || !strings.Contains(text, "feed=bond/ig/priced") {
		t.Errorf("logged: %s", text)
	}
}

// TestEchoedSecret has a server that sends the credentials back as they were encoded.
func TestEchoedSecret(t *testing.T) {
	const secret = "S3cr3t&t+ /x"
	for _, encoding := range []AuthEncoding{AuthRaw, AuthRFC6749} {
		m := newMarket().fill(bondPriced, 3, time.Minute)
		m.instead = func(w http.ResponseWriter, r *http.Request) bool {
			basic, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Header.Get("Authorization"), "Basic "))
			fail(w, http.StatusUnauthorized, fmt.Sprintf("no client %s, nor %s or %s", basic, url.QueryEscape(secret), url.PathEscape(secret)))
			return true
		}
		cfg := m.config()
		cfg.ClientSecret, cfg.AuthEncoding = api.NewSecret(secret), encoding
		_, err := newClient(t, cfg).Snapshot(t.Context(), bondPriced, newSpool(t, bondPriced))
		if err == nil || strings.Contains(err.Error(), "S3cr3t") || strings.Count(err.Error(), "[redacted]") != 3 {
			t.Errorf("%s: got %v, want [redacted] three times", encoding, err)
		}
	}
}

func noCanary(t *testing.T, text string, cfg Config) {
	t.Helper()
	for _, secret := range []string{testSecret, "canary", strings.TrimPrefix(cfg.basic(), "Basic ")} {
		if strings.Contains(text, secret) {
			t.Errorf("%q shows in: %s", secret, text)
		}
	}
}

func TestAuthEncoding(t *testing.T) {
	cfg := newMarket().config()
	if got := cfg.basic(); got != "Basic ZGVza0BleGFtcGxlLnRlc3Q6Y2FuYXJ5PXNlY3JldC8hN2YzYQ==" {
		t.Errorf("raw: %s", got)
	}
	cfg.AuthEncoding = AuthRFC6749
	if got := cfg.basic(); got != "Basic ZGVzayU0MGV4YW1wbGUudGVzdDpjYW5hcnklM0RzZWNyZXQlMkYlMjE3ZjNh" {
		t.Errorf("rfc6749: %s", got)
	}
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMarket().fill(bondPriced, 95, time.Minute)
		cfg := m.config()
		cfg.Rate = 2
		began := time.Now()
		s, err := newClient(t, cfg).Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced))
		if took := time.Since(began); err != nil || took != time.Duration(s.Requests)*500*time.Millisecond {
			t.Errorf("%d requests and one for the token took %s: %v", s.Requests, took, err)
		}
	})
}

func TestCancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMarket()
		m.instead = func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Retry-After", "1000")
			fail(w, http.StatusServiceUnavailable, "later")
			return true
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Minute, func() { cancel(errors.New("the operator left")) })
		_, err := newClient(t, m.config()).Snapshot(ctx, bondPriced, newSpool(t, bondPriced))
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the operator left") {
			t.Errorf("got %v", err)
		}
	})
}

func TestValidateTellsAllFaults(t *testing.T) {
	err := Config{}.Validate()
	for _, want := range []string{"DEALFLOW_API", "DEALFLOW_CLIENT_ID", "DEALFLOW_CLIENT_SECRET"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	for text, want := range map[string]bool{
		"https://api.example.test": true, "http://localhost:8080": true, "http://127.0.0.1:1/x": true, "http://[::1]:1": true,
		"http://api.example.test": false, "http://localhost.example.test": false, "http://10.0.0.1": false,
	} {
		cfg := newMarket().config()
		var err error
		if cfg.Base, err = api.ParseBase(text); err != nil {
			t.Fatal(err)
		}
		if err := cfg.Validate(); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for name, change := range map[string]func(*Config){
		"colon":         func(c *Config) { c.ClientID = "a:b" },
		"auth encoding": func(c *Config) { c.AuthEncoding = "x" },
		"MaxBody":       func(c *Config) { c.MaxBody = -1 },
		"Rate":          func(c *Config) { c.Rate = -1 },
	} {
		cfg := newMarket().config()
		change(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRetryAfterForms(t *testing.T) {
	date := "Mon, 02 Mar 2026 09:00:00 GMT"
	for text, want := range map[string]time.Duration{
		"7": 7 * time.Second, " 0 ": 0, "Mon, 02 Mar 2026 09:00:30 GMT": 30 * time.Second, "Mon, 02 Mar 2026 08:00:00 GMT": 0,
		"": -1, "-1": -1, "soon": -1, "1.5": -1, "0x10": -1, "1e3": -1, "+5": -1, "１": -1,
		"4294967296": 4294967296 * time.Second, "9223372037": math.MaxInt64, "99999999999999999999": math.MaxInt64,
		"Mon, 02 Mar 9026 09:00:00 GMT": math.MaxInt64,
	} {
		got, ok := retryAfter(http.Header{"Retry-After": {text}, "Date": {date}})
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: got %s, %v", text, got, ok)
		}
	}
}

// reply is a transport function that gives the same answer each time.
func reply(status int, body string, header http.Header) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		length := int64(-1)
		if text := header.Get("Content-Length"); text != "" {
			fmt.Sscan(text, &length)
		}
		return &http.Response{
			StatusCode: status, Header: header.Clone(), Body: io.NopCloser(strings.NewReader(body)), ContentLength: length, Request: r,
		}, nil
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// stalled is a body that never comes.
type stalled struct{ ctx context.Context }

func (s stalled) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func (stalled) Close() error { return nil }

func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.Bytes()
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// standing is a clock that does not move.
type standing time.Time

func (s standing) Dated(date time.Time) time.Time { return date }

func (s standing) Now() time.Time { return time.Time(s) }
