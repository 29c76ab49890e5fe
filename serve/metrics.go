package serve

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// metrics counts requests for GET /metrics. Its labels have few values: routes instead of paths, and no accounts. It is
// safe for concurrent use.
type metrics struct {
	mu       sync.Mutex
	inFlight int
	answers  map[answerKey]int64
	routes   map[string]*routeMetrics
}

type answerKey struct {
	route, method string
	status        int
}

type routeMetrics struct {
	bytes   int64
	seconds float64
	within  []int64 // requests by the least of durations that is not less than their own
	count   int64
}

// durations are the upper bounds of the histogram, in seconds.
var durations = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5}

func newMetrics() *metrics {
	return &metrics{answers: map[answerKey]int64{}, routes: map[string]*routeMetrics{}}
}

func (m *metrics) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight++
}

func (m *metrics) end(route, method string, status, bytes int, took time.Duration) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		method = "other"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight--
	route = cmp.Or(route, "none")
	m.answers[answerKey{route, method, status}]++
	counts := m.routes[route]
	if counts == nil {
		counts = &routeMetrics{within: make([]int64, len(durations))}
		m.routes[route] = counts
	}
	counts.bytes += int64(bytes)
	counts.seconds += took.Seconds()
	counts.count++
	if i, _ := slices.BinarySearch(durations, took.Seconds()); i < len(durations) {
		counts.within[i]++
	}
}

// text returns the metrics in the text format of Prometheus.
func (m *metrics) text() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	head := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	head("dealflow_http_requests_in_flight", "gauge", "Requests that are being answered.")
	fmt.Fprintf(&b, "dealflow_http_requests_in_flight %d\n", m.inFlight)
	head("dealflow_http_requests_total", "counter", "Requests by route, method and status.")
	for _, key := range slices.SortedFunc(maps.Keys(m.answers), compareAnswers) {
		fmt.Fprintf(&b, "dealflow_http_requests_total{route=%q,method=%q,status=\"%d\"} %d\n", key.route, key.method, key.status, m.answers[key])
	}
	routes := slices.Sorted(maps.Keys(m.routes))
	head("dealflow_http_response_bytes_total", "counter", "Bytes of bodies sent, as they went over the wire.")
	for _, route := range routes {
		fmt.Fprintf(&b, "dealflow_http_response_bytes_total{route=%q} %d\n", route, m.routes[route].bytes)
	}
	head("dealflow_http_request_duration_seconds", "histogram", "Time from a request's head to the end of its answer.")
	for _, route := range routes {
		counts, sum := m.routes[route], int64(0)
		for i, bound := range durations {
			sum += counts.within[i]
			fmt.Fprintf(&b, "dealflow_http_request_duration_seconds_bucket{route=%q,le=\"%g\"} %d\n", route, bound, sum)
		}
		fmt.Fprintf(&b, "dealflow_http_request_duration_seconds_bucket{route=%q,le=\"+Inf\"} %d\n", route, counts.count)
		fmt.Fprintf(&b, "dealflow_http_request_duration_seconds_sum{route=%q} %g\n", route, counts.seconds)
		fmt.Fprintf(&b, "dealflow_http_request_duration_seconds_count{route=%q} %d\n", route, counts.count)
	}
	return []byte(b.String())
}

func compareAnswers(a, b answerKey) int {
	return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.method, b.method), cmp.Compare(a.status, b.status))
}

// showMetrics is GET /metrics.
func (s *Server) showMetrics(w http.ResponseWriter, r *http.Request) error {
	respond(w, r, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", s.metrics.text())
	return nil
}
