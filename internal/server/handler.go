package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/transfer"
)

// handler serves every request. Its steps are one function rather than a chain
// of middleware, because each layer would cost a closure, a writer and a copy of
// the request.
type handler struct {
	mux       mux
	log       *slog.Logger
	refusals  *refusalSampler
	metrics   *metrics
	traffic   *traffic
	proxies   []netip.Prefix
	https     bool
	tracer    trace.Tracer // nil if nothing is traced
	bodies    *transfer.Queue
	proxyOnce sync.Once
}

// request holds all that the server keeps for one request, in one allocation.
type request struct {
	httpapi.Context
	writer
	body   requestBody
	mount  *Mount
	start  time.Time
	end    time.Time
	method string
	broken bool       // the answer was cut off
	span   trace.Span // nil if the request is not traced
}

func newHandler(o Options, ready *readiness) (*handler, error) {
	if o.Log == nil || o.Registry == nil {
		return nil, errors.New("server: a logger and a metrics registry are required")
	}
	underWay := &traffic{}
	m, err := newMetrics(o.Registry, ready, underWay)
	if err != nil {
		return nil, err
	}
	h := &handler{log: o.Log, refusals: newRefusalSampler(time.Now), metrics: m, traffic: underWay, proxies: o.TrustedProxies, https: o.HTTPS, tracer: o.Tracer,
		bodies: transfer.NewQueue(cmp.Or(o.LargeBodies, DefaultLargeBodies), bodyGrace)}
	own := []Mount{
		{Prefix: "/healthz", Handler: http.HandlerFunc(healthz), API: true, Quiet: true},
		{Prefix: "/readyz", Handler: ready, API: true, Quiet: true},
	}
	if !o.HideMetrics {
		own = append(own, Mount{Prefix: "/metrics", Handler: metricsGuard{MetricsHandler(o.Registry), o.MetricsAllow}, API: true, Quiet: true})
	}
	h.mux, err = newMux(append(own, o.Mounts...))
	return h, err
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	mount := h.mux.find(r.URL.Path)
	q := &request{writer: writer{ResponseWriter: w, deadlineSet: start, traffic: h.traffic}, mount: mount, start: start, method: methodLabel(r.Method)}
	h.traffic.begin()
	defer func() { h.traffic.end(q.isLong) }()
	parent := r.Context()
	if mount.API {
		// A half-closed connection cancels the request's context as a broken one
		// does. The answers of an API are short, so it is worth finishing them.
		parent = context.WithoutCancel(parent)
	}
	if h.tracer != nil && !mount.Quiet {
		parent = h.beginSpan(parent, q, r)
	}
	q.Begin(parent, w, r)
	h.findClient(q, r)
	setSafetyHeaders(q.Info.ResponseHeader, mount.API, h.https)
	r = r.WithContext(&q.Context)
	if r.Body != nil && r.Body != http.NoBody {
		// Only this copy of the request changes: net/http looks at its own body to
		// see whether a client still waits for "100 Continue".
		q.body = requestBody{ReadCloser: r.Body, queue: h.bodies, request: &q.Context, writer: w}
		r.Body = http.MaxBytesReader(w, &q.body, mount.MaxBody)
	}
	defer q.body.release()
	defer func() { h.finish(q, r, recover()) }()
	mount.Handler.ServeHTTP(&q.writer, r)
}

// loopback is the address of clients that connect through a Unix socket.
var loopback = netip.MustParsePrefix("127.0.0.1/32")

// findClient replaces the peer's address by the client's if the peer is a
// trusted proxy.
func (h *handler) findClient(q *request, r *http.Request) {
	proxies := h.proxies
	if !q.Info.Address.IsValid() { // a Unix socket, which only programs with access to its file can use
		q.Info.Address = loopback.Addr()
		proxies = append(slices.Clip(proxies), loopback)
	}
	forwarded := r.Header["X-Forwarded-For"]
	if len(forwarded) == 0 {
		return
	}
	peer := q.Info.Address
	if contains(proxies, peer) {
		q.Info.Address = clientAddress(peer, forwarded, proxies)
		return
	}
	if peer.IsPrivate() || peer.IsLoopback() {
		h.proxyOnce.Do(func() {
			h.log.Warn("a proxy that is not trusted forwards requests; all clients behind it share one address and one sign-in throttle",
				"proxy", peer.String(), "hint", "name it with --trusted-proxy")
		})
	}
}

// finish answers for a panic, writes the log line and the metrics, and leaves
// the connection in a state that the client can understand.
func (h *handler) finish(q *request, r *http.Request, panicked any) {
	if panicked != nil {
		q.broken = q.status != 0 || isAbort(panicked)
		h.recovered(q, r, panicked)
	}
	if q.status == 0 {
		q.status = http.StatusOK // net/http sends it for a handler that wrote nothing
	}
	q.end = time.Now()
	q.extendDeadline(q.end) // net/http still has a buffer to send
	h.metrics.observe(routeLabel(q.Info.Route), q.method, q.status, q.end.Sub(q.start))
	h.logRequest(q)
	if q.span != nil {
		q.endSpan()
	}
	if q.mount.Served != nil && q.Info.TokenID != 0 {
		q.mount.Served(Served{Info: &q.Info, Method: q.method, Status: q.status, Duration: q.end.Sub(q.start)})
	}
	switch {
	case q.broken && !r.ProtoAtLeast(1, 1):
		resetConnection(q.ResponseWriter)
	case q.broken:
		// Only a broken connection tells the client that the answer is incomplete.
		panic(http.ErrAbortHandler)
	case q.body.bodyPending(r):
		q.body.release()
		drainUnread(q.ResponseWriter, &q.body)
	}
}

func (h *handler) recovered(q *request, r *http.Request, panicked any) {
	if isAbort(panicked) {
		if q.Info.Err == nil {
			q.Info.Err = errors.New("the answer was cut off")
		}
		return
	}
	q.Info.Err = fmt.Errorf("panic: %v", panicked)
	attrs := appendCaller([]slog.Attr{slog.String("request_id", q.Info.RequestID)}, &q.Info)
	attrs = append(attrs, slog.Any("panic", panicked), slog.String("stack", string(debug.Stack())))
	h.log.LogAttrs(r.Context(), slog.LevelError, "a handler panicked", attrs...)
	if !q.broken {
		httpapi.WriteError(&q.writer, r, q.Info.Err)
	}
}

// isAbort reports whether a handler cut its answer off on purpose.
func isAbort(panicked any) bool {
	err, ok := panicked.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// Header values that all answers share; nobody appends to them.
var (
	nosniff         = []string{"nosniff"}
	noStore         = []string{"no-store"}
	strictTransport = []string{"max-age=31536000"}
)

// setSafetyHeaders keeps browsers from guessing content types, caches from
// keeping people's data, and browsers from using http where https is served.
// Pages set more of their own.
func setSafetyHeaders(h http.Header, api, https bool) {
	h["X-Content-Type-Options"] = nosniff
	if https {
		h["Strict-Transport-Security"] = strictTransport
	}
	if api {
		h["Cache-Control"] = noStore
	}
}
