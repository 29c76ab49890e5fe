package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
)

// Server answers the API's requests from a Source. Its methods may be called concurrently.
type Server struct {
	config   Config // with defaults
	accounts *accounts
	keys     keyring
	metrics  *metrics
	builtin  bool   // the accounts are those that everybody knows
	path     string // the base URL's own path, without a trailing slash
	handler  http.Handler

	issued     atomic.Uint64 // tokens
	misfortune *misfortune   // nil: nothing goes wrong on purpose
}

// New prepares a server. The error names all faults of the configuration.
func New(config Config) (*Server, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	builtin := len(config.Accounts) == 0
	config = config.withDefaults()
	base, err := url.Parse(config.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	s := &Server{
		config: config, accounts: newAccounts(config.Accounts), keys: newKeyring(config.SigningKeys),
		metrics: newMetrics(), builtin: builtin, path: base.Path,
	}
	if config.Faults != (Faults{Seed: config.Faults.Seed}) {
		s.misfortune = &misfortune{faults: config.Faults}
	}
	s.handler = s.wrap(s.mux())
	return s, nil
}

// Handler is the whole API, to be mounted at the root of a host.
func (s *Server) Handler() http.Handler { return s.handler }

// HTTPServer is a server around handler whose timeouts keep slow or idle clients from holding it.
func HTTPServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      2 * time.Minute, // a page of the largest size over a slow line
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}

// Serve answers on l until ctx ends; then it takes no new requests, waits for the open ones (at
// most Config.DrainTimeout) and returns nil. It closes l and leaves no goroutine behind. The error
// says why the listener failed, or that requests had to be cut off.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if tcp, ok := l.Addr().(*net.TCPAddr); s.builtin && ok && !tcp.IP.IsLoopback() {
		return errors.Join(fmt.Errorf("serve %s: the built-in accounts, which everybody knows, are for loopback only", l.Addr()), l.Close())
	}
	l = netutil.LimitListener(l, s.config.MaxConnections)
	if s.config.TLS != nil {
		l = tls.NewListener(l, s.config.TLS)
	}
	server := HTTPServer(s.handler)
	server.ErrorLog = slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug) // clients that break off, mostly
	drained := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { drained <- s.drain(ctx, server) })
	err := server.Serve(l)
	if stop() {
		return fmt.Errorf("serve %s: %w", l.Addr(), errors.Join(err, server.Close()))
	}
	return <-drained
}

// drain outlives ctx, whose end is the reason for it.
func (s *Server) drain(ctx context.Context, server *http.Server) error {
	reason := errors.New("drain open requests")
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), s.config.DrainTimeout, reason)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("drain open requests: %w", err), server.Close())
	}
	return nil
}
