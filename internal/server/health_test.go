package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

func newProbedHandler(t *testing.T, log io.Writer, checks ...Check) http.Handler {
	t.Helper()
	s, err := New(Options{Checks: checks, Log: newTestLogger(log), Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return s.handler
}

func TestHealthz(t *testing.T) {
	t.Parallel()
	h := newProbedHandler(t, io.Discard, Check{"database", func(context.Context) error { return errors.New("down") }})
	if rec := get(h, "/healthz"); rec.Code != 200 || rec.Body.String() != "{\"status\":\"ok\"}\n" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/healthz", nil))
	if rec.Code != 405 || rec.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", rec.Code)
	}
}

func TestReadyz(t *testing.T) {
	t.Parallel()
	var log logBuffer
	good := Check{"disk", func(context.Context) error { return nil }}
	bad := Check{"database", func(context.Context) error { return errors.New("dial 10.0.0.7: refused") }}
	panicking := Check{"queue", func(context.Context) error { panic("no queue") }}
	if rec := get(newProbedHandler(t, &log, good), "/readyz"); rec.Code != 200 || rec.Body.String() != `{"status":"ready","checks":{"disk":"ok"}}`+"\n" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	rec := get(newProbedHandler(t, &log, good, bad, panicking), "/readyz")
	want := `{"status":"unavailable","checks":{"database":"failing","disk":"ok","queue":"failing"}}` + "\n"
	if diff := cmp.Diff(want, rec.Body.String()); rec.Code != 503 || diff != "" {
		t.Errorf("%d -want +got:\n%s", rec.Code, diff)
	}
	if !strings.Contains(log.String(), "10.0.0.7") {
		t.Error("the log does not name the cause")
	}
	if rec := get(newProbedHandler(t, &log), "/readyz"); rec.Code != 200 {
		t.Errorf("without checks: status %d", rec.Code)
	}
}

func TestReadyzWaitsTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		h := newProbedHandler(t, io.Discard, Check{"database", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }})
		rec := get(h, "/readyz")
		if took := time.Since(start); rec.Code != 503 || took != 2*time.Second {
			t.Errorf("%d after %s", rec.Code, took)
		}
	})
}

func TestDatabaseMetrics(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	read := func() DatabaseStats {
		return DatabaseStats{Max: 8, Open: 5, InUse: 3, Idle: 2, WaitCount: 7, WaitDuration: 1500 * time.Millisecond}
	}
	if err := RegisterDatabase(reg, read); err != nil {
		t.Fatal(err)
	}
	if err := RegisterDatabase(reg, read); err == nil {
		t.Error("registered twice")
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		m := f.GetMetric()[0]
		got[strings.TrimPrefix(f.GetName(), "coursebridge_database_")] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	want := map[string]float64{
		"connections_max": 8, "connections_open": 5, "connections_in_use": 3, "connections_idle": 2,
		"connection_waits_total": 7, "connection_wait_seconds_total": 1.5,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
