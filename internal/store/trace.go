package store

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// tracedEngine adds a span to each use of the database that is part of a trace.
type tracedEngine struct{ db.Engine }

// Write implements db.Engine.
func (e tracedEngine) Write(ctx context.Context, fn func(db.Tx) error) error {
	return traced(ctx, "database write", func(ctx context.Context) error { return e.Engine.Write(ctx, fn) })
}

// Read implements db.Engine.
func (e tracedEngine) Read(ctx context.Context, fn func(db.Conn) error) error {
	return traced(ctx, "database read", func(ctx context.Context) error { return e.Engine.Read(ctx, fn) })
}

// Snapshot implements db.Engine.
func (e tracedEngine) Snapshot(ctx context.Context, fn func(db.Conn) error) error {
	return traced(ctx, "database snapshot", func(ctx context.Context) error { return e.Engine.Snapshot(ctx, fn) })
}

// traced calls fn in a span below the one that ctx carries. Without one, as in background
// work, there is no span.
func traced(ctx context.Context, name string, fn func(context.Context) error) error {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return fn(ctx)
	}
	ctx, span := parent.TracerProvider().Tracer("coursebridge").Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	err := fn(ctx)
	if err != nil {
		span.SetStatus(codes.Error, "failed")
	}
	return err
}
