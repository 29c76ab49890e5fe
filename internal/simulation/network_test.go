package simulation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// base is the address of the simulated API.
const base = "http://localhost"

// listener hands the server the other ends of pipes.
type listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newListener() *listener { return &listener{conns: make(chan net.Conn), done: make(chan struct{})} }

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// site identifies one request of a run, independent of the other feeds.
type site struct {
	feed    api.Feed // the zero Feed for the token
	what    string   // token, list, since, next, or deal and its id
	ordinal int      // of the feed's requests of this kind, from 1
}

func (s site) String() string { return fmt.Sprintf("%s %s #%d", s.feed, s.what, s.ordinal) }

// call is a request that the server answered, and whose answer reached the client undamaged.
type call struct {
	site
	at       time.Time // when the server answered
	refused  bool      // with 404 or 403
	evidence bool      // the refusal can be recognised as the API's own
}

// first reports whether the call began a walk or a sweep.
func (c call) first() bool { return c.what == "list" || c.what == "since" }

// network carries a run's requests to the server. Each request takes time, drawn from the seed and the request's site.
// A seed must determine everything, so instants must not depend on the client's jitter. A request is sent at the end of
// a beat or, after a random wait of the client, at the end of a second. It reaches the server at any instant. Its
// answer returns right after the beginning of a beat, with a small offset per feed. Failures return right after the
// beginning of a second, so that no random wait crosses the next one.
type network struct {
	seed  uint64
	beat  time.Duration // a divisor of a second
	slow  int           // most additional beats per request
	zip   bool          // answers are compressed
	says  refusals      // how the API refuses a deal by id
	inner *http.Transport
	fault func(site, *rand.Rand) fault

	mu     sync.Mutex
	seen   map[site]int
	calls  []call
	trace  []string
	denied map[string]bool // requests that were answered 401
	lost   map[api.Feed]int
	failed map[string]bool // requests whose last try failed
	held   time.Time       // until when the server has asked all clients to wait
}

// server serves a market on a pipe until the test ends.
func server(t *testing.T, source serve.Source, config serve.Config) *listener {
	t.Helper()
	config.Source = source
	api, err := serve.New(config)
	if err != nil {
		t.Fatal(err)
	}
	l := newListener()
	s := &http.Server{Handler: api.Handler()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // ends with ErrServerClosed
	}()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return l
}

// newNetwork returns a network for one run. The caller closes it.
func newNetwork(seed uint64, l *listener) *network {
	return &network{
		seed: seed, beat: time.Second, says: withErrorID, inner: &http.Transport{DialContext: l.dial, DisableCompression: true},
		fault: func(site, *rand.Rand) fault { return none },
		seen:  map[site]int{}, denied: map[string]bool{}, lost: map[api.Feed]int{}, failed: map[string]bool{},
	}
}

func (n *network) close() { n.inner.CloseIdleConnections() }

// siteOf returns the site of a request, and counts it.
func (n *network) siteOf(r *http.Request) site {
	query := r.URL.Query()
	s := site{what: "token"}
	for _, feed := range api.Feeds() {
		rest, ok := strings.CutPrefix(r.URL.Path, feed.Path())
		if !ok {
			continue
		}
		s.feed = feed
		switch {
		case rest != "":
			s.what = "deal " + rest[1:]
		case query.Has("seeker"):
			s.what = "next"
		case query.Has("updatedSince"), query.Has("changedFrom"):
			s.what = "since"
		default:
			s.what = "list"
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen[s]++
	s.ordinal = n.seen[s]
	return s
}

// phase is an offset that separates the feeds, and the deals that are requested by id at once.
func (n *network) phase(s site) time.Duration {
	phase := n.beat * 13 / 40
	for i, feed := range api.Feeds() {
		if feed == s.feed {
			phase = n.beat * time.Duration(i+1) / 40
		}
	}
	if id, ok := strings.CutPrefix(s.what, "deal "); ok {
		number, _ := strconv.ParseInt(id, 10, 64)
		phase += n.beat * time.Duration(1+number%10_007) / 10_007 / 40
	}
	return phase
}

// next returns the first instant after t that is a multiple of step plus the phase.
func next(t time.Time, step, phase time.Duration) time.Time {
	at := t.Truncate(step).Add(phase)
	for !at.After(t) {
		at = at.Add(step)
	}
	return at
}

// longestJitter is the longest random part of a wait: the client's backoff, or the spread after a wait that the server
// asked for. Together with a phase it is shorter than a second.
const longestJitter = 500 * time.Millisecond

// leaves returns when a request that the client sends now is on its way.
func (n *network) leaves(key string) time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	step := n.beat
	if now := time.Now(); n.failed[key] || now.Before(n.held.Add(longestJitter)) {
		step = time.Second
	}
	return next(time.Now(), step, step*9/10)
}

// RoundTrip implements http.RoundTripper.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	s := n.siteOf(r)
	dice := diceOf(n.seed, s)
	key := r.Method + r.URL.String()
	arrives := n.leaves(key).Add(time.Duration(dice.Int64N(int64(n.beat) * int64(n.slow+1))))
	if err := until(r.Context(), arrives); err != nil {
		return nil, err
	}
	f := n.choose(s, r, dice)
	answer, err := n.through(r, s, f)
	back := next(time.Now(), n.beat, n.phase(s))
	if s.mayBeRepeated(f) {
		back = next(time.Now(), time.Second, n.phase(s))
	}
	c := call{site: s, at: arrives}
	if err == nil && strings.HasPrefix(s.what, "deal ") {
		c.refused = answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusForbidden
		c.evidence = c.refused && f == none && (n.says == withErrorID || n.says == withForm)
	}
	n.note(c, f, key, back)
	if err := until(r.Context(), back); err != nil {
		return nil, err
	}
	return answer, err
}

// mayBeRepeated reports whether the client may retry after a random wait: after a fault, or because an answer by id
// does not contain the deal's id.
func (s site) mayBeRepeated(f fault) bool { return f != none || strings.HasPrefix(s.what, "deal ") }

// choose draws the request's fault. It leaves out those that no client can survive: a second 401 to the same request, a
// cursor that expires again and again.
func (n *network) choose(s site, r *http.Request, dice *rand.Rand) fault {
	f := n.fault(s, dice)
	n.mu.Lock()
	defer n.mu.Unlock()
	key := r.URL.String()
	switch {
	case f == tokenExpired && (s.what == "token" || n.denied[key]), f == cursorExpired && (s.what != "next" || n.lost[s.feed] >= 2),
		f.inFront() && !strings.HasPrefix(s.what, "deal "):
		return none
	case f == tokenExpired:
		n.denied[key] = true
	case f == cursorExpired:
		n.lost[s.feed]++
	}
	return f
}

func (n *network) note(c call, f fault, key string, back time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.trace = append(n.trace, fmt.Sprintf("%s %s %s", c.at.Format(clockForm+"000000"), c.site, f))
	n.failed[key] = c.mayBeRepeated(f)
	if f == none || f.inFront() {
		n.calls = append(n.calls, c)
	}
	if until := back.Add(f.wait()); f.wait() > 0 && until.After(n.held) {
		n.held = until
	}
}

// through carries the request to the server and the answer back, with the fault.
func (n *network) through(r *http.Request, s site, f fault) (*http.Response, error) {
	if answer, err, made := f.instead(r, time.Now()); made {
		return answer, err
	}
	if !n.zip || f != none {
		r = r.Clone(r.Context())
		r.Header.Del("Accept-Encoding")
	}
	answer, err := n.inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	if status := answer.StatusCode; strings.HasPrefix(s.what, "deal ") && (status == http.StatusNotFound || status == http.StatusForbidden) {
		body = n.says.rewrite(answer, body)
	}
	f.damage(r.Context(), answer, body)
	return answer, nil
}

// refusals is how an API refuses a deal by id. The API document describes the first one, for few endpoints.
type refusals string

const (
	withErrorID refusals = "errorId"
	withForm    refusals = "JSON without errorId"
	withNothing refusals = "no body"
	withHTML    refusals = "HTML"
)

// rewrite replaces the error body of the server by that of the API.
func (says refusals) rewrite(answer *http.Response, body []byte) []byte {
	switch says {
	case withForm:
		body = fmt.Appendf(nil, `{"status":%d,"title":"request %s"}`, answer.StatusCode, answer.Request.URL.Path)
	case withNothing:
		body = nil
	case withHTML:
		answer.Header.Set("Content-Type", "text/html")
		body = []byte("<html><body>no such page</body></html>")
	case withErrorID:
	}
	answer.ContentLength = int64(len(body))
	answer.Header.Del("Content-Length")
	return body
}

// until waits for an instant.
func until(ctx context.Context, at time.Time) error {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
