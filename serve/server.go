package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"dealflow/serve/limits"
)

// Server answers the API's requests from a Source. Its methods may be called concurrently.
type Server struct {
	config   Config // with defaults
	accounts *accounts
	keys     keyring
	metrics  *metrics
	builtin  bool   // the accounts are BuiltinAccounts, whose secrets are public
	path     string // the base URL's own path, without a trailing slash
	handler  http.Handler

	issued        atomic.Uint64  // tokens
	faultInjector *faultInjector // nil: no faults
}

// New returns a server. Its error names all errors of the configuration.
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
	counts, err := newMetrics(config.Registry)
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	s := &Server{
		config: config, accounts: newAccounts(config.Accounts), keys: newKeyring(config.SigningKeys),
		metrics: counts, builtin: builtin, path: base.Path,
	}
	if !config.Faults.none() {
		s.faultInjector = &faultInjector{faults: config.Faults}
	}
	s.handler = s.wrap(s.mux())
	return s, nil
}

// Handler returns the handler of all endpoints, for the root of a host. It knows no listener, so that all routes but the
// open ones need a token: see Serve.
func (s *Server) Handler() http.Handler { return s.handler }

// HTTPServer returns an HTTP server for handler, with timeouts against slow and idle clients.
func HTTPServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      2 * time.Minute, // enough for the largest page over a slow line
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}

// Serve answers requests on l until ctx ends. Then it accepts no new requests, waits for the open ones (at most
// Config.DrainTimeout) and returns nil. It always closes l, and all its goroutines have ended when it returns. It fails
// if the listener fails, or if requests were cut off after DrainTimeout.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	tcp, ok := l.Addr().(*net.TCPAddr)
	loopback := ok && tcp.IP.IsLoopback()
	if s.builtin && ok && !loopback {
		return errors.Join(fmt.Errorf("serve %s: the built-in accounts are public, so want a loopback address, or accounts of your own", l.Addr()), l.Close())
	}
	each := s.config.MaxConnectionsEach
	if s.config.BehindProxy {
		each = 0
	}
	limited := limits.Listen(l, s.config.MaxConnections, each)
	l = limited
	if s.config.TLS != nil {
		l = tls.NewListener(l, s.config.TLS)
	}
	server := HTTPServer(s.handler)
	server.ConnState = limited.Changed
	server.BaseContext = func(net.Listener) context.Context {
		return context.WithValue(context.Background(), listenerKey{}, loopback && !s.config.BehindProxy)
	}
	server.ErrorLog = log.New(connectionLog{s.config.Log}, "", 0)
	drained := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { drained <- s.drain(ctx, server) })
	err := server.Serve(l)
	if stop() {
		return fmt.Errorf("serve %s: %w", l.Addr(), errors.Join(err, server.Close()))
	}
	return <-drained
}

// drain waits for the open requests after ctx has ended.
func (s *Server) drain(ctx context.Context, server *http.Server) error {
	reason := errors.New("drain open requests")
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), s.config.DrainTimeout, reason)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("drain open requests: %w", err), server.Close())
	}
	return nil
}

// connectionLog logs what the HTTP library says, mostly of clients that close their connections.
type connectionLog struct{ log *slog.Logger }

// Write implements io.Writer.
func (c connectionLog) Write(line []byte) (int, error) {
	c.log.Debug("connection", "detail", strings.TrimSpace(string(line)))
	return len(line), nil
}
