package metrics

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// States are the values of the label state of dealflow_lake_state.
var States = []string{"ok", "warning", "problem", "unknown"}

// readTimeout limits how long a collection reads a lake. A scrape has ten seconds by default.
const readTimeout = 8 * time.Second

// Lake collects the metrics of a lake. It is safe for concurrent use.
type Lake struct {
	url string

	mu       sync.Mutex
	health   *Health // the newest one; nil: none is known
	readable bool
	ended    map[string]Ending    // the newest of each command
	success  map[string]time.Time // the newest of each command

	read   func(context.Context) (*Health, error) // nil: only Set changes the health
	every  time.Duration
	readAt time.Time
}

// New returns a collector that knows nothing yet. url names the lake in the label of each metric.
func New(url string) *Lake {
	return &Lake{url: url, ended: map[string]Ending{}, success: map[string]time.Time{}}
}

// Set replaces the health. With nil the lake could not be read: then the numbers of the last health stay, and
// dealflow_lake_readable says so.
func (l *Lake) Set(h *Health) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(h)
}

func (l *Lake) set(h *Health) {
	l.readable = h != nil
	if h == nil {
		return
	}
	l.health = h
	for command, at := range h.Succeeded {
		l.succeeded(command, at)
	}
}

func (l *Lake) succeeded(command string, at time.Time) {
	if at.After(l.success[command]) {
		l.success[command] = at
	}
}

// Ended records how a command ended.
func (l *Lake) Ended(e Ending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended[e.Command] = e
	if e.Succeeded() {
		l.succeeded(e.Command, e.EndedAt)
	}
}

// Follow makes a collection read the health if the last reading is older than every. If it fails, the lake is one that
// cannot be read. It is called before the collector is registered.
func (l *Lake) Follow(read func(context.Context) (*Health, error), every time.Duration) {
	l.read, l.every = read, every
}

// follow reads the health if it is time to. Collections at the same time wait for one reading.
func (l *Lake) follow() {
	if l.read == nil || !l.readAt.IsZero() && time.Since(l.readAt) < l.every {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	h, err := l.read(ctx)
	if err != nil {
		h = nil
	}
	l.set(h)
	l.readAt = time.Now()
}

// Describe implements prometheus.Collector.
func (l *Lake) Describe(ch chan<- *prometheus.Desc) {
	for i := range table {
		ch <- table[i].desc
	}
}

// Collect implements prometheus.Collector.
func (l *Lake) Collect(ch chan<- prometheus.Metric) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow()
	send := func(m *metric, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, value, append([]string{l.url}, labels...)...)
	}
	state := "unknown"
	if l.readable {
		state = l.health.State
	}
	send(lakeReadable, boolean(l.readable))
	for _, known := range States {
		send(lakeState, boolean(known == state), known)
	}
	if l.health != nil {
		for i := range table {
			m := &table[i]
			if m.ofLake != nil {
				send(m, m.ofLake(l.health))
			}
			for k := range l.health.Feeds {
				if m.ofFeed != nil {
					send(m, m.ofFeed(&l.health.Feeds[k]), l.health.Feeds[k].Name)
				}
			}
		}
		for _, f := range l.health.Findings {
			send(lakeFindings, float64(f.Count), f.Kind, f.Severity)
		}
	}
	for _, command := range slices.Sorted(maps.Keys(l.ended)) {
		e := l.ended[command]
		for i := range table {
			if m := &table[i]; m.ofCommand != nil {
				send(m, m.ofCommand(&e), command)
			}
		}
	}
	for _, command := range slices.Sorted(maps.Keys(l.success)) {
		send(commandSuccess, seconds(l.success[command]), command)
	}
}

func boolean(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// seconds returns an instant in seconds since 1970; 0 for none.
func seconds(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.UnixMicro()) / 1e6
}
