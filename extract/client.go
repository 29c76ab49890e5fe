package extract

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dealflow/extract/internal/budget"
	"dealflow/schemas/api"
)

// Client extracts from one API with one account. It is safe for concurrent use: all feeds share its token, pace and
// connections. The owner calls Close.
type Client struct {
	cfg    Config
	origin origin
	http   *http.Client
	pace   *pacer
	tokens *tokens
	clock  Clock // nil: instants are the answers' Dates
	memory *budget.Budget
	sent   atomic.Int64 // requests of feeds, as far as MaxRequests limits them

	mu       sync.Mutex
	tallies  map[api.Feed]*tally
	sizeless map[api.Feed]bool // feeds whose server refuses pageSize
	missing  missingForms      // forms of 404
	secrets  []api.Secret      // texts that no message may contain
}

// New creates a client. It validates the configuration and sends no request.
func New(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	cfg = cfg.withDefaults()
	pinned, err := newOrigin(cfg.Base)
	if err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	transport := cfg.Transport
	if transport == nil {
		transport = tunedTransport()
	}
	c := &Client{
		cfg: cfg, origin: pinned, pace: newPacer(cfg.Rate),
		http:    &http.Client{Transport: transport, CheckRedirect: pinned.redirect},
		memory:  budget.New(cfg.PageMemory),
		tallies: map[api.Feed]*tally{}, sizeless: map[api.Feed]bool{}, missing: missingForms{},
	}
	c.tokens = newTokens(c.job(api.Feed{}, "token").requestToken)
	for _, spelling := range cfg.ClientSecret.Spellings() {
		c.addSecret(spelling)
	}
	c.addSecret(cfg.basic())
	return c, nil
}

// spend counts a request for a feed. It returns ErrBudget if the client must not send it.
func (c *Client) spend() error {
	if most := c.cfg.MaxRequests; most > 0 && c.sent.Add(1) > most {
		return ErrBudget
	}
	return nil
}

// Close closes idle connections, unless the transport was given by the configuration.
func (c *Client) Close() {
	if c.cfg.Transport == nil {
		c.http.CloseIdleConnections()
	}
}

// ServerTime gets a fresh token and returns the Date header of the response, UTC in whole seconds. As the first request
// of a run it reports wrong credentials (*AuthError) and an unreachable server before any other work. If the response
// has no readable Date, it returns the zero time.
func (c *Client) ServerTime(ctx context.Context) (time.Time, error) {
	date, err := c.tokens.renew(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return date, nil
}

// Counts returns the work done for a feed since New, confirmations included.
func (c *Client) Counts(feed api.Feed) Counts { return c.job(feed, "").tally.counts() }

// job is the work on one feed. Requests, waits and messages belong to a job.
type job struct {
	client *Client
	feed   api.Feed // the zero Feed for token requests
	log    *slog.Logger
	tally  *tally
	spool  *Spool // nil for token requests
	phase  string
	round  int

	waitedAt time.Time // when secondPassed last waited, by the server's clock
}

func (c *Client) job(feed api.Feed, phase string) *job {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tallies[feed] == nil {
		c.tallies[feed] = &tally{}
	}
	j := &job{client: c, feed: feed, tally: c.tallies[feed], phase: phase, log: c.cfg.Log}
	if feed != (api.Feed{}) {
		j.log = c.cfg.Log.With("feed", feed.String())
	}
	return j
}

// progress reports the current state. wait is 0, except at the beginning of a wait.
func (j *job) progress(wait time.Duration, reason string) {
	deals := 0
	if j.spool != nil {
		deals = j.spool.Len()
	}
	j.client.cfg.Progress(Progress{
		Feed: j.feed, Phase: j.phase, Round: j.round, Pages: int(j.tally.pages.Load()), Deals: deals,
		Bytes: j.tally.bytes.Load(), Wait: wait, Reason: reason,
	})
}

// resolve is origin.resolve with secrets removed from the error: a server can put what it was sent into a link.
func (c *Client) resolve(from, link string) (string, error) {
	resolved, err := c.origin.resolve(from, link)
	var refused *LinkError
	if errors.As(err, &refused) {
		refused.Link = c.redact(refused.Link)
	}
	return resolved, err
}

// addSecret makes redact remove a text from all later messages.
func (c *Client) addSecret(secret string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.secrets = append(c.secrets, api.NewSecret(secret))
}

// redact replaces secrets in a server's text: a server may echo what it was sent.
func (c *Client) redact(text string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, secret := range c.secrets {
		if !secret.IsZero() {
			text = strings.ReplaceAll(text, secret.Reveal(), secret.String())
		}
	}
	return text
}
