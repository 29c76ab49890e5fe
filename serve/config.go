package serve

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"strings"
	"time"

	"dealflow/schemas/api"
)

// Config says what to serve, and to whom.
type Config struct {
	// Accounts may ask for tokens. Defaults to BuiltinAccounts, and then Serve takes loopback
	// listeners only.
	Accounts []Account

	// BaseURL is {base_url}, put before every link. It may have a path, and then the API lies under
	// that path. Defaults to the scheme and host that each request names.
	BaseURL string

	// DefaultPageSize is the number of deals on a page when the client has no wish. Defaults to 100
	// or MaxPageSize, whichever is less.
	DefaultPageSize int

	// DrainTimeout bounds how long Serve waits for open requests when its context ends. Defaults to
	// 10 s.
	DrainTimeout time.Duration

	// Faults go wrong on purpose, to try clients on. Defaults to none.
	Faults Faults

	// Log receives one record per request, and what lies behind every 500. Defaults to none.
	Log *slog.Logger

	// MaxConnections bounds the connections that Serve keeps open at once; others wait. Defaults to
	// 1024.
	MaxConnections int

	// MaxPageSize clamps a client's wish. Defaults to 1000.
	MaxPageSize int

	// RetryAfterDate writes Retry-After as a date instead of seconds.
	RetryAfterDate bool

	// SigningKeys sign tokens and cursors, each at least MinSigningKey bytes long, the newest first.
	// All of them verify, so that a key can be replaced without ending what it signed. Servers with
	// the same keys and accounts take each other's tokens and cursors. Defaults to a random key, which
	// ends with the process.
	SigningKeys [][]byte

	// Source is the market served. Required.
	Source Source

	// TLS makes Serve speak https. Defaults to plain http.
	TLS *tls.Config

	// TokenTTL is how long a token is good, by the Source's clock; whole seconds. Defaults to 1 h.
	TokenTTL time.Duration
}

// BuiltinAccounts are the accounts of a server that nobody gave any: a VIP account without limits, and
// a Free Trial account that meets its rate limit soon.
func BuiltinAccounts() []Account {
	return []Account{
		{ClientID: "demo", Secret: "demo", Type: VIP},
		{ClientID: "trial", Secret: "trial", Type: FreeTrial, Rate: 10, Burst: 20},
	}
}

// Validate gives all faults of the configuration at once, or nil. Zero values are no faults where
// they have a default.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Source == nil {
		fault("Source: a market to serve is required")
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
	if c.DefaultPageSize < 0 || c.MaxPageSize < 0 || c.MaxConnections < 0 {
		fault("DefaultPageSize, MaxPageSize and MaxConnections must not be negative")
	}
	if c.MaxPageSize > 0 && c.DefaultPageSize > c.MaxPageSize {
		fault("DefaultPageSize %d is larger than MaxPageSize %d", c.DefaultPageSize, c.MaxPageSize)
	}
	if c.TokenTTL < 0 || (c.TokenTTL > 0 && c.TokenTTL < time.Second) {
		fault("TokenTTL %s: want at least one second", c.TokenTTL)
	}
	if c.TokenTTL/time.Second > math.MaxInt32 {
		fault("TokenTTL %s: expires_in is an int32 of seconds", c.TokenTTL)
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
		return &url.Error{Op: "parse", URL: text, Err: errors.New("want scheme, host and path alone")}
	}
	return nil
}

// withDefaults fills what was left zero.
func (c Config) withDefaults() Config {
	if len(c.Accounts) == 0 {
		c.Accounts = BuiltinAccounts()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.MaxConnections = cmp.Or(c.MaxConnections, 1024)
	c.MaxPageSize = cmp.Or(c.MaxPageSize, 1000)
	c.DefaultPageSize = cmp.Or(c.DefaultPageSize, min(100, c.MaxPageSize))
	c.TokenTTL = cmp.Or(c.TokenTTL, time.Hour)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, 10*time.Second)
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	return c
}
