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
}

// BenchmarkCompare runs every workload on this program and on that of another
// checkout, alternately, and reports ratios of rates and of rates per processor
// time: above 1 this program is faster. Webhooks are sent by both at the same time, so
// that whatever else the machine does slows both, and their costs are compared: above 1
// this program needs more. Companies are filled over the API, so the versions may have
// different schemas. scripts/bench.sh documents its use.
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
	for _, engine := range engineNames {
		databases := func() []string {
			other := engines[engine](b)
			otherBinaries.Store(other, path)
			return []string{other, engines[engine](b)}
		}
		b.Run(engine+"/drain", func(b *testing.B) { compareDrain(b, engine, databases) })
		b.Run(engine+"/latency", func(b *testing.B) { compareLatency(b, engine, databases()) })
	}
}

// maxCost is how many times as much processor time this program may need as the other.
const maxCost = 1.05

// compareDrain fills a database of each version for each round: a queue empties only once.
func compareDrain(b *testing.B, engine string, databases func() []string) {
	var rounds [][2]cost
	for range 5 {
		var queues []*queue
		for _, database := range databases() {
			queues = append(queues, fillQueue(b, database, 1, 10_000))
		}
		rest()
		rounds = append(rounds, [2]cost(drain(b, queues...)))
	}
	recordFactor("a delivery of 10,000 queued ones, "+engine+", against the other version at the same time", maxCost, rounds...)
}

// compareLatency compares the cost of a call with its webhook, and the 95th percentile.
func compareLatency(b *testing.B, engine string, databases []string) {
	var meters []*latencyMeter
	for _, database := range databases {
		f, r := newCompany(b, database), newReceiver(b, 100_000)
		f.addWebhook(b, r.url, "employee.joined")
		meters = append(meters, newLatencyMeter(b, f, serve(b, database), r))
	}
	measureLatency(b, 100, 3, meters...) // warms up
	var rounds [][2]cost
	for range 7 {
		rest()
		var round [2]cost
		for k, got := range measureLatency(b, 100, 4, meters...) {
			round[k] = cost{wall: percentile(got.took, 0.95), work: got.work}
		}
		rounds = append(rounds, round)
	}
	recordFactor("a call and its webhook at 100/s, p95, "+engine+", against the other version at the same time", maxCost, rounds...)
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
