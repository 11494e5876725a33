package load

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"
)

// BenchmarkTracing measures the processor time of a request on PostgreSQL in a server
// without a collector of traces, and in one that exports every trace. Rounds alternate.
func BenchmarkTracing(b *testing.B) {
	f := newCompany(b, engines["postgres"](b))
	conn := connect(b, f.database)
	for _, sql := range employeesSQL {
		if _, err := conn.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	collector := listenHTTP(b, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	servers := map[bool]*program{false: serve(b, f.database)}
	b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
	servers[true] = serve(b, f.database)
	next := func(int) []byte { return get(fmt.Sprintf("%se-%d", employeePath, 2*(1+rand.IntN(9999))), f.token) }
	fleets := map[bool]fleet{}
	for traced, server := range servers {
		fleets[traced] = newFleet(b, server.address, 4)
		fleets[traced].drive(b, time.Second, next) // warms up
	}
	for b.Loop() {
		perRequest := map[bool][]float64{}
		for range 7 {
			for traced, server := range servers {
				before, began := server.work(), time.Now()
				rate := fleets[traced].drive(b, 2*time.Second, next)
				requests := rate * time.Since(began).Seconds()
				perRequest[traced] = append(perRequest[traced], float64((server.work()-before).Microseconds())/requests)
			}
		}
		for _, list := range perRequest {
			slices.Sort(list)
		}
		off, on := perRequest[false][3], perRequest[true][3]
		b.ReportMetric(off, "µs/request-off")
		b.ReportMetric(on, "µs/request-traced")
		below(b, "processor time of a traced request, of one without traces", on/off, 2, "times")
	}
}
