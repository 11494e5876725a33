package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/httpapi"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	var h http.Handler
	var during string
	h = newTestHandler(t, io.Discard, Mount{Prefix: "/api", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpapi.InfoFrom(r.Context()).Route = "/api/{x}"
		during = get(h, "/metrics").Body.String()
		w.WriteHeader(http.StatusTeapot)
	})})
	get(h, "/api/1")
	get(h, "/api/2")
	get(h, "/lost/1")
	text := get(h, "/metrics").Body.String()
	for _, want := range []string{
		`coursebridge_http_requests_total{method="GET",route="/api/{x}",status="418"} 2`,
		`coursebridge_http_requests_total{method="GET",route="unmatched",status="404"} 1`,
		`coursebridge_http_requests_total{method="GET",route="/metrics",status="200"} 2`,
		`coursebridge_http_request_seconds_count{method="GET",route="/api/{x}"} 2`,
		`coursebridge_http_requests_in_flight 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if !strings.Contains(during, "coursebridge_http_requests_in_flight 2\n") {
		t.Error("a running request is not counted")
	}
}

func TestMetricsAreGuarded(t *testing.T) {
	t.Parallel()
	s, err := New(Options{
		MetricsAllow:   []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.3.0.1/32"), netip.MustParsePrefix("10.1.0.9/32")}, Log: newTestLogger(io.Discard), Registry: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		peer, forwarded string
		status          int
	}{
		{"127.0.0.1:1", "", 200},
		{"[::1]:1", "", 200},
		{"10.1.2.3:1", "", 200},
		{"10.2.2.3:1", "", 403},
		{"203.0.113.9:1", "", 403},
		{"127.0.0.1:1", "203.0.113.9", 403}, // a proxy on this machine forwards a stranger's request
		{"10.1.2.3:1", "203.0.113.9", 403},  // so does one in an allowed network
		{"10.3.0.1:1", "10.1.2.3", 200},     // a trusted proxy forwards for an allowed network
		{"10.3.0.1:1", "203.0.113.9", 403},
		{"10.3.0.1:1", "127.0.0.1", 403},             // "this machine" is the proxy's
		{"10.1.0.9:1", "203.0.113.9", 403},           // the proxy itself is in an allowed network
		{"10.3.0.1:1", "10.1.2.3, 203.0.113.9", 403}, // the first address was made up by the client
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.RemoteAddr = c.peer
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		rec := httptest.NewRecorder()
		s.handler.ServeHTTP(rec, r)
		if rec.Code != c.status {
			t.Errorf("%s for %q: status %d, want %d", c.peer, c.forwarded, rec.Code, c.status)
		}
	}
}
