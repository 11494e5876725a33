package main

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// fakeCollector receives spans over OTLP/HTTP.
type fakeCollector struct {
	mu    sync.Mutex
	spans []*tracepb.Span
}

func (c *fakeCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var in collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &in); err != nil || r.URL.Path != "/v1/traces" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range in.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// named returns the spans whose names begin with the text.
func (c *fakeCollector) named(begin string) (out []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if strings.HasPrefix(s.Name, begin) {
			out = append(out, s)
		}
	}
	return out
}

// With a collector, a request continues the trace of its traceparent header, the use of
// the database is part of it, and a webhook has a trace that its receiver can continue.
func TestTraces(t *testing.T) {
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	spans := &fakeCollector{}
	endpoint := httptest.NewServer(spans)
	defer endpoint.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.URL)
	eachEngine(t, func(t *testing.T, database string) {
		spans.mu.Lock()
		spans.spans = nil
		spans.mu.Unlock()
		received := make(chan string, 5)
		receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { received <- r.Header.Get("Traceparent") }))
		defer receiver.Close()
		newCompany(t, database)
		mustRun(t, database, "webhook", "add", "--company", "1", "--url", receiver.URL, "--event", "employee.joined", "--webhook-allow-private", "--webhook-allow-http")
		token := mustRun(t, database, "token", "create", "--company", "1", "--name", "x", "--scope", "b2b_provision")["token"].(string)
		s := startServer(t, database)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/v1/employees/provision",
			strings.NewReader(`{"externalId": "one", "email": "one@acme.example", "name": "One"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Traceparent", "00-"+trace+"-"+parent+"-01")
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode/100 != 2 {
			t.Fatalf("the request: %v, %v", resp, err)
		}
		_ = resp.Body.Close()
		var continued string
		select {
		case continued = <-received:
		case <-time.After(20 * time.Second):
			t.Fatal("no webhook was sent")
		}
		s.stop() // exports the remaining spans

		requests := spans.named("POST /api/v1/employees/provision")
		if len(requests) != 1 || hex.EncodeToString(requests[0].TraceId) != trace || hex.EncodeToString(requests[0].ParentSpanId) != parent {
			t.Fatalf("the span of the request: %v", requests)
		}
		writes := 0
		for _, w := range spans.named("database write") {
			if string(w.ParentSpanId) == string(requests[0].SpanId) {
				writes++
			}
		}
		if writes == 0 {
			t.Errorf("no write to the database is part of the request: %v", spans.named("database"))
		}
		deliveries := spans.named("webhook employee.joined")
		if len(deliveries) != 1 || continued != "00-"+hex.EncodeToString(deliveries[0].TraceId)+"-"+hex.EncodeToString(deliveries[0].SpanId)+"-01" {
			t.Errorf("the receiver got Traceparent %q, the spans are %v", continued, deliveries)
		}
		if probes := spans.named("GET /readyz"); len(probes) != 0 {
			t.Errorf("spans of health checks: %v", probes)
		}
	})
}
