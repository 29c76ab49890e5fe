package serve

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Faults are the rates, from 0 (never) to 1 (always), of errors that a client gets from a real API. They are for tests
// of clients, and happen to requests that need a token. The draws for the n-th such request of a server depend only on
// the seed.
type Faults struct {
	Seed          uint64
	ServerError   float64 // per request: 500
	TooMany       float64 // per request: 429 with Retry-After of a second
	Truncated     float64 // per request: the connection breaks within the body
	TokenExpired  float64 // per request: its token has expired, unless it is new
	CursorExpired float64 // per page after the first: 400, as for an expired cursor
	LinkSpelling  float64 // per answer: the scheme in links is in capitals
}

// AllFaults returns Faults with the same rate for every fault.
func AllFaults(seed uint64, rate float64) Faults {
	return Faults{Seed: seed, ServerError: rate, TooMany: rate, Truncated: rate, TokenExpired: rate, CursorExpired: rate, LinkSpelling: rate}
}

func (f Faults) validate() error {
	for _, rate := range []float64{f.ServerError, f.TooMany, f.Truncated, f.TokenExpired, f.CursorExpired, f.LinkSpelling} {
		if rate < 0 || rate > 1 {
			return fmt.Errorf("rate %v: want 0 to 1", rate)
		}
	}
	return nil
}

// faultInjector draws faults. It is safe for concurrent use.
type faultInjector struct {
	faults Faults
	count  atomic.Uint64

	mu     sync.Mutex
	tokens map[string]int // uses of a token; negative if it has expired
}

const (
	// newToken is the number of uses before a token can expire, so that a client with a new token makes progress.
	newToken = 50
	// maxTokens limits the tokens whose uses are counted.
	maxTokens = 1000
)

// expire counts a use of the request's token and reports whether the token has expired. hit makes it expire now, unless
// it is new.
func (m *faultInjector) expire(r *http.Request, hit bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tokens == nil || len(m.tokens) > maxTokens {
		m.tokens = map[string]int{}
	}
	token := r.Header.Get("Authorization")
	uses := m.tokens[token]
	switch {
	case uses < 0:
	case hit && uses >= newToken:
		uses = -1
	default:
		uses++
	}
	m.tokens[token] = uses
	return uses < 0
}

var (
	errStruck     = errors.New("a fault on purpose, by --faults")
	errOldCursor  = badRequest("%s: the cursor has expired; start again from the first page", paramSeeker)
	shortestCut   = 200 // bytes of a body that are sent before the connection breaks
	faultWaitTime = time.Second
)

// strike draws the faults of a request. It returns an error to answer with, or the writer to use, which can break.
func (m *faultInjector) strike(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, error) {
	dice := rand.New(rand.NewPCG(m.faults.Seed, m.count.Add(1)))
	hit := func(rate float64) bool { return dice.Float64() < rate }
	// All faults are drawn for every request, so a change of one rate does not change the draws of the others.
	broken, busy, expired, lost := hit(m.faults.ServerError), hit(m.faults.TooMany), hit(m.faults.TokenExpired), hit(m.faults.CursorExpired)
	cut, odd := hit(m.faults.Truncated), hit(m.faults.LinkSpelling)
	visitOf(r).oddLinks = odd
	switch {
	case broken:
		return w, errStruck
	case busy:
		return w, tooMany(faultWaitTime)
	case m.expire(r, expired):
		return w, errTokenInvalid
	case lost && r.URL.Query().Has(paramSeeker):
		return w, errOldCursor
	case cut:
		return &breaking{ResponseWriter: w, left: shortestCut + dice.IntN(4*shortestCut)}, nil
	}
	return w, nil
}

// breaking is a ResponseWriter that closes the connection in the middle of the body.
type breaking struct {
	http.ResponseWriter
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	if len(p) < b.left {
		b.left -= len(p)
		return b.ResponseWriter.Write(p)
	}
	_, _ = b.ResponseWriter.Write(p[:b.left])
	panic(http.ErrAbortHandler)
}

// respell writes a base URL's scheme in capitals, which is an equal URL.
func respell(base string) string {
	scheme, rest, _ := strings.Cut(base, "://")
	return strings.ToUpper(scheme) + "://" + rest
}
