package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// traceFlush bounds how long a server that stops waits for a collector.
const traceFlush = time.Second

// tracingOn reports whether the environment names a collector for traces.
func tracingOn() bool {
	return (os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "") &&
		!strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true")
}

// startTracing returns a tracer that exports spans over OTLP/HTTP, and a function that
// exports the remaining spans and closes it. Both are nil if no collector is
// configured. The SDK reads its settings from the variables that OpenTelemetry defines.
func (a *App) startTracing(ctx context.Context) (tracer trace.Tracer, stop func(), err error) {
	if !tracingOn() {
		return nil, nil, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("export traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "coursebridge"), attribute.String("service.version", a.config.Version)), resource.WithFromEnv())
	if err != nil {
		return nil, nil, fmt.Errorf("describe this service to the collector of traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { a.log.Warn("OpenTelemetry reported an error", "error", err) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return provider.Tracer("coursebridge"), func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), traceFlush)
		defer cancel()
		if err := provider.Shutdown(limited); err != nil {
			a.log.Warn("the last traces were not exported", "error", err)
		}
	}, nil
}
