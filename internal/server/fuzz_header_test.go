package server

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// Whatever the headers are that the server itself reads: the request is answered, its id
// can be echoed, and the log has one line for it.
func FuzzRequestHeaders(f *testing.F) {
	for _, seed := range []string{"", "abc-1", "x\r\ny: z", `"},{"level":"ERROR`, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00--", "\u2028", "\x1b[31m"} {
		f.Add(seed, seed, "/lost")
	}
	f.Add("a", "b", "/lost?\x7f=%0a")
	var log bytes.Buffer
	h, err := New(Options{Log: newTestLogger(&log), Registry: prometheus.NewRegistry(), Tracer: sdk.NewTracerProvider().Tracer("test")})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, trace, path string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.Path = path
		r.Header.Set("X-Request-Id", id)
		r.Header.Set("Traceparent", trace)
		r.Header.Set("Tracestate", id)
		r.Header.Set("User-Agent", id)
		r.Header.Set("X-Forwarded-For", trace)
		log.Reset()
		rec := httptest.NewRecorder()
		h.Handler().ServeHTTP(rec, r)
		_, _ = io.Copy(io.Discard, rec.Body)
		echoed := rec.Header().Get("X-Request-Id")
		if echoed == "" || len(echoed) > 128 || strings.ContainsFunc(echoed, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("the request id %q is echoed as %q", id, echoed)
		}
		for line := range strings.Lines(log.String()) {
			if !strings.HasPrefix(line, `{"time":`) || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return r < ' ' }) {
				t.Errorf("the log has the line %q", line)
			}
		}
	})
}
