package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/schemas/api"
)

// pageOf is a list of three deals on one page.
func pageOf(m *market) string {
	var records []string
	for id := range int64(3) {
		records = append(records, m.record(bondPriced, m.deals[bondPriced][1000+id]))
	}
	return fmt.Sprintf(`{"_embedded":{"pricedDeals":[%s]},"_links":{"first":{"href":"%s%s"}}}`, strings.Join(records, ","), m.base, bondPriced.Path())
}

// TestFaultsOfTheNetwork makes each fault happen twice, over TCP: nothing is lost or doubled. If the fault is
// permanent, the error names it.
func TestFaultsOfTheNetwork(t *testing.T) {
	deep := `{"_embedded":{"pricedDeals":[{"dealId":1,"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}]}}`
	for name, test := range map[string]struct {
		strike func(t testing.TB, m *market, w http.ResponseWriter)
		want   string
	}{
		"reset before the answer":     {func(t testing.TB, m *market, w http.ResponseWriter) { raw(t, w, true, "") }, ""},
		"closed before the answer":    {func(t testing.TB, m *market, w http.ResponseWriter) { raw(t, w, false, "") }, "EOF"},
		"closed within the head":      {func(t testing.TB, m *market, w http.ResponseWriter) { raw(t, w, false, "HTTP/1.1 200 O") }, "EOF"},
		"no HTTP":                     {func(t testing.TB, m *market, w http.ResponseWriter) { raw(t, w, false, "SSH-2.0-x\r\n\r\n") }, "malformed HTTP"},
		"reset half-way in the body":  {func(t testing.TB, m *market, w http.ResponseWriter) { half(t, m, w, true, "Content-Length: %d\r\n") }, ""},
		"closed half-way in the body": {func(t testing.TB, m *market, w http.ResponseWriter) { half(t, m, w, false, "Content-Length: %d\r\n") }, "unexpected EOF"},
		"closed half-way, no length":  {func(t testing.TB, m *market, w http.ResponseWriter) { half(t, m, w, false, "Connection: close\r\n") }, "not valid"},
		"closed within a chunk": {func(t testing.TB, m *market, w http.ResponseWriter) {
			raw(t, w, false, head("Transfer-Encoding: chunked\r\n")+"ff\r\n{")
		}, "unexpected EOF"},
		"aborted by the server": {func(t testing.TB, m *market, w http.ResponseWriter) {
			_, _ = io.WriteString(w, pageOf(m)[:50])
			flush(w)
			panic(http.ErrAbortHandler)
		}, "EOF"},
		"content length too small": {func(t testing.TB, m *market, w http.ResponseWriter) {
			raw(t, w, false, head("Content-Length: 40\r\nConnection: close\r\n")+pageOf(m))
		}, "not valid: list page: byte 40"},
		"content length negative": {func(t testing.TB, m *market, w http.ResponseWriter) {
			raw(t, w, false, head("Content-Length: -4\r\n")+pageOf(m))
		}, "Content-Length"},
		"truncated JSON":   {func(t testing.TB, m *market, w http.ResponseWriter) { _, _ = io.WriteString(w, pageOf(m)[:99]) }, "not valid: list page: byte 99"},
		"two documents":    {func(t testing.TB, m *market, w http.ResponseWriter) { _, _ = io.WriteString(w, pageOf(m)+pageOf(m)) }, "not valid"},
		"another document": {func(t testing.TB, m *market, w http.ResponseWriter) { _, _ = io.WriteString(w, `{"status":"ok"}`) }, "no object _links"},
		"list under another key": {func(t testing.TB, m *market, w http.ResponseWriter) {
			_, _ = io.WriteString(w, strings.Replace(pageOf(m), "pricedDeals", "deals", 1))
		}, "no list \"pricedDeals\""},
		"page without links": {func(t testing.TB, m *market, w http.ResponseWriter) {
			_, _ = io.WriteString(w, strings.Replace(pageOf(m), "_links\":{\"first", "links\":{\"first", 1))
		}, "no object _links"},
		"HTML with 200": {func(t testing.TB, m *market, w http.ResponseWriter) {
			_, _ = io.WriteString(w, "<!doctype html><title>Sign in</title>")
		}, "not valid"},
		"HTML with 502": {func(t testing.TB, m *market, w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, "<html>")
		}, "502 Bad Gateway"},
		"server error":          {func(t testing.TB, m *market, w http.ResponseWriter) { fail(w, 500, "sorry") }, "500 Internal Server Error: sorry (errorId 5e0f7a52"},
		"unavailable":           {func(t testing.TB, m *market, w http.ResponseWriter) { fail(w, 503, "sorry") }, "503 Service Unavailable: sorry"},
		"time-out of a gateway": {func(t testing.TB, m *market, w http.ResponseWriter) { fail(w, 504, "sorry") }, "504 Gateway Timeout: sorry"},
		"request time-out":      {func(t testing.TB, m *market, w http.ResponseWriter) { fail(w, 408, "sorry") }, "408 Request Timeout: sorry"},
		"said to be gzip":       {func(t testing.TB, m *market, w http.ResponseWriter) { encoded(w, "gzip", []byte(pageOf(m))) }, "gzip"},
		"gzip that is not said": {func(t testing.TB, m *market, w http.ResponseWriter) { encoded(w, "", zipped(pageOf(m))) }, "not valid"},
		"gzip cut off": {func(t testing.TB, m *market, w http.ResponseWriter) {
			z := zipped(pageOf(m))
			encoded(w, "gzip", z[:len(z)-9])
		}, "EOF"},
		"gzip with a wrong sum": {func(t testing.TB, m *market, w http.ResponseWriter) {
			z := zipped(pageOf(m))
			z[len(z)-6] ^= 1
			encoded(w, "gzip", z)
		}, "checksum"},
		"gzip with something after it": {func(t testing.TB, m *market, w http.ResponseWriter) {
			encoded(w, "gzip", append(zipped(pageOf(m)), "more"...))
		}, "EOF"},
		"nested too deep": {func(t testing.TB, m *market, w http.ResponseWriter) { _, _ = io.WriteString(w, deep) }, "nests deeper than"},
	} {
		for _, strikes := range []int{2, 1000} {
			t.Run(fmt.Sprintf("%s/%d", name, strikes), func(t *testing.T) {
				t.Parallel()
				m := newMarket().fill(bondPriced, 3, time.Minute)
				gets := 0
				m.instead = func(w http.ResponseWriter, r *http.Request) bool {
					if r.Method != http.MethodGet {
						return false
					}
					if gets++; gets > strikes {
						return false
					}
					test.strike(t, m, w)
					return true
				}
				cfg := m.onNetwork(t, m)
				cfg.MaxAttempts = 4
				c := newClient(t, cfg)
				spool := newSpool(t, bondPriced)
				s, err := c.Snapshot(context.Background(), bondPriced, spool)
				if strikes == 2 {
					if err != nil || s.Deals != 3 || s.Retries < 1 || s.Pages != 1 || gets != 3 { // a retry may be the transport's own
						t.Fatalf("got %+v, %v", s, err)
					}
					m.compare(t, bondPriced, spool)
					return
				}
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "gave up after 4 attempts: GET http://127.0.0.1") || s.Deals != 0 {
					t.Errorf("got %+v, %v", s, err)
				}
			})
		}
	}
}

// half sends the first half of a page with a header that has the complete page's length.
func half(t testing.TB, m *market, w http.ResponseWriter, reset bool, header string) {
	page := pageOf(m)
	if strings.Contains(header, "%d") {
		header = fmt.Sprintf(header, len(page))
	}
	raw(t, w, reset, head(header)+page[:len(page)/2])
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

func encoded(w http.ResponseWriter, encoding string, body []byte) {
	if encoding != "" {
		w.Header().Set("Content-Encoding", encoding)
	}
	w.Header().Set("Content-Type", "application/hal+json")
	_, _ = w.Write(body)
}

// TestBodiesThatHaveNoEnd: a body is read up to MaxBody, compressed or not, and is not requested again.
func TestBodiesThatHaveNoEnd(t *testing.T) {
	for name, endless := range map[string]func(w http.ResponseWriter){
		"plain": func(w http.ResponseWriter) {
			for {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<12)); err != nil {
					return
				}
			}
		},
		"gzip bomb": func(w http.ResponseWriter) { encoded(w, "GZIP", zipped(strings.Repeat(" ", 64<<20))) },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket()
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodGet {
					endless(w)
				}
				return r.Method == http.MethodGet
			}
			cfg := m.onNetwork(t, m)
			cfg.MaxBody = 1 << 20
			s, err := newClient(t, cfg).Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced))
			if err == nil || !strings.Contains(err.Error(), "want 1048576 bytes at most") || s.Requests != 1 {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
}

// TestSlowBodies: silence ends a request early, slowness does not. A body without an end reaches the limit for a
// complete answer. The error says which of the two it was.
func TestSlowBodies(t *testing.T) {
	for name, test := range map[string]struct {
		pause time.Duration // between two bytes of the body
		first time.Duration // before the answer's head
		want  string
		took  time.Duration
	}{
		"steady":       {pause: 700 * time.Millisecond},
		"late, steady": {first: 59 * time.Second, pause: 400 * time.Millisecond},
		"slow loris":   {pause: 50 * time.Second, want: "no complete response within 10m0s", took: 10 * time.Minute},
		"stalls":       {pause: 61 * time.Second, want: "no byte received for 1m0s", took: time.Minute},
		"never begins": {first: time.Hour, want: "no byte received for 1m0s", took: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMarket().fill(bondPriced, 3, time.Minute)
				var page []byte
				handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodPost {
						m.ServeHTTP(w, r)
						return
					}
					pass := func(d time.Duration) bool {
						select {
						case <-r.Context().Done():
							return false
						case <-time.After(d):
							return true
						}
					}
					if !pass(test.first) {
						return
					}
					for i := range page {
						_, _ = w.Write(page[i : i+1])
						flush(w)
						if !pass(test.pause) {
							return
						}
					}
				})
				cfg := m.inBubble(t, handler)
				cfg.MaxAttempts = 1
				page = []byte(pageOf(m))
				began := time.Now()
				s, err := newClient(t, cfg).Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced))
				took := time.Since(began)
				if test.want == "" && (err != nil || s.Deals != 3 || took < cfg.StallTimeout) {
					t.Errorf("got %+v, %v", s, err)
				}
				if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, context.DeadlineExceeded)) {
					t.Errorf("got %v", err)
				}
				if test.want == "" {
					test.took = test.first + time.Duration(len(page))*test.pause
				}
				if took < test.took-time.Second || took > test.took+time.Minute {
					t.Errorf("took %s, want about %s", took, test.took)
				}
			})
		})
	}
}

// TestTheRunsDeadline: an error that a caller's deadline causes is recognised as one, with its cause, wherever it
// happens.
func TestTheRunsDeadline(t *testing.T) {
	cause := errors.New("the run may take an hour")
	for name, first := range map[string]func(w http.ResponseWriter, r *http.Request){
		"in a request": func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"in a body": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "{")
			flush(w)
			<-r.Context().Done()
		},
		"in a token request": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMarket().fill(bondPriced, 3, time.Minute)
				cfg := m.inBubble(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					switch {
					case first == nil:
						_, _ = io.Copy(io.Discard, r.Body) // or the server does not see the client leave
						<-r.Context().Done()
					case r.Method == http.MethodPost:
						m.ServeHTTP(w, r)
					default:
						first(w, r)
					}
				}))
				cfg.StallTimeout, cfg.RequestTimeout = 2*time.Hour, 3*time.Hour
				ctx, cancel := context.WithDeadlineCause(context.Background(), time.Now().Add(time.Hour), cause)
				defer cancel()
				began := time.Now()
				_, err := newClient(t, cfg).Snapshot(ctx, bondPriced, newSpool(t, bondPriced))
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, cause) || time.Since(began) != time.Hour {
					t.Errorf("after %s: got %v", time.Since(began), err)
				}
			})
		})
	}
}

// TestListsWithoutDeals reads an empty list in each of its spellings.
func TestListsWithoutDeals(t *testing.T) {
	for _, body := range []string{
		`{"_embedded":{"pricedDeals":[]},"_links":{}}`, `{"_embedded":{},"_links":{}}`, `{"_embedded":{"pricedDeals":null},"_links":{}}`,
		`{"_embedded":null,"_links":{"first":{"href":"/flow/v3/bond/ig/priced-deal"}}}`, `{"_links":{}}`, `{"_embedded":null,"_links":{}}`, `{"_links":{}}`,
	} {
		m := newMarket()
		m.instead = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, body)
			}
			return r.Method == http.MethodGet
		}
		s, err := newClient(t, m.onNetwork(t, m)).Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced))
		if err != nil || s.Deals != 0 || s.Requests != 1 || s.UpdatedSince != "" {
			t.Errorf("%s: got %+v, %v", body, s, err)
		}
	}
}

// TestListsThatGoInCircles follows the links A, B, A.
func TestListsThatGoInCircles(t *testing.T) {
	m := newMarket()
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		next := map[string]string{"": "?seeker=b", "b": "?seeker=c", "c": "?seeker=b"}[r.URL.Query().Get("seeker")]
		if r.Method == http.MethodGet {
			fmt.Fprintf(w, `{"_links":{"next":{"href":%q}}}`, next)
		}
		return r.Method == http.MethodGet
	}
	s, err := newClient(t, m.onNetwork(t, m)).Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced))
	var link *LinkError
	if !errors.As(err, &link) || link.Link != "?seeker=b" || !strings.Contains(err.Error(), "circle") || s.Requests != 3 {
		t.Errorf("got %+v, %v", s, err)
	}
}

// TestManyDealsOfOneSecond: the server's instants have whole seconds, strict or not, and that second has not ended.
func TestManyDealsOfOneSecond(t *testing.T) {
	for _, strict := range []bool{true, false} {
		m := newMarket().fill(bondPriced, 12, time.Minute)
		m.strict = strict
		m.fill(bondPriced, 40, 0)
		m.before = func(r *http.Request) {
			if n := len(m.requests); n == 3 || n == 6 { // still the same second
				m.touch(bondPriced, 1000)
				m.touch(bondPriced, 1039)
			}
		}
		spool := newSpool(t, bondPriced)
		s, err := newClient(t, m.onNetwork(t, m)).Snapshot(context.Background(), bondPriced, spool)
		if err != nil || s.Deals != 40 {
			t.Errorf("strict %v: got %+v, %v", strict, s, err)
		}
		m.compare(t, bondPriced, spool)
	}
}

// TestDealsOnTwoPages: a cursor that counts positions shows deals twice. Each counts once, with the later reading.
func TestDealsOnTwoPages(t *testing.T) {
	for _, feed := range []api.Feed{bondPriced, bondExpected} {
		m := newMarket().fill(feed, 35, time.Minute)
		m.positions = true
		m.before = func(r *http.Request) {
			if len(m.requests) == 4 {
				m.now = m.now.Add(time.Minute)
				m.touch(feed, 999) // moves all others on by one
				m.touch(feed, 1020)
			}
		}
		spool := newSpool(t, feed)
		s, err := newClient(t, m.onNetwork(t, m)).Snapshot(context.Background(), feed, spool)
		if err != nil || s.Deals != 36 {
			t.Errorf("%s: got %+v, %v", feed, s, err)
		}
		m.compare(t, feed, spool)
	}
}
