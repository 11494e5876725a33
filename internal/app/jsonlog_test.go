package app

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"math"
	"testing"
	"time"
)

// Whatever is logged, the line is that of slog.JSONHandler.
func TestLogLinesAreThoseOfSlog(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 19, 7, 8, 9, 120_000_000, time.FixedZone("", 5*3600+45*60))
	plain := []slog.Attr{
		slog.String("method", "GET"), slog.Int("status", 200), slog.Float64("duration_ms", 0), slog.Float64("duration_ms", 0.001),
		slog.Float64("duration_ms", 12345.678), slog.Int64("bytes", -1), slog.String("remote", "::1"), slog.String("empty", ""),
		slog.String("signs", "<&> /'{}"),
	}
	odd := [][]slog.Attr{
		plain, nil,
		{slog.String("remote", "fe80::1%\"\\")}, {slog.String("remote", "é\n")}, {slog.Bool("broken", true)}, {slog.Any("x", plain)},
		{slog.Float64("f", 1e-7)}, {slog.Float64("f", 1e21)}, {slog.Float64("f", -1)}, {slog.Float64("f", math.NaN())}, {slog.Float64("f", math.Copysign(0, -1))},
		{slog.Any("error", errors.New("it broke"))}, {slog.Duration("took", time.Second)}, {slog.Time("at", at)}, {{}},
		{slog.Group("g", slog.Int("n", 1))}, {slog.String("", "no key")}, {slog.String("a \"key\"", "")}, {slog.Uint64("u", 1)},
	}
	for _, attrs := range odd {
		for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelInfo + 1, slog.LevelError} {
			for _, message := range []string{"request", "", "a \"message\""} {
				for _, when := range []time.Time{at, {}} {
					record := slog.NewRecord(when, level, message, 0)
					record.AddAttrs(append(plain[:1:1], attrs...)...)
					got, want := line(t, newJSONHandler, record), line(t, slogHandler, record)
					if got != want {
						t.Errorf("got  %swant %s", got, want)
					}
				}
			}
		}
	}
}

func slogHandler(to io.Writer, level slog.Leveler) *slog.JSONHandler {
	return slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level})
}

// line returns what a handler writes for a record, with and without attributes of its own.
func line[H slog.Handler](t *testing.T, newHandler func(io.Writer, slog.Leveler) H, record slog.Record) string {
	t.Helper()
	var out bytes.Buffer
	h := newHandler(&out, slog.LevelDebug)
	for _, h := range []slog.Handler{h, h.WithAttrs([]slog.Attr{slog.Int("n", 1)}), h.WithGroup("g")} {
		if err := h.Handle(t.Context(), record); err != nil {
			t.Error(err)
		}
	}
	return out.String()
}

// BenchmarkLogLine measures a line of the access log, by this handler and by slog's.
func BenchmarkLogLine(b *testing.B) {
	record := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
	record.AddAttrs(slog.String("method", "GET"), slog.String("route", "/api/v1/employees/{externalId}"), slog.Int("status", 200),
		slog.Float64("duration_ms", 0.234), slog.Int64("bytes", 512), slog.String("request_id", "4c0e7f5e9a0b4d2e"), slog.String("remote", "192.0.2.1"),
		slog.Int64("company", 12), slog.Int64("token", 7))
	for name, h := range map[string]slog.Handler{"ours": newJSONHandler(io.Discard, slog.LevelInfo), "slog": slogHandler(io.Discard, slog.LevelInfo)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = h.Handle(b.Context(), record)
			}
		})
	}
}
