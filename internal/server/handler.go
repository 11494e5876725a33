package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// handler is the way of every request. The steps are one function rather than a
// chain of wrappers, because each wrapper would cost the hot path a closure, a
// writer and a copy of the request.
type handler struct {
	mux     mux
	log     *slog.Logger
	metrics *metrics
	proxies []netip.Prefix
}

// request is all that a request needs from the server, in one allocation.
type request struct {
	httpapi.Context
	writer
	body sent
}

func newHandler(o Options) (*handler, error) {
	if o.Log == nil || o.Registry == nil {
		return nil, errors.New("server: want a logger and a metrics registry")
	}
	m, err := newMetrics(o.Registry)
	if err != nil {
		return nil, err
	}
	own := []Mount{
		{Prefix: "/healthz", Handler: http.HandlerFunc(healthz), API: true, Quiet: true},
		{Prefix: "/readyz", Handler: readyz{checks: o.Checks, log: o.Log}, API: true, Quiet: true},
		{Prefix: "/metrics", Handler: m.handler(o.Registry), API: true, Quiet: true},
	}
	x, err := newMux(append(own, o.Mounts...))
	if err != nil {
		return nil, err
	}
	return &handler{mux: x, log: o.Log, metrics: m, proxies: o.TrustedProxies}, nil
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	h.metrics.inFlight.Inc()
	defer h.metrics.inFlight.Dec()
	mount := h.mux.find(r.URL.Path)
	q := &request{writer: writer{ResponseWriter: w, armed: start}}
	parent := r.Context()
	if mount.API {
		// A half-closed connection cancels the request's context as a broken one
		// does. The answers of an API are short, so it is worth finishing them.
		parent = context.WithoutCancel(parent)
	}
	q.Begin(parent, w, r)
	if len(h.proxies) > 0 {
		q.Info.Address = client(q.Info.Address, r.Header["X-Forwarded-For"], h.proxies)
	}
	harden(q.Info.ResponseHeader, mount.API)
	r = r.WithContext(&q.Context)
	if r.Body != nil && r.Body != http.NoBody {
		// In this copy of the request only: net/http looks at the body of its own
		// to see whether a client still waits for "100 Continue".
		q.body.ReadCloser = r.Body
		r.Body = http.MaxBytesReader(w, &q.body, mount.MaxBody)
	}
	defer func() { h.done(q, r, mount, start, recover()) }()
	mount.Handler.ServeHTTP(&q.writer, r)
}

// done answers for a panic, and tells the log and the metrics how it went.
func (h *handler) done(q *request, r *http.Request, mount *Mount, start time.Time, panicked any) {
	broken := false
	if panicked != nil {
		broken = q.status != 0 || aborted(panicked)
		h.caught(q, r, panicked, broken)
	}
	if q.status == 0 {
		q.status = http.StatusOK // what net/http sends for a handler that wrote nothing
	}
	now := time.Now()
	q.arm(now) // net/http still has a buffer to send
	took := now.Sub(start)
	method := methodLabel(r.Method)
	h.metrics.observe(routeLabel(q.Info.Route), method, q.status, took)
	h.write(q, mount, method, now, took, broken)
	switch {
	case broken:
		if c := connFrom(&q.Context); c != nil && !r.ProtoAtLeast(1, 1) {
			c.reset() // to HTTP/1.0, a connection that closes is the end of an answer
		}
		// Only a broken connection says that what is out of the answer is not whole.
		panic(http.ErrAbortHandler)
	case q.body.owed(r):
		if c := connFrom(&q.Context); c != nil {
			c.owed.Store(true)
		}
	}
}

func (h *handler) caught(q *request, r *http.Request, panicked any, broken bool) {
	if aborted(panicked) {
		if q.Info.Err == nil {
			q.Info.Err = errors.New("the answer was cut off")
		}
		return
	}
	q.Info.Err = fmt.Errorf("panic: %v", panicked)
	h.log.LogAttrs(r.Context(), slog.LevelError, "a handler panicked",
		slog.String("request_id", q.Info.RequestID), slog.Any("panic", panicked), slog.String("stack", string(debug.Stack())))
	if !broken {
		httpapi.WriteError(&q.writer, r, q.Info.Err)
	}
}

// aborted says whether a handler broke its answer off on purpose.
func aborted(panicked any) bool {
	err, ok := panicked.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// write makes the one line of the access log. It holds no token, path, query or
// body: all of them may carry secrets or personal data.
func (h *handler) write(q *request, mount *Mount, method string, now time.Time, took time.Duration, broken bool) {
	level := slog.LevelInfo
	switch {
	case q.Info.Err != nil && !errors.Is(q.Info.Err, context.Canceled):
		level = slog.LevelError
	case mount.Quiet:
		level = slog.LevelDebug
	}
	if !h.log.Enabled(&q.Context, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 12)
	attrs = append(attrs,
		slog.String("method", method),
		slog.String("route", routeLabel(q.Info.Route)),
		slog.Int("status", q.status),
		slog.Duration("duration", took),
		slog.Int64("bytes", q.bytes),
		slog.String("request_id", q.Info.RequestID),
		slog.String("remote", q.Info.Remote()),
	)
	if q.Info.CompanyID != 0 {
		attrs = append(attrs, slog.Int64("company", q.Info.CompanyID))
	}
	if q.Info.TokenID != 0 {
		attrs = append(attrs, slog.Int64("token", q.Info.TokenID))
	}
	if q.Info.Code != "" {
		attrs = append(attrs, slog.String("code", string(q.Info.Code)))
	}
	if q.Info.Err != nil {
		attrs = append(attrs, slog.String("error", q.Info.Err.Error()))
	}
	if broken {
		attrs = append(attrs, slog.Bool("broken", true))
	}
	// Not through the logger, which would look up the line of code at every request.
	record := slog.NewRecord(now, level, "request", 0)
	record.AddAttrs(attrs...)
	_ = h.log.Handler().Handle(&q.Context, record)
}

// Values that every answer shares; nobody appends to them.
var (
	nosniff = []string{"nosniff"}
	noStore = []string{"no-store"}
)

// harden keeps browsers from making more of an answer than it is, and caches
// from keeping people's data. Pages set more of their own.
func harden(h http.Header, api bool) {
	h["X-Content-Type-Options"] = nosniff
	if api {
		h["Cache-Control"] = noStore
	}
}
