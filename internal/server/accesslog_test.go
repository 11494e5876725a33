package server

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

func TestAccessLog(t *testing.T) {
	t.Parallel()
	var log logBuffer
	h := newTestHandler(t, &log, Mount{Prefix: "/api", API: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	if d, ok := got[0]["duration_ms"].(float64); !ok || d <= 0 || d > 10_000 {
		t.Errorf("duration_ms is %v", got[0]["duration_ms"])
	}
	delete(got[0], "duration_ms")
	want := map[string]any{
		"level": "INFO", "msg": "request", "method": "PATCH", "route": "/api/employees/{externalId}", "status": 404.0,
		"bytes": float64(rec.Body.Len()), "company": 12.0, "token": 7.0, "request_id": "hr-7", "remote": "192.0.2.1", "code": "employee_not_found",
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The quick lines of the access log are those of slog.JSONHandler.
func TestAccessLinesAreThoseOfTheLogger(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 19, 7, 8, 9, 120_000_000, time.FixedZone("", 5*3600+45*60))
	attrs := []slog.Attr{
		slog.String("method", "GET"), slog.Int("status", 200), slog.Float64("duration_ms", 0), slog.Float64("duration_ms", 0.001),
		slog.Float64("duration_ms", 12345.678), slog.Int64("bytes", -1), slog.String("remote", "::1"), slog.String("empty", ""),
	}
	both := func(attrs ...slog.Attr) (quick, slow string) {
		var lines, log bytes.Buffer
		if !(accessLines{&lines}).write(at, attrs) && lines.Len() > 0 {
			t.Errorf("a line was refused after %q was written", lines.String())
		}
		record := slog.NewRecord(at, slog.LevelInfo, "request", 0)
		record.AddAttrs(attrs...)
		if err := newTestLogger(&log).Handler().Handle(t.Context(), record); err != nil {
			t.Error(err)
		}
		return lines.String(), log.String()
	}
	if quick, slow := both(attrs...); quick != slow {
		t.Errorf("quick: %sslow:  %s", quick, slow)
	}
	odd := []slog.Attr{
		slog.String("remote", "fe80::1%\"\\"), slog.String("remote", "é"), slog.Bool("broken", true), slog.Any("x", attrs),
		slog.Float64("duration_ms", 1e-7), slog.Float64("duration_ms", 1e21), slog.Float64("duration_ms", -1), slog.Float64("duration_ms", math.NaN()),
	}
	for _, odd := range odd {
		if quick, _ := both(attrs[0], odd); quick != "" {
			t.Errorf("%v was written as %s", odd, quick)
		}
	}
}

func TestLogLevels(t *testing.T) {
	t.Parallel()
	var log logBuffer
	h := newTestHandler(t, &log, Mount{Prefix: "/broken", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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

func TestRefusalsAreSampled(t *testing.T) {
	t.Parallel()
	var log logBuffer
	h := newTestHandler(t, &log, Mount{Prefix: "/api", API: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpapi.WriteError(w, r, domain.Errorf(domain.CodeRateLimited, "too fast"))
	})})
	now := time.Unix(1_800_000_000, 0)
	h.(*handler).refusals.now = func() time.Time { return now }
	for range 1000 {
		get(h, "/api")
	}
	if got := len(log.entries(t)); got != maxRefusalLines {
		t.Errorf("%d lines for 1000 refusals in one second, want %d", got, maxRefusalLines)
	}
	now = now.Add(time.Second)
	get(h, "/api")
	entries := log.entries(t)
	if last := entries[len(entries)-1]; last["suppressed"] != float64(1000-maxRefusalLines) {
		t.Errorf("the next line says suppressed = %v", last["suppressed"])
	}
	get(h, "/lost")
	if entries = log.entries(t); entries[len(entries)-1]["status"] != 404.0 {
		t.Error("an answer that is no refusal was left out")
	}
}

func TestUntrustedProxyWarnsOnce(t *testing.T) {
	t.Parallel()
	var log logBuffer
	h := newTestHandler(t, &log)
	for _, peer := range []string{"203.0.113.9:1", "10.0.0.1:1", "10.0.0.2:1"} {
		r := httptest.NewRequest(http.MethodGet, "/lost", nil)
		r.RemoteAddr = peer
		r.Header.Set("X-Forwarded-For", "198.51.100.1")
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	if n := strings.Count(log.String(), "--trusted-proxy"); n != 1 || !strings.Contains(log.String(), `"proxy":"10.0.0.1"`) {
		t.Errorf("%d warnings:\n%s", n, log.String())
	}
}
