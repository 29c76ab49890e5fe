package serve

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dealflow/schemas/api"
)

// Config says what a server serves, and to which accounts.
type Config struct {
	// Accounts may ask for tokens. Defaults to BuiltinAccounts; then Serve accepts only loopback listeners.
	Accounts []Account

	// BehindProxy says that all requests come through a proxy: connections are not limited by address, and a client's
	// address is the last one of X-Forwarded-For. Defaults to false.
	BehindProxy bool

	// BaseURL is {base_url}, the beginning of every link. If it has a path, the API is under that path. Defaults to
	// the scheme and host of each request.
	BaseURL string

	// DefaultPageSize is the number of deals on a page if the client names none. Defaults to the lesser of 100 and
	// MaxPageSize.
	DefaultPageSize int

	// DrainTimeout limits how long Serve waits for open requests when its context ends. Defaults to
	// 10 s.
	DrainTimeout time.Duration

	// Faults are errors on purpose, to test clients with. Defaults to none.
	Faults Faults

	// Log receives one record per request, and the cause of every 500. Defaults to no log.
	Log *slog.Logger

	// MaxConnections limits the connections that Serve keeps open at once. For a new one it closes the one that has
	// been idle for longest; if none is idle, the new one waits. Defaults to 1024.
	MaxConnections int

	// MaxConnectionsEach limits the open connections of one address in the same way, but if none of them is idle, the
	// new one is closed. Not used with BehindProxy. Defaults to an eighth of MaxConnections, at least 1.
	MaxConnectionsEach int

	// MaxPageSize is the largest page size that a client gets. Defaults to 1000.
	MaxPageSize int

	// Registry has the metrics that GET /metrics shows; New adds those of requests to it. Defaults to a registry of
	// its own.
	Registry *prometheus.Registry

	// RetryAfterDate writes Retry-After as a date instead of seconds.
	RetryAfterDate bool

	// SigningKeys sign tokens and cursors: each at least MinSigningKey bytes long, the newest first. The first one
	// signs and all of them verify, so a key can be replaced while its tokens are in use. Servers with the same keys
	// and accounts accept each other's tokens and cursors. Defaults to a random key of this process.
	SigningKeys [][]byte

	// Source is the market that is served. Required.
	Source Source

	// Strict refuses requests with parameters that the API does not know. Otherwise it ignores them, and names them in
	// the header Dealflow-Ignored and in the log.
	Strict bool

	// Tables answers the paths under TablesPath, for requests that may also see the metrics. Defaults to none: there are
	// no such paths.
	Tables http.Handler

	// TLS makes Serve use https. Defaults to http.
	TLS *tls.Config

	// TokenTTL is how long a token is valid, by the Source's clock, in whole seconds. Defaults to 1 h.
	TokenTTL time.Duration
}

// BuiltinAccounts returns the accounts of a server without configured accounts: a VIP account without limits, and a
// Free Trial account with a low rate limit.
func BuiltinAccounts() []Account {
	return []Account{
		{ClientID: "demo", Secret: "demo", Type: VIP},
		{ClientID: "trial", Secret: "trial", Type: FreeTrial, Rate: 10, Burst: 20},
	}
}

// Validate returns all errors of the configuration, or nil. A zero value that has a default is no error.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Source == nil {
		fault("Source is not set: want a market to serve")
	}
	if err := validateAccounts(c.Accounts); err != nil {
		fault("Accounts: %w", err)
	}
	for i, key := range c.SigningKeys {
		if len(key) < MinSigningKey {
			fault("SigningKeys[%d]: %d bytes, want %d at least", i, len(key), MinSigningKey)
		}
	}
	if err := c.Faults.validate(); err != nil {
		fault("Faults: %w", err)
	}
	if err := validateBaseURL(c.BaseURL); err != nil {
		fault("BaseURL: %w", err)
	}
	if c.DefaultPageSize < 0 || c.MaxPageSize < 0 || c.MaxConnections < 0 || c.MaxConnectionsEach < 0 {
		fault("DefaultPageSize, MaxPageSize, MaxConnections and MaxConnectionsEach must not be negative")
	}
	if c.MaxPageSize > 0 && c.DefaultPageSize > c.MaxPageSize {
		fault("DefaultPageSize %d is larger than MaxPageSize %d", c.DefaultPageSize, c.MaxPageSize)
	}
	if c.TokenTTL < 0 || (c.TokenTTL > 0 && c.TokenTTL < time.Second) {
		fault("TokenTTL %s: want at least one second", c.TokenTTL)
	}
	if c.TokenTTL/time.Second > math.MaxInt32 {
		fault("TokenTTL %s: want less than 2^31 seconds, because expires_in is an int32", c.TokenTTL)
	}
	if c.DrainTimeout < 0 {
		fault("DrainTimeout must not be negative")
	}
	return errors.Join(faults...)
}

func validateBaseURL(text string) error {
	if text == "" {
		return nil
	}
	if _, err := api.ParseBase(text); err != nil {
		return err
	}
	u, err := url.Parse(text)
	if err != nil {
		return err
	}
	if u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(text, "\"\\{}<>") {
		return &url.Error{Op: "parse", URL: text, Err: errors.New("want scheme, host and path only")}
	}
	return nil
}

// withDefaults replaces zero values by their defaults.
func (c Config) withDefaults() Config {
	if len(c.Accounts) == 0 {
		c.Accounts = BuiltinAccounts()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	c.MaxConnections = cmp.Or(c.MaxConnections, 1024)
	c.MaxConnectionsEach = cmp.Or(c.MaxConnectionsEach, max(1, c.MaxConnections/8))
	c.MaxPageSize = cmp.Or(c.MaxPageSize, 1000)
	c.DefaultPageSize = cmp.Or(c.DefaultPageSize, min(100, c.MaxPageSize))
	c.TokenTTL = cmp.Or(c.TokenTTL, time.Hour)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, 10*time.Second)
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	return c
}
