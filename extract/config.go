package extract

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dealflow/schemas/api"
)

// AuthEncoding selects how the client's id and secret enter the Basic header of a token request.
type AuthEncoding string

const (
	// AuthRaw encodes "<id>:<secret>" unchanged, as the API's documentation asks.
	AuthRaw AuthEncoding = "raw"
	// AuthRFC6749 percent-encodes both first, as RFC 6749 §2.3.1 requires.
	AuthRFC6749 AuthEncoding = "rfc6749"
)

// Config contains the API's address, the account, and limits. The zero value of a field means its default. Base,
// ClientID and ClientSecret have no default.
type Config struct {
	Base         api.Base     // {base_url}; https, or http on a loopback host
	ClientID     string       // account username; under AuthRaw without a colon
	ClientSecret api.Secret   // account password
	AuthEncoding AuthEncoding // default AuthRaw

	// PageSize is sent as pageSize with the first request of a walk, in records. Default 1000; negative: none is sent.
	// If a server answers 400, the request is sent again without it.
	PageSize int
	// Transport sends the requests. nil: a transport tuned for this API, which uses the proxy settings of the
	// environment. Close does not close a transport that is given here.
	Transport http.RoundTripper
	// Log receives log records; nil: nothing is logged.
	Log *slog.Logger
	// Progress is called after each page and at the beginning of each wait, from many goroutines at once. It must
	// return quickly. nil: it is not called.
	Progress func(Progress)

	MaxAttempts    int           // tries of one request; default 8. Waits that the server asks for are not counted as failed tries
	Backoff        time.Duration // upper bound of the first pause after a failure, doubled each time; default 500 ms
	MaxBackoff     time.Duration // upper bound of any pause after a failure; default 30 s
	MaxWait        time.Duration // longest Retry-After that is honoured; a longer one is an error; default 1 h
	RequestTimeout time.Duration // one try of a request with its whole body; default 10 min
	StallTimeout   time.Duration // longest time without a byte from the server; default 60 s
	MaxBody        int64         // bytes of one body after decompression; default 256 MiB
	PageMemory     int64         // decompressed bytes of all bodies in memory, over all feeds; a body waits for it; default 512 MiB
	MaxPages       int           // pages of one walk; default 100,000
	MaxSweeps      int           // most sweeps before *UnsettledError; default 20
	MaxRequests    int64         // requests that may be sent for feeds, retries included, before ErrBudget; default 0: unlimited
	Rate           float64       // most requests per second of all feeds together; 429 answers lower it for a while; default 0: unlimited
}

// DefaultPageMemory is the default of Config.PageMemory, in bytes.
const DefaultPageMemory = 512 << 20

func (c Config) withDefaults() Config {
	setDefault(&c.AuthEncoding, AuthRaw)
	setDefault(&c.PageSize, 1000)
	setDefault(&c.MaxAttempts, 8)
	setDefault(&c.Backoff, 500*time.Millisecond)
	setDefault(&c.MaxBackoff, 30*time.Second)
	setDefault(&c.MaxWait, time.Hour)
	setDefault(&c.RequestTimeout, 10*time.Minute)
	setDefault(&c.StallTimeout, time.Minute)
	setDefault(&c.MaxBody, 256<<20)
	setDefault(&c.PageMemory, DefaultPageMemory)
	setDefault(&c.MaxPages, 100_000)
	setDefault(&c.MaxSweeps, 20)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Progress == nil {
		c.Progress = func(Progress) {}
	}
	return c
}

func setDefault[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}

// Validate returns all faults of the configuration at once, joined. It uses no network.
func (c Config) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	if c.Base == (api.Base{}) {
		fault(true, "no base URL: set --api or DEALFLOW_API")
	} else if err := CheckBase(c.Base); err != nil {
		fault(true, "base URL %w", err)
	}
	fault(c.ClientID == "", "no client id: set DEALFLOW_CLIENT_ID")
	fault(c.ClientSecret.IsZero(), "no client secret: set DEALFLOW_CLIENT_SECRET or DEALFLOW_CLIENT_SECRET_FILE")
	switch c.AuthEncoding {
	case AuthRFC6749:
	case "", AuthRaw:
		fault(strings.Contains(c.ClientID, ":"), "client id: got a colon, which HTTP Basic credentials do not allow; set --auth-encoding=rfc6749 if the server accepts that form")
	default:
		fault(true, "auth encoding %q: want %q or %q", c.AuthEncoding, AuthRaw, AuthRFC6749)
	}
	for _, limit := range []struct {
		name  string
		value float64
	}{
		{"MaxAttempts", float64(c.MaxAttempts)}, {"Backoff", float64(c.Backoff)}, {"MaxBackoff", float64(c.MaxBackoff)},
		{"MaxWait", float64(c.MaxWait)}, {"RequestTimeout", float64(c.RequestTimeout)}, {"StallTimeout", float64(c.StallTimeout)},
		{"MaxBody", float64(c.MaxBody)}, {"PageMemory", float64(c.PageMemory)}, {"MaxPages", float64(c.MaxPages)}, {"MaxSweeps", float64(c.MaxSweeps)}, {"Rate", c.Rate},
	} {
		fault(!(limit.value >= 0), "%s: want 0 or more", limit.name) // NaN neither
	}
	return errors.Join(faults...)
}

// CheckBase returns an error for a base to which no secret may be sent: it is reached neither over https nor on this machine.
func CheckBase(base api.Base) error {
	u, err := url.Parse(base.String())
	if err != nil {
		return err
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); u.Scheme == "https" || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s: want https, or http to a loopback host; http sends the secret and the data unencrypted", base)
}
