package serve

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Fault is a kind of answer that goes wrong on purpose.
type Fault string

// The kinds of faults. Those of the second group come from a proxy, not from the API.
const (
	FaultServerError   Fault = "500"
	FaultTooMany       Fault = "429"
	FaultTruncated     Fault = "cut"
	FaultTokenExpired  Fault = "token"
	FaultCursorExpired Fault = "cursor"
	FaultLinkSpelling  Fault = "links"

	FaultBareTooMany    Fault = "429-bare"
	FaultBadGateway     Fault = "502"
	FaultUnavailable    Fault = "503"
	FaultGatewayTimeout Fault = "504"
	FaultHTML           Fault = "html"
	FaultBadJSON        Fault = "badjson"
	FaultBadGzip        Fault = "badgzip"
)

var faultKinds = []struct {
	kind  Fault
	about string
}{
	{FaultServerError, "500 with the error body"},
	{FaultTooMany, "429 with a Retry-After of a second"},
	{FaultTruncated, "the connection breaks within the body"},
	{FaultTokenExpired, "401: a token that was used 50 times has expired"},
	{FaultCursorExpired, "400: the cursor of a page after the first has expired"},
	{FaultLinkSpelling, "the scheme of links is in capitals"},
	{FaultBareTooMany, "429 without Retry-After"},
	{FaultBadGateway, "502 with a page of HTML"},
	{FaultUnavailable, "503 with a page of HTML"},
	{FaultGatewayTimeout, "504 with a page of HTML"},
	{FaultHTML, "200 with a page of HTML"},
	{FaultBadJSON, "200 with damaged JSON"},
	{FaultBadGzip, "200 with damaged gzip, for clients that accept gzip"},
}

// ListFaults returns all kinds of faults, and what each one is. The caller owns the slices.
func ListFaults() (kinds []Fault, about []string) {
	for _, fault := range faultKinds {
		kinds, about = append(kinds, fault.kind), append(about, fault.about)
	}
	return kinds, about
}

// Faults say how many answers go wrong on purpose, for tests of clients. They happen to requests that need a token. The
// draws for the n-th such request of a server depend only on the seed.
type Faults struct {
	Seed uint64

	// Share is the share of all answers that go wrong, from 0 (none) to 1 (all). It is spread evenly over those of Kinds
	// that the request can get: only a request with a cursor can get an expired one.
	Share float64

	// Kinds are the kinds of Share. Defaults to all.
	Kinds []Fault

	// Rates are the rates, from 0 to 1, of single kinds, in addition to Share: the share of the requests that can get
	// this kind.
	Rates map[Fault]float64
}

// AllFaults returns Faults with a share of all answers, spread over all kinds but some.
func AllFaults(seed uint64, share float64, except ...Fault) Faults {
	kinds, _ := ListFaults()
	return Faults{Seed: seed, Share: share, Kinds: slices.DeleteFunc(kinds, func(kind Fault) bool { return slices.Contains(except, kind) })}
}

// ParseFaults reads a share of all answers, as in "0.02", or rates of kinds, as in "500=0.01,badjson=0.01". "" is none.
func ParseFaults(seed uint64, text string) (Faults, error) {
	faults := Faults{Seed: seed, Rates: map[Fault]float64{}}
	if text == "" {
		return faults, nil
	}
	if !strings.Contains(text, "=") {
		share, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return Faults{}, fmt.Errorf("%q: want a share of all answers such as 0.02, or kinds with their rates such as 500=0.01,badjson=0.01", text)
		}
		faults = AllFaults(seed, share)
		return faults, faults.validate()
	}
	for part := range strings.SplitSeq(text, ",") {
		kind, written, _ := strings.Cut(strings.TrimSpace(part), "=")
		rate, err := strconv.ParseFloat(written, 64)
		if err != nil {
			return Faults{}, fmt.Errorf("%s: rate %q: want 0 to 1", kind, written)
		}
		faults.Rates[Fault(kind)] += rate
	}
	return faults, faults.validate()
}

func (f Faults) validate() error {
	known, _ := ListFaults()
	sum := 0.0
	add := func(what string, rate float64) error {
		if !(rate >= 0 && rate <= 1) {
			return fmt.Errorf("%s: rate %v: want 0 to 1", what, rate)
		}
		sum += rate
		return nil
	}
	errs := []error{add("share of all answers", f.Share)}
	for kind, rate := range f.Rates {
		errs = append(errs, add(string(kind), rate))
		if !slices.Contains(known, kind) {
			errs = append(errs, fmt.Errorf("kind %q: want one of %v", kind, known))
		}
	}
	if sum > 1 {
		errs = append(errs, fmt.Errorf("the rates add up to %v: want 1 at most", sum))
	}
	return errors.Join(errs...)
}

func (f Faults) none() bool { return f.Share == 0 && len(f.Rates) == 0 }

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

// use counts a use of the request's token and returns the uses before it; negative if the token has expired.
func (m *faultInjector) use(r *http.Request) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tokens == nil || len(m.tokens) > maxTokens {
		m.tokens = map[string]int{}
	}
	token := r.Header.Get("Authorization")
	uses := m.tokens[token]
	if uses >= 0 {
		m.tokens[token]++
	}
	return uses
}

// expire ends the request's token.
func (m *faultInjector) expire(r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens[r.Header.Get("Authorization")] = -1
}

// draw returns the fault of a request whose token was used before, "" for none.
func (m *faultInjector) draw(r *http.Request, uses int) Fault {
	dice := rand.New(rand.NewPCG(m.faults.Seed, m.count.Add(1)))
	at, which := dice.Float64(), dice.Float64()
	visitOf(r).faultAt = dice.Float64()
	var possible []Fault
	for _, fault := range faultKinds {
		rate, can := m.faults.Rates[fault.kind], canStrike(fault.kind, r, uses)
		if at >= 0 && at < rate && can {
			return fault.kind
		}
		at -= rate
		if can && (m.faults.Kinds == nil || slices.Contains(m.faults.Kinds, fault.kind)) {
			possible = append(possible, fault.kind)
		}
	}
	if at < 0 || at >= m.faults.Share || len(possible) == 0 {
		return ""
	}
	return possible[int(which*float64(len(possible)))]
}

// canStrike says whether a request can get a fault of this kind.
func canStrike(kind Fault, r *http.Request, uses int) bool {
	switch kind {
	case FaultTokenExpired:
		return uses >= newToken
	case FaultCursorExpired:
		return r.URL.Query().Has(paramSeeker)
	case FaultBadGzip:
		return r.Method == http.MethodGet && acceptsGzip(r)
	case FaultTruncated, FaultBadJSON, FaultHTML, FaultLinkSpelling:
		return r.Method == http.MethodGet // others have no body
	}
	return true
}

var (
	errStruck     = errors.New("a fault on purpose, by --faults")
	errOldCursor  = badRequest("%s: the cursor has expired; start again from the first page", paramSeeker)
	faultWaitTime = time.Second
)

// strike draws the fault of a request. It answers the request itself, or returns an error to answer with, or marks the
// request's visit: respond then damages the answer.
func (m *faultInjector) strike(w http.ResponseWriter, r *http.Request) (answered bool, err error) {
	uses := m.use(r)
	if uses < 0 {
		return false, errTokenInvalid
	}
	switch kind := m.draw(r, uses); kind {
	case FaultServerError:
		return false, errStruck
	case FaultTooMany:
		return false, tooMany(faultWaitTime)
	case FaultBareTooMany:
		return false, tooMany(0)
	case FaultTokenExpired:
		m.expire(r)
		return false, errTokenInvalid
	case FaultCursorExpired:
		return false, errOldCursor
	case FaultBadGateway, FaultUnavailable, FaultGatewayTimeout, FaultHTML:
		status, err := strconv.Atoi(string(kind))
		if err != nil { // FaultHTML
			status = http.StatusOK
		}
		text := cmp.Or(http.StatusText(status), "Sign in")
		respond(w, r, status, "text/html", fmt.Appendf(nil, "<html><head><title>%d %s</title></head><body><h1>%s</h1><hr>proxy</body></html>\n", status, text, text))
		return true, nil
	default:
		visitOf(r).fault = kind
		return false, nil
	}
}

// damage sends a body with the fault of the request's visit. It returns false for no such fault.
func damage(w http.ResponseWriter, r *http.Request, status int, body []byte) bool {
	v := visitOf(r)
	header := w.Header()
	at := int(v.faultAt * float64(len(body)))
	switch v.fault {
	case FaultTruncated:
		header.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
		_, _ = w.Write(body[:at])
		panic(http.ErrAbortHandler)
	case FaultBadJSON:
		body = slices.Concat(body[:at], []byte("\x00<"), body[at:]) // invalid at every place of a JSON text
	case FaultBadGzip:
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		_, _ = zip.Write(body)
		_ = zip.Close()
		body = packed.Bytes()
		body[len(body)-8] ^= 0xff // the checksum
		header.Set("Content-Encoding", "gzip")
	default:
		return false
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
	return true
}

// respell writes a base URL's scheme in capitals, which is an equal URL.
func respell(base string) string {
	scheme, rest, _ := strings.Cut(base, "://")
	return strings.ToUpper(scheme) + "://" + rest
}
