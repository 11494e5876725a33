package server

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// buckets reach from a cached read to a long report.
var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60}

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge

	mu    sync.RWMutex
	known map[labels]series
}

type labels struct {
	route, method string
	status        int
}

// series are the metrics of one kind of answer, found once: looking them up by
// their label values costs more than counting.
type series struct {
	count   prometheus.Counter
	seconds prometheus.Observer
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coursebridge_http_requests_total", Help: "Requests answered.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "coursebridge_http_request_seconds", Help: "Time from a request's header to the end of its answer.", Buckets: buckets,
		}, []string{"route", "method"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "coursebridge_http_requests_in_flight", Help: "Requests being answered now.",
		}),
		known: map[labels]series{},
	}
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.inFlight} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register request metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) observe(route, method string, status int, took time.Duration) {
	l := labels{route, method, status}
	m.mu.RLock()
	s, found := m.known[l]
	m.mu.RUnlock()
	if !found {
		s = series{m.requests.WithLabelValues(route, method, strconv.Itoa(status)), m.seconds.WithLabelValues(route, method)}
		m.mu.Lock()
		m.known[l] = s
		m.mu.Unlock()
	}
	s.count.Inc()
	s.seconds.Observe(took.Seconds())
}

func (m *metrics) handler(g prometheus.Gatherer) http.Handler {
	expose := promhttp.HandlerFor(g, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !probe(w, r, "/metrics") {
			return
		}
		expose.ServeHTTP(w, r)
	})
}

// probe takes a path of the server's own: that path only, to be read only.
func probe(w http.ResponseWriter, r *http.Request, path string) bool {
	if r.URL.Path != path {
		httpapi.NotFound(w, r)
		return false
	}
	httpapi.InfoFrom(r.Context()).Route = path
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		httpapi.NotAllowed(w, r, http.MethodGet, http.MethodHead)
		return false
	}
	return true
}

// routeLabel keeps made-up paths from making up time series.
func routeLabel(route string) string {
	if route == "" {
		return "unmatched"
	}
	return route
}

// methodLabel does the same for made-up methods.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}
