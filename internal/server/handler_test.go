package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// logBuffer collects log lines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// entries returns the decoded log lines.
func (l *logBuffer) entries(t *testing.T) (out []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.buf.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		out = append(out, entry)
	}
	return out
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func newTestLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// newTestHandler returns the handler of a server with these mounts.
func newTestHandler(t *testing.T, log io.Writer, mounts ...Mount) http.Handler {
	t.Helper()
	s, err := New(Options{Mounts: mounts, Log: newTestLogger(log), Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return s.handler
}

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr = "127.0.0.1:4711"
	h.ServeHTTP(rec, r)
	return rec
}

func echoPath(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, text+" "+r.URL.Path) })
}

func TestDispatch(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, io.Discard,
		Mount{Prefix: "/api/v1/", Handler: echoPath("api"), API: true},
		Mount{Prefix: "/cabinet", Handler: echoPath("cabinet")},
		Mount{Prefix: "/cabinet/assets", Handler: echoPath("assets")},
		Mount{Prefix: "/", Handler: echoPath("root")},
	)
	for path, want := range map[string]string{
		"/api/v1":                      "api /api/v1",
		"/api/v1/":                     "api /api/v1/",
		"/api/v1/employees/a//b":       "api /api/v1/employees/a//b",
		"/api/v1/employees/a%2F..%2Fb": "api /api/v1/employees/a/../b",
		"/api/v1/employees/../courses": "api /api/v1/employees/../courses",
		"/cabinet":                     "cabinet /cabinet",
		"/cabinet/a":                   "cabinet /cabinet/a",
		"/cabinet/assets/app.css":      "assets /cabinet/assets/app.css",
		"/cabinet/assetsx":             "cabinet /cabinet/assetsx",
		"/":                            "root /",
		"/cabinets":                    "",
		"/api":                         "",
		"/api/v10/courses":             "",
		"/API/v1/courses":              "",
		"//api/v1/courses":             "",
		"/healthz/x":                   "",
		"/nothing":                     "",
	} {
		rec := get(h, path)
		if want == "" {
			if rec.Code != 404 || !strings.Contains(rec.Body.String(), `"code":"not_found"`) {
				t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
			}
		} else if rec.Code != 200 || rec.Body.String() != want {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
}

func TestNewRejectsBadMounts(t *testing.T) {
	t.Parallel()
	for _, mounts := range [][]Mount{
		{{Prefix: "x", Handler: echoPath("")}}, {{Prefix: "/x"}}, {{Prefix: "/metrics", Handler: echoPath("")}},
		{{Prefix: "/x", Handler: echoPath("")}, {Prefix: "/x/", Handler: echoPath("")}},
	} {
		if _, err := New(Options{Mounts: mounts, Log: newTestLogger(io.Discard), Registry: prometheus.NewRegistry()}); err == nil {
			t.Errorf("New accepted %+v", mounts)
		}
	}
	if _, err := New(Options{}); err == nil {
		t.Error("New accepted missing options")
	}
	reg := prometheus.NewRegistry()
	for _, want := range []bool{true, false} {
		if _, err := New(Options{Log: newTestLogger(io.Discard), Registry: reg}); (err == nil) != want {
			t.Errorf("two servers on one registry: error %v", err)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, io.Discard, Mount{Prefix: "/api", Handler: echoPath(""), API: true}, Mount{Prefix: "/cabinet", Handler: echoPath("")})
	api, page, lost := get(h, "/api").Header(), get(h, "/cabinet").Header(), get(h, "/lost").Header()
	for _, got := range []http.Header{api, page, lost} {
		if got.Get("X-Content-Type-Options") != "nosniff" || len(got.Get("X-Request-Id")) != 13 {
			t.Errorf("%v", got)
		}
	}
	if api.Get("Cache-Control") != "no-store" || lost.Get("Cache-Control") != "no-store" {
		t.Errorf("API: %v", api)
	}
	if page.Get("Cache-Control") != "" {
		t.Errorf("page: %v", page)
	}
	if api.Get("X-Request-Id") == lost.Get("X-Request-Id") {
		t.Error("two requests got the same id")
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	var log logBuffer
	h := newTestHandler(t, &log,
		Mount{Prefix: "/before", Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("ouch") })},
		Mount{Prefix: "/after", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half an ans")
			panic(errors.New("ouch"))
		})},
		Mount{Prefix: "/abort", Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })},
	)
	rec := get(h, "/before")
	if rec.Code != 500 || !strings.Contains(rec.Body.String(), rec.Header().Get("X-Request-Id")) || strings.Contains(rec.Body.String(), "ouch") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if entry := log.entries(t)[0]; !strings.Contains(entry["stack"].(string), "handler_test.go") || entry["panic"] != "ouch" {
		t.Errorf("%v", entry)
	}
	for _, path := range []string{"/after", "/abort"} {
		func() {
			defer func() {
				if p := recover(); !isAbort(p) {
					t.Errorf("%s: the handler panicked with %v, want http.ErrAbortHandler", path, p)
				}
			}()
			get(h, path)
		}()
	}
	last := log.entries(t)
	if entry := last[len(last)-1]; entry["broken"] != true || entry["error"] != "the answer was cut off" {
		t.Errorf("%v", entry)
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			httpapi.WriteError(w, r, err)
			return
		}
		_, _ = w.Write([]byte{byte('0' + n%10)})
	})
	h := newTestHandler(t, io.Discard, Mount{Prefix: "/api", Handler: echo}, Mount{Prefix: "/wide", Handler: echo, MaxBody: 2 << 20})
	for _, c := range []struct {
		path         string
		size, status int
	}{{"/api", 0, 200}, {"/api", 1 << 20, 200}, {"/api", 1<<20 + 1, 413}, {"/wide", 2 << 20, 200}, {"/wide", 2<<20 + 1, 413}} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(strings.Repeat("x", c.size))))
		if rec.Code != c.status {
			t.Errorf("%s with %d bytes: %d", c.path, c.size, rec.Code)
		}
	}
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"203.0.113.9", []string{"198.51.100.1"}, "203.0.113.9"}, // the peer is not a proxy of ours
		{"10.0.0.1", nil, "10.0.0.1"},
		{"10.0.0.1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1", []string{"6.6.6.6, 198.51.100.1"}, "198.51.100.1"}, // the client may have made up the first hop
		{"10.0.0.1", []string{"6.6.6.6", "198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"10.0.0.1", []string{"nonsense"}, "10.0.0.1"},
		{"10.0.0.1", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"fd00::1", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"10.0.0.1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
	} {
		if got := clientAddress(netip.MustParseAddr(c.peer), c.forwarded, trusted); got.String() != c.want {
			t.Errorf("%s for %q: %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
	var seen string
	s, err := New(Options{
		Log: newTestLogger(io.Discard), Registry: prometheus.NewRegistry(), TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		Mounts: []Mount{{Prefix: "/api", Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			seen = httpapi.InfoFrom(r.Context()).Remote()
		})}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/api", nil)
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	s.handler.ServeHTTP(httptest.NewRecorder(), r)
	if seen != "198.51.100.1" {
		t.Errorf("the handler saw %s, want 198.51.100.1", seen)
	}
}

func TestStrictTransportSecurity(t *testing.T) {
	t.Parallel()
	for _, https := range []bool{true, false} {
		s, err := New(Options{HTTPS: https, Log: newTestLogger(io.Discard), Registry: prometheus.NewRegistry()})
		if err != nil {
			t.Fatal(err)
		}
		if got := get(s.handler, "/healthz").Header().Get("Strict-Transport-Security"); (got != "") != https {
			t.Errorf("https %t: Strict-Transport-Security %q", https, got)
		}
	}
}
