package delivery

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// beginSpan begins the span of an attempt and returns the function that ends it.
func (s *Sender) beginSpan(ctx context.Context, r *Request) (context.Context, func(*Outcome)) {
	ctx, span := s.config.Tracer.Start(ctx, "webhook "+r.Event, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("coursebridge.delivery", r.DeliveryID), attribute.Int("coursebridge.attempt", r.Attempt)))
	return ctx, func(out *Outcome) {
		if out.StatusCode != 0 { // the receiver answered
			span.SetAttributes(attribute.Int("http.response.status_code", out.StatusCode))
		}
		if out.Kind != "" {
			span.SetStatus(codes.Error, string(out.Kind))
		}
		span.End()
	}
}

// traceHeaders returns the header that names the span of ctx, so that a receiver can
// continue the trace. There is none without a span.
func traceHeaders(ctx context.Context) (headers domain.Headers) {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	if parent := carrier["traceparent"]; parent != "" {
		headers = domain.Headers{{Name: "Traceparent", Value: parent}}
	}
	return headers
}
