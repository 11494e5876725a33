package server

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// buckets range from a cached read to a long report.
var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60}

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec

	mu    sync.RWMutex
	known map[labels]series
}

type labels struct {
	route, method string
	status        int
}

// series holds the metrics of one combination of labels. Looking them up by their
// label values costs more than counting.
type series struct {
	count   prometheus.Counter
	seconds prometheus.Observer
}

func newMetrics(reg prometheus.Registerer, ready *readiness, t *traffic) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coursebridge_http_requests_total", Help: "Requests answered.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "coursebridge_http_request_seconds", Help: "Time from the request header to the end of the answer.", Buckets: buckets,
		}, []string{"route", "method"}),
		known: map[labels]series{},
	}
	inFlight := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "coursebridge_http_requests_in_flight", Help: "Requests being answered now.",
	}, func() float64 { return float64(t.underWay()) })
	for _, c := range []prometheus.Collector{m.requests, m.seconds, inFlight, readyGauge(ready)} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register request metrics: %w", err)
		}
	}
	return m, nil
}

// readyGauge makes the readiness checks at each scrape.
func readyGauge(ready *readiness) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "coursebridge_ready", Help: "1 if /readyz answers 200, else 0.",
	}, func() float64 {
		if ready.run(context.Background()).Status == statusReady {
			return 1
		}
		return 0
	})
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

// MetricsHandler serves the metrics at /metrics.
func MetricsHandler(g prometheus.Gatherer) http.Handler {
	expose := promhttp.HandlerFor(g, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if allowRead(w, r, "/metrics") {
			expose.ServeHTTP(w, r)
		}
	})
}

// metricsGuard shows the metrics to loopback and to the allowed networks only.
type metricsGuard struct {
	next  http.Handler
	allow []netip.Prefix
}

var errMetricsRefused = domain.Errorf(domain.CodeAddressNotAllowed,
	"Metrics are shown only to this machine and to the networks of --metrics-allow. Add yours there, or ask from this machine.")

func (g metricsGuard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.allowed(r) {
		httpapi.InfoFrom(r.Context()).Route = "/metrics"
		httpapi.WriteError(w, r, errMetricsRefused)
		return
	}
	g.next.ServeHTTP(w, r)
}

// allowed reports whether the client may read the metrics. A request that a proxy
// forwards comes from somewhere else, even if the proxy is on this machine or in an
// allowed network; only a trusted proxy tells from where.
func (g metricsGuard) allowed(r *http.Request) bool {
	client := httpapi.InfoFrom(r.Context()).Address
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	forwarded := r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != ""
	if forwarded && err == nil && client == peer.Addr().Unmap().WithZone("") {
		return false
	}
	return contains(g.allow, client) || client.IsLoopback() && !forwarded
}

// allowRead accepts GET and HEAD of exactly this path and answers all else.
func allowRead(w http.ResponseWriter, r *http.Request, path string) bool {
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

// routeLabel keeps unknown paths from creating time series.
func routeLabel(route string) string {
	if route == "" {
		return "unmatched"
	}
	return route
}

// methodLabel keeps unknown methods from creating time series.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}
