package load

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

// BenchmarkList measures GET /assignments?limit=500, the largest page.
func BenchmarkList(b *testing.B) {
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			run := listWorkload(b, engines[engine](b))
			for b.Loop() {
				got := measure(func() float64 { return run(b) })
				b.ReportMetric(got.perWork, "pages/processor-s")
				atLeast(b, "GET /assignments?limit=500, "+engine, got.rate, 0, "pages/s")
			}
		})
	}
}

// listWorkload returns a function that reads pages of 500 assignments with four
// clients for two seconds and returns the pages per second.
func listWorkload(b *testing.B, database string) func(b *testing.B) float64 {
	b.Helper()
	f := newCompany(b, database)
	clients := newFleet(b, serve(b, database).address, 4)
	f.provisionWorkers(b, clients[0])
	for round := range 4 {
		if err := clients[0].do(f.bulkRequest(round)); err != nil {
			b.Fatal(err)
		}
	}
	request := get("/api/v1/assignments?limit=500", f.token)
	body, err := clients[0].body(request, true)
	if n := bytes.Count(body, []byte(`"employeeExternalId"`)); err != nil || n != 500 {
		b.Fatal(fmt.Errorf("the page has %d assignments: %w", n, err))
	}
	return func(b *testing.B) float64 {
		return clients.drive(b, 2*time.Second, func(int) []byte { return request })
	}
}
