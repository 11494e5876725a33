package load

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// neighbour is a company that is measured alone and while another company does
// something expensive.
type neighbour struct {
	clients fleet
	request func(n int64) []byte
	count   atomic.Int64
}

// latency sends one request every 5 ms for d, on whichever connection is free, and
// returns how long each took.
func (n *neighbour) latency(b *testing.B, d time.Duration) (took []time.Duration) {
	b.Helper()
	free := make(chan *client, len(n.clients))
	for _, c := range n.clients {
		free <- c
	}
	var mu sync.Mutex
	var calls sync.WaitGroup
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(d); time.Now().Before(end); {
		began := <-tick.C
		request := n.request(n.count.Add(1))
		calls.Go(func() {
			c := <-free
			err := c.do(request)
			free <- c
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(began))
		})
	}
	calls.Wait()
	return took
}

// compareAlone measures the neighbour alternately alone and while noise runs, and
// records how much its p95 grows.
func (n *neighbour) compareAlone(b *testing.B, what string, noise func(ctx context.Context)) {
	b.Helper()
	n.latency(b, time.Second) // warms up
	var alone, during []time.Duration
	for range 5 {
		alone = append(alone, n.latency(b, 2*time.Second)...)
		ctx, cancel := context.WithCancel(b.Context())
		var running sync.WaitGroup
		running.Go(func() { noise(ctx) })
		<-time.After(200 * time.Millisecond) // the noise begins
		during = append(during, n.latency(b, 2*time.Second)...)
		cancel()
		running.Wait()
	}
	b.Logf("%s: p50 %.1f ms, p95 %.1f ms alone; p50 %.1f ms, p95 %.1f ms", what,
		percentile(alone, 0.5), percentile(alone, 0.95), percentile(during, 0.5), percentile(during, 0.95))
	below(b, what+", p95 of its value alone", percentile(during, 0.95)/percentile(alone, 0.95), 1.5, "times-alone")
}

// provisionRequests returns requests of new employees.
func provisionRequests(token string) func(n int64) []byte {
	return func(n int64) []byte {
		return post("/api/v1/employees/provision", token,
			fmt.Appendf(nil, `{"externalId":"q-%d","email":"q-%d@quiet.example","name":"Quiet %d"}`, n, n, n))
	}
}

// BenchmarkNeighbourOfStuckProvisions measures a company that provisions employees
// while six provisions of another company wait for a lock that a transaction holds: one
// more than its share of the connections.
func BenchmarkNeighbourOfStuckProvisions(b *testing.B) {
	database := engines["postgres"](b)
	noisy, quiet := newCompany(b, database), newCompany(b, database)
	p := serve(b, database)
	n := &neighbour{clients: newFleet(b, p.address, connections), request: provisionRequests(quiet.token)}
	conn := connect(b, database)
	for b.Loop() {
		n.compareAlone(b, "provisioning next to six that wait for a lock, postgres", func(ctx context.Context) {
			tx, err := conn.Begin(context.Background())
			if err != nil {
				b.Error(err)
				return
			}
			var stuck sync.WaitGroup
			for i := range 6 {
				address := fmt.Sprintf("stuck-%d-%d@acme.example", n.count.Load(), i)
				// A new account with the same address has to wait for this transaction.
				if _, err := tx.Exec(context.Background(), "INSERT INTO accounts (email_folded, created_at) VALUES ($1, now())", address); err != nil {
					b.Error(err)
				}
				stuck.Go(func() { provisionOnce(b, p.address, noisy.token, address) })
			}
			<-ctx.Done()
			if err := tx.Rollback(context.Background()); err != nil {
				b.Error(err)
			}
			stuck.Wait()
		})
	}
}

// provisionOnce sends a provision that may be refused with a 503.
func provisionOnce(b *testing.B, server, token, email string) {
	b.Helper()
	c, err := dial(server)
	if err != nil {
		b.Error(err)
		return
	}
	defer c.close()
	body := fmt.Appendf(nil, `{"externalId":%q,"email":%q,"name":"Stuck"}`, email, email)
	if err := c.do(post("/api/v1/employees/provision", token, body)); err != nil && !strings.Contains(err.Error(), "503") {
		b.Error(err)
	}
}

// manyAssignments is how many assignments a large employee has; 10,000 are allowed.
const manyAssignments = 9500

// addLargeEmployee assigns manyAssignments to the worker w-0.
func (f company) addLargeEmployee(b *testing.B, c *client) {
	b.Helper()
	f.provisionWorkers(b, c)
	for round := range manyAssignments / bulkSize {
		items := make([]string, bulkSize)
		for i := range items {
			items[i] = fmt.Sprintf(`{"employeeExternalId":"w-0","courseId":%d,"externalId":"large-%d-%d"}`, f.courseID, round, i)
		}
		if err := c.do(post("/api/v1/assignments/bulk", f.token, []byte(`{"items":[`+strings.Join(items, ",")+`]}`))); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemoryOfLargeEmployees measures how much the server's memory grows while 50
// clients ask for an employee with thousands of assignments at once, and read nothing
// for the first five seconds.
func BenchmarkMemoryOfLargeEmployees(b *testing.B) {
	const readers, limit = 50, 200 // MB
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			database := engines[engine](b)
			noisy := newCompany(b, database)
			p := serve(b, database)
			clients := newFleet(b, p.address, readers)
			noisy.addLargeEmployee(b, clients[0])
			request := get(employeePath+"w-0", noisy.token)
			for b.Loop() {
				before, most := p.rss(b), 0.0
				var running sync.WaitGroup
				done := make(chan struct{})
				for _, c := range clients {
					running.Go(func() {
						if err := c.later(request, 5*time.Second); err != nil && !strings.Contains(err.Error(), "503") {
							b.Error(err)
						}
					})
				}
				go func() { running.Wait(); close(done) }()
				for reading := true; reading; {
					select {
					case <-done:
						reading = false
					case <-time.After(20 * time.Millisecond):
						most = max(most, p.rss(b))
					}
				}
				below(b, fmt.Sprintf("memory of %d readers of an employee with %d assignments, %s", readers, manyAssignments, engine), most-before, limit, "MB")
			}
		})
	}
}

// BenchmarkNeighbourOfLargeEmployees measures a company that reads small employees
// while eight clients of another company read one with thousands of assignments.
func BenchmarkNeighbourOfLargeEmployees(b *testing.B) {
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			database := engines[engine](b)
			noisy, quiet := newCompany(b, database), newCompany(b, database)
			p := serve(b, database)
			n := &neighbour{clients: newFleet(b, p.address, connections), request: func(i int64) []byte {
				return get(fmt.Sprintf("%sw-%d", employeePath, i%bulkSize), quiet.token)
			}}
			quiet.provisionWorkers(b, n.clients[0])
			noisy.addLargeEmployee(b, n.clients[0])
			// Without these, PostgreSQL would take every employee for one with thousands.
			if err := n.clients[0].do(quiet.bulkRequest(0)); err != nil {
				b.Fatal(err)
			}
			vacuum(b, database)
			readers := newFleet(b, p.address, 8)
			for b.Loop() {
				n.compareAlone(b, fmt.Sprintf("reads next to employees with %d assignments, %s", manyAssignments, engine), func(ctx context.Context) {
					request := get(employeePath+"w-0", noisy.token)
					var all sync.WaitGroup
					for _, c := range readers {
						all.Go(func() {
							for ctx.Err() == nil {
								if err := c.do(request); err != nil {
									b.Error(err)
									return
								}
							}
						})
					}
					all.Wait()
				})
			}
		})
	}
}
