package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"dealflow/internal/metrics"
	"dealflow/internal/status"
	"dealflow/internal/watch"
	"dealflow/load"
	"dealflow/load/store"
)

const (
	// aliveWithin is how long ago a watch that is alive looked at the clock at most. It does so each 15 seconds.
	aliveWithin = 3 * time.Minute
	// statusKept is how long an answer of /status is given again: each asks the store for dozens of objects.
	statusKept = 15 * time.Second
)

// watchHealth answers what the process of a watch is asked over HTTP.
type watchHealth struct {
	app      *app
	store    store.Store
	watch    *watch.Watch
	registry *prometheus.Registry

	mu     sync.Mutex
	answer []byte // of /status
	code   int
	asked  time.Time // when answer was made
}

// healthResult is the object that /healthz answers; fields are only ever added.
type healthResult struct {
	Alive bool           `json:"alive"`
	Watch watch.Presence `json:"watch"`
}

func newWatchHealth(a *app, s store.Store, w *watch.Watch) (*watchHealth, error) {
	h := &watchHealth{app: a, store: s, watch: w, registry: metrics.NewRegistry(version())}
	return h, h.registry.Register(a.lakeMetrics(s))
}

// serve answers until ctx ends.
func (h *watchHealth) serve(ctx context.Context, listener net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", h.healthz)
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { h.status(ctx, w) })
	mux.Handle("GET /metrics", promhttp.HandlerFor(h.registry, promhttp.HandlerOpts{}))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() }) // readers ask again
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// healthz says whether the watch is alive. It asks no store, and says nothing about the data: neither must end a process.
func (h *watchHealth) healthz(w http.ResponseWriter, _ *http.Request) {
	result, code := healthResult{Alive: h.watch.SinceTick() < aliveWithin, Watch: h.watch.Shown()}, http.StatusOK
	if !result.Alive {
		code = http.StatusServiceUnavailable
	}
	data, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		code = http.StatusInternalServerError
	}
	answerJSON(w, code, data)
}

// status says what `dealflow status --json` says. ctx is the server's, not the request's: the answer is for all who ask,
// also after the one who asked first has left.
func (h *watchHealth) status(ctx context.Context, w http.ResponseWriter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.answer == nil || time.Since(h.asked) > statusKept {
		h.answer, h.code = h.inspect(ctx)
		h.asked = time.Now()
	}
	answerJSON(w, h.code, h.answer)
}

func (h *watchHealth) inspect(ctx context.Context) (answer []byte, code int) {
	s, err := h.app.readStatus(ctx, h.store)
	var result any
	switch {
	case errors.Is(err, load.ErrNoLake):
		result, code = h.app.emptyStatus(ctx, h.store, err), http.StatusServiceUnavailable
	case err != nil:
		result, code = h.app.unreadable(h.store, h.app.Now(), err), http.StatusServiceUnavailable
	case s.State == status.Problem:
		result, code = s, http.StatusServiceUnavailable
	default:
		result, code = s, http.StatusOK
	}
	if answer, err = json.MarshalIndent(result, "", "  "); err != nil {
		return nil, http.StatusInternalServerError
	}
	return answer, code
}

func answerJSON(w http.ResponseWriter, code int, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(append(data, '\n')) // a reader that went away
}
