package server

import (
	"errors"
	"io"
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
