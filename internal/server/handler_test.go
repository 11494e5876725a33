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

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// lines collects what is logged.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// entries gives the log line by line.
func (l *lines) entries(t *testing.T) (out []map[string]any) {
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

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func logger(l io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// chain gives everything the server puts around handlers.
func chain(t *testing.T, log io.Writer, mounts ...Mount) http.Handler {
	t.Helper()
	s, err := New(Options{Mounts: mounts, Log: logger(log), Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return s.Handler()
}

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	return rec
}

func says(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, text+" "+r.URL.Path) })
}

func TestDispatch(t *testing.T) {
	t.Parallel()
	h := chain(t, io.Discard,
		Mount{Prefix: "/api/v1/", Handler: says("api"), API: true},
		Mount{Prefix: "/cabinet", Handler: says("cabinet")},
		Mount{Prefix: "/cabinet/assets", Handler: says("assets")},
		Mount{Prefix: "/", Handler: says("root")},
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

func TestMountsMustBeSound(t *testing.T) {
	t.Parallel()
	for _, mounts := range [][]Mount{
		{{Prefix: "x", Handler: says("")}}, {{Prefix: "/x"}}, {{Prefix: "/metrics", Handler: says("")}},
		{{Prefix: "/x", Handler: says("")}, {Prefix: "/x/", Handler: says("")}},
	} {
		if _, err := New(Options{Mounts: mounts, Log: logger(io.Discard), Registry: prometheus.NewRegistry()}); err == nil {
			t.Errorf("%+v was taken", mounts)
		}
	}
	if _, err := New(Options{}); err == nil {
		t.Error("no logger was taken")
	}
	reg := prometheus.NewRegistry()
	for _, want := range []bool{true, false} {
		if _, err := New(Options{Log: logger(io.Discard), Registry: reg}); (err == nil) != want {
			t.Errorf("one registry, two servers: %v", err)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	h := chain(t, io.Discard, Mount{Prefix: "/api", Handler: says(""), API: true}, Mount{Prefix: "/cabinet", Handler: says("")})
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
		t.Error("two requests have one id")
	}
}

func TestAccessLog(t *testing.T) {
	t.Parallel()
	var log lines
	h := chain(t, &log, Mount{Prefix: "/api", API: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := httpapi.InfoFrom(r.Context())
		info.Route = "/api/employees/{externalId}"
		info.SetCaller(12, 7)
		_, _ = io.Copy(io.Discard, r.Body)
		httpapi.WriteError(w, r, domain.ErrEmployeeNotFound)
	})})
	r := httptest.NewRequest(http.MethodPatch, "/api/employees/anna-secret?email=anna%40secret", strings.NewReader(`{"name":"secret"}`))
	r.Header.Set("Authorization", "Bearer secret")
	r.Header.Set("X-Request-Id", "hr-7")
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	got := log.entries(t)
	if len(got) != 1 || strings.Contains(log.String(), "secret") {
		t.Fatal(log.String())
	}
	delete(got[0], "time")
	if d, ok := got[0]["duration"].(float64); !ok || d <= 0 {
		t.Errorf("duration %v", got[0]["duration"])
	}
	delete(got[0], "duration")
	want := map[string]any{
		"level": "INFO", "msg": "request", "method": "PATCH", "route": "/api/employees/{externalId}", "status": 404.0,
		"bytes": float64(rec.Body.Len()), "company": 12.0, "token": 7.0, "request_id": "hr-7", "remote": "192.0.2.1", "code": "employee_not_found",
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLogLevels(t *testing.T) {
	t.Parallel()
	var log lines
	h := chain(t, &log, Mount{Prefix: "/broken", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpapi.WriteError(w, r, errors.New("disk 7 is gone"))
	})})
	get(h, "/healthz")
	rec := get(h, "/broken")
	r := httptest.NewRequest("MAKE-IT-UP", "/lost", nil)
	h.ServeHTTP(httptest.NewRecorder(), r)
	got := log.entries(t)
	if len(got) != 3 || got[0]["level"] != "DEBUG" || got[1]["level"] != "ERROR" || got[1]["error"] != "disk 7 is gone" ||
		got[2]["method"] != "other" || got[2]["route"] != "unmatched" {
		t.Error(log.String())
	}
	if rec.Code != 500 || strings.Contains(rec.Body.String(), "disk") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	var log lines
	h := chain(t, &log,
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
				if p := recover(); !aborted(p) {
					t.Errorf("%s: net/http is told %v", path, p)
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

func TestMetrics(t *testing.T) {
	t.Parallel()
	var h http.Handler
	var during string
	h = chain(t, io.Discard, Mount{Prefix: "/api", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		t.Error("a request under way is not counted")
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
	h := chain(t, io.Discard, Mount{Prefix: "/api", Handler: echo}, Mount{Prefix: "/wide", Handler: echo, MaxBody: 2 << 20})
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

func TestClientBehindProxies(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"203.0.113.9", []string{"198.51.100.1"}, "203.0.113.9"}, // anyone can write a header
		{"10.0.0.1", nil, "10.0.0.1"},
		{"10.0.0.1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1", []string{"6.6.6.6, 198.51.100.1"}, "198.51.100.1"}, // the client's own claim is not believed
		{"10.0.0.1", []string{"6.6.6.6", "198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"10.0.0.1", []string{"nonsense"}, "10.0.0.1"},
		{"10.0.0.1", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"fd00::1", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"10.0.0.1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
	} {
		if got := client(netip.MustParseAddr(c.peer), c.forwarded, trusted); got.String() != c.want {
			t.Errorf("%s for %q: %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
	var seen string
	s, err := New(Options{
		Log: logger(io.Discard), Registry: prometheus.NewRegistry(), TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		Mounts: []Mount{{Prefix: "/api", Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			seen = httpapi.InfoFrom(r.Context()).Remote()
		})}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/api", nil)
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	s.Handler().ServeHTTP(httptest.NewRecorder(), r)
	if seen != "198.51.100.1" {
		t.Errorf("the handler sees %s", seen)
	}
}
