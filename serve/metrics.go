package serve

import (
	"bytes"
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// metrics counts requests for GET /metrics. Its labels have few values: routes instead of paths, and no accounts. It is
// safe for concurrent use.
type metrics struct {
	inFlight prometheus.Gauge
	answers  *prometheus.CounterVec   // by route, method and status
	bytes    *prometheus.CounterVec   // by route
	seconds  *prometheus.HistogramVec // by route
}

// newMetrics adds the metrics of requests to a registry.
func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "dealflow_http_requests_in_flight", Help: "Requests that are being answered."}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "dealflow_http_requests_total", Help: "Requests by route, method and status."},
			[]string{"route", "method", "status"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "dealflow_http_response_bytes_total", Help: "Bytes of bodies sent, as they went over the wire."},
			[]string{"route"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "dealflow_http_request_duration_seconds", Help: "Time from a request's head to the end of its answer.",
			Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5},
		}, []string{"route"}),
	}
	for _, c := range []prometheus.Collector{m.inFlight, m.answers, m.bytes, m.seconds} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) begin() { m.inFlight.Inc() }

func (m *metrics) end(route, method string, status, bytes int, took time.Duration) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		method = "other"
	}
	route = cmp.Or(route, "none")
	m.inFlight.Dec()
	m.answers.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.bytes.WithLabelValues(route).Add(float64(bytes))
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// showMetrics is GET /metrics, in the text format of Prometheus.
func (s *Server) showMetrics(w http.ResponseWriter, r *http.Request) error {
	families, err := s.config.Registry.Gather()
	if err != nil {
		return err
	}
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	var body bytes.Buffer
	text := expfmt.NewEncoder(&body, format)
	for _, family := range families {
		if err := text.Encode(family); err != nil {
			return err
		}
	}
	respond(w, r, http.StatusOK, string(format), body.Bytes())
	return nil
}
