package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// logRequest writes the one line of the access log. It holds no token, path,
// query or body: all of them may carry secrets or personal data.
func (h *handler) logRequest(q *request) {
	level := slog.LevelInfo
	switch {
	case q.Info.Err != nil && !errors.Is(q.Info.Err, context.Canceled):
		level = slog.LevelError
	case q.mount.Quiet:
		level = slog.LevelDebug
	}
	if !h.log.Enabled(&q.Context, level) {
		return
	}
	suppressed, ok := h.refusals.admit(q.status)
	if !ok {
		return
	}
	attrs := make([]slog.Attr, 0, 13)
	attrs = append(attrs,
		slog.String("method", q.method),
		slog.String("route", routeLabel(q.Info.Route)),
		slog.Int("status", q.status),
		slog.Float64("duration_ms", milliseconds(q.end.Sub(q.start))),
		slog.Int64("bytes", q.bytes),
		slog.String("request_id", q.Info.RequestID),
		slog.String("remote", q.Info.Remote()),
	)
	attrs = appendCaller(attrs, &q.Info)
	if q.Info.Code != "" {
		attrs = append(attrs, slog.String("code", string(q.Info.Code)))
	}
	if q.Info.Err != nil {
		attrs = append(attrs, slog.String("error", q.Info.Err.Error()))
	}
	if q.broken {
		attrs = append(attrs, slog.Bool("broken", true))
	}
	if suppressed > 0 {
		attrs = append(attrs, slog.Int64("suppressed", suppressed))
	}
	// Not through the logger, which would look up the line of code at every request.
	record := slog.NewRecord(q.end, level, "request", 0)
	record.AddAttrs(attrs...)
	_ = h.log.Handler().Handle(&q.Context, record)
}

// appendCaller appends the company and the token of a request, if it has them.
func appendCaller(attrs []slog.Attr, info *httpapi.Info) []slog.Attr {
	if info.CompanyID != 0 {
		attrs = append(attrs, slog.Int64("company", info.CompanyID))
	}
	if info.TokenID != 0 {
		attrs = append(attrs, slog.Int64("token", info.TokenID))
	}
	return attrs
}

// milliseconds returns a duration as the logs show it, with microseconds as decimals.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// maxRefusalLines is how many refused requests are logged per second. A client
// that ignores its 429 would else fill the disk.
const maxRefusalLines = 20

// refusalSampler decides which refusals (401, 403, 429) are logged.
type refusalSampler struct {
	now func() time.Time

	mu         sync.Mutex
	second     int64
	logged     int
	suppressed int64
}

func newRefusalSampler(now func() time.Time) *refusalSampler { return &refusalSampler{now: now} }

// admit reports whether an answer with this status is logged, and how many
// refusals were left out since the last one that was.
func (s *refusalSampler) admit(status int) (suppressed int64, ok bool) {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
	default:
		return 0, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if second := s.now().Unix(); second != s.second {
		s.second, s.logged = second, 0
	}
	if s.logged >= maxRefusalLines {
		s.suppressed++
		return 0, false
	}
	s.logged++
	suppressed, s.suppressed = s.suppressed, 0
	return suppressed, true
}
