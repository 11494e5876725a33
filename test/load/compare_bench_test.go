package load

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// otherEnv names a checkout of another version, which BenchmarkCompare measures
// against this one.
const otherEnv = "COURSEBRIDGE_BENCH_OTHER"

// workload prepares a company on a database, whichever program serves it, and
// returns a function that measures a rate.
type workload struct {
	name, unit string
	prepare    func(b *testing.B, database string) func(b *testing.B) float64
}

var workloads = []workload{
	{"GET /courses", "req/s", coursesWorkload},
	{"GET /employees/{externalId}", "req/s", employeeWorkload},
	{"GET /assignments?limit=500", "pages/s", listWorkload},
	{"provision", "req/s", provisionWorkload},
	{"assign by 16 writers", "req/s", assignWorkload},
	{"bulk of 500", "rows/s", bulkWorkload},
	{"assignments.csv, 50,000 rows", "rows/s", csvWorkload},
	{"webhook latency at 100/s, 1000/p95 in ms", "1/s", latencyWorkload},
}

// BenchmarkCompare runs every workload on this program and on that of another
// checkout, alternately, and reports ratios of rates and of rates per processor
// time: above 100 % this program is faster. Companies are filled over the API, so
// the versions may have different schemas. scripts/bench.sh documents its use.
func BenchmarkCompare(b *testing.B) {
	checkout := os.Getenv(otherEnv)
	if checkout == "" {
		return
	}
	path := filepath.Join(b.TempDir(), "other")
	if err := build(checkout, path); err != nil {
		b.Fatal(err)
	}
	for _, engine := range engineNames {
		for _, w := range workloads {
			b.Run(engine+"/"+w.name, func(b *testing.B) {
				database := engines[engine](b)
				otherBinaries.Store(database, path)
				own := engines[engine](b)
				ours, other := w.prepare(b, own), w.prepare(b, database)
				vacuum(b, own)
				vacuum(b, database)
				for b.Loop() {
					c := compare(7, func() float64 { return ours(b) }, func() float64 { return other(b) })
					ratio(b, w.name+", "+engine+", of the other version", c, 0.95, w.unit)
				}
			})
		}
	}
	b.Run("drain", func(b *testing.B) { compareDrain(b, path) })
}

// compareDrain fills a database for each turn: a queue empties only once.
func compareDrain(b *testing.B, path string) {
	for _, engine := range engineNames {
		ours := func() turn { return drain(b, engines[engine](b), 1, 10_000) }
		other := func() turn {
			database := engines[engine](b)
			otherBinaries.Store(database, path)
			return drain(b, database, 1, 10_000)
		}
		c := compareTurns(9, ours, other)
		ratio(b, "drain of 10,000 deliveries, "+engine+", of the other version", c, 0.95, "deliveries/s")
	}
}

func coursesWorkload(b *testing.B, database string) func(b *testing.B) float64 {
	b.Helper()
	f := newCompany(b, database)
	request := get("/api/v1/courses", f.token)
	clients := newFleet(b, serve(b, database).address, connections)
	return func(b *testing.B) float64 {
		return clients.drive(b, time.Second, func(int) []byte { return request })
	}
}

// employeeWorkload reads employees with three assignments.
func employeeWorkload(b *testing.B, database string) func(b *testing.B) float64 {
	b.Helper()
	f := newCompany(b, database)
	clients := newFleet(b, serve(b, database).address, connections)
	f.provisionWorkers(b, clients[0])
	for round := range 3 {
		if err := clients[0].do(f.bulkRequest(round)); err != nil {
			b.Fatal(err)
		}
	}
	return func(b *testing.B) float64 {
		return clients.drive(b, time.Second, func(int) []byte { return get(fmt.Sprintf("%sw-%d", employeePath, rand.IntN(bulkSize)), f.token) })
	}
}

func provisionWorkload(b *testing.B, database string) func(b *testing.B) float64 {
	b.Helper()
	f := newCompany(b, database)
	clients := newFleet(b, serve(b, database).address, connections)
	var n atomic.Int64
	next := func(int) []byte {
		i := n.Add(1)
		body := fmt.Appendf(nil, `{"externalId":"n-%d","email":"n-%d@acme.example","name":"New Employee %d"}`, i, i, i)
		return post("/api/v1/employees/provision", f.token, body)
	}
	return func(b *testing.B) float64 { return clients.drive(b, 2*time.Second, next) }
}

// assignWorkload assigns with 16 clients of one company.
func assignWorkload(b *testing.B, database string) func(b *testing.B) float64 {
	b.Helper()
	f := newCompany(b, database)
	clients := newFleet(b, serve(b, database).address, connections)
	f.provisionWorkers(b, clients[0])
	var n atomic.Int64
	next := func(int) []byte {
		i := n.Add(1)
		body := fmt.Appendf(nil, `{"employeeExternalId":"w-%d","courseId":%d,"externalId":"s-%d"}`, i%bulkSize, f.courseID, i)
		return post("/api/v1/assignments", f.token, body)
	}
	return func(b *testing.B) float64 { return clients.drive(b, 2*time.Second, next) }
}

func bulkWorkload(b *testing.B, database string) func(b *testing.B) float64 {
	b.Helper()
	f := newCompany(b, database)
	c := newFleet(b, serve(b, database).address, 1)[0]
	f.provisionWorkers(b, c)
	round := 0
	return func(b *testing.B) float64 { return f.bulkRate(b, c, &round, 2*time.Second) }
}

func csvWorkload(b *testing.B, database string) func(b *testing.B) float64 {
	b.Helper()
	const rounds = 100
	l := reportCompany{company: newCompany(b, database), rows: rounds * bulkSize}
	p := serve(b, database)
	c := newFleet(b, p.address, 1)[0]
	l.provisionWorkers(b, c)
	for round := range rounds {
		if err := c.do(l.bulkRequest(round)); err != nil {
			b.Fatal(err)
		}
	}
	return func(b *testing.B) float64 { return l.rate(b, p, "assignments.csv")() }
}

func latencyWorkload(b *testing.B, database string) func(b *testing.B) float64 {
	b.Helper()
	f, r := newCompany(b, database), newReceiver(b, 100_000)
	f.addWebhook(b, r.url, "employee.joined")
	meter := &latencyMeter{company: f, address: serve(b, database).address, receiver: r}
	return func(b *testing.B) float64 { return 1000 / percentile(meter.run(b, 100, 4), 0.95) }
}
