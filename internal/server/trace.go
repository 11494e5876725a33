package server

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// beginSpan begins the span of a request, below the one that its traceparent header names.
func (h *handler) beginSpan(ctx context.Context, q *request, r *http.Request) context.Context {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	ctx, q.span = h.tracer.Start(ctx, q.method, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(q.start))
	return ctx
}

// endSpan ends the span of a request. It holds no address, no body and no token.
func (q *request) endSpan() {
	route := routeLabel(q.Info.Route)
	q.span.SetName(q.method + " " + route)
	q.span.SetAttributes(
		attribute.String("http.request.method", q.method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", q.status), attribute.String("coursebridge.request_id", q.Info.RequestID))
	if q.Info.CompanyID != 0 {
		q.span.SetAttributes(attribute.Int64("coursebridge.company", q.Info.CompanyID))
	}
	if q.status >= http.StatusInternalServerError || q.broken {
		q.span.SetStatus(codes.Error, "failed")
	}
	q.span.End(trace.WithTimestamp(q.end))
}
