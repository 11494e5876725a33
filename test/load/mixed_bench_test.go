package load

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// mixedLoad sends what a busy company sends: 70 % reads, 20 % provisions and
// assignments, 5 % bulks and 5 % activities.
type mixedLoad struct {
	*grownCompany
	clients fleet
	failed  atomic.Int64

	mu    sync.Mutex
	reads []time.Duration // of single records
}

// mixedSize is the number of assignments at the start, of a tenth as many people. The bulks
// of five minutes make some 300,000 more: with fewer people, reading an employee would become
// reading a large page of assignments.
const mixedSize = 100_000

func newMixedLoad(b *testing.B, engine string) *mixedLoad {
	b.Helper()
	l := &mixedLoad{grownCompany: newGrownCompany(b, engine, mixedSize)}
	r := newReceiver(b, 0)
	for _, kind := range []string{"employee.joined", "assignment.created", "assignment.completed"} {
		l.addWebhook(b, r.url, kind)
	}
	l.server = serve(b, l.database, "--metrics-allow", "127.0.0.0/8")
	l.cost = newCostMeter(b, l.server, l.database)
	l.clients = newFleet(b, l.server.address, connections)
	return l
}

// request returns a random request, and whether it reads a single record.
func (l *mixedLoad) request() (request []byte, isPointRead bool) {
	switch n := rand.IntN(100); {
	case n < 25:
		return l.get(fmt.Sprintf("/employees/emp-%d", l.randomEmployee())), true
	case n < 50:
		return l.get(fmt.Sprintf("/assignments/by-external-id/asg-%d", l.randomAssignment())), true
	case n < 60:
		return l.get("/assignments?status=started"), false
	case n < 70:
		return l.get(fmt.Sprintf("/assignments?employeeExternalId=emp-%d", l.randomEmployee())), false
	case n < 80:
		return l.post("/employees/provision", `{"externalId":"n-%d","email":"n-%[1]d@grow.test","name":"New %[1]d"}`, l.unused()), false
	case n < 90:
		return l.post("/assignments", `{"employeeExternalId":"emp-%d","courseId":%d,"externalId":"n-%d"}`, l.randomEmployee(), l.courseID, l.unused()), false
	case n < 95:
		return l.bulk(), false
	}
	return l.activities(), false
}

// send sends one request and notes how long it took since it was due.
func (l *mixedLoad) send(b *testing.B, c *client, due time.Time) {
	b.Helper()
	request, isPointRead := l.request()
	if err := c.do(request); err != nil {
		b.Log(err)
		l.failed.Add(1)
		return
	}
	if isPointRead {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reads = append(l.reads, time.Since(due))
	}
}

// run sends requests at a rate for d and returns how many. A request whose connection is
// busy is late, and its lateness counts.
func (l *mixedLoad) run(b *testing.B, rate float64, d time.Duration) (sent int) {
	b.Helper()
	due := make(chan time.Time, 1<<16)
	var senders sync.WaitGroup
	for _, c := range l.clients {
		senders.Go(func() {
			for at := range due {
				l.send(b, c, at)
			}
		})
	}
	began := time.Now()
	for ; time.Since(began) < d; sent++ {
		at := began.Add(time.Duration(float64(sent) / rate * float64(time.Second)))
		<-time.After(time.Until(at))
		due <- at
	}
	close(due)
	senders.Wait()
	return sent
}

// whileReporting runs fn while a report is downloaded again and again.
func (l *mixedLoad) whileReporting(b *testing.B, fn func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var reporting sync.WaitGroup
	reporting.Go(func() {
		for ctx.Err() == nil {
			if _, err := (reportCompany{company: l.company}).fetch(ctx, l.server.address, "assignments.csv"); err != nil && ctx.Err() == nil {
				b.Log(err)
				l.failed.Add(1)
			}
		}
	})
	fn()
	cancel()
	reporting.Wait()
}

// peak returns the highest rate that the server can keep up: requests as fast as they are
// answered, and the time until their webhooks are sent too, which takes longer than the
// requests. A server that is given more would have more and more left to send.
func (l *mixedLoad) peak(b *testing.B) float64 {
	b.Helper()
	const d = 5 * time.Second
	began := time.Now()
	requests := l.clients.drive(b, d, func(int) []byte {
		request, _ := l.request()
		return request
	}) * d.Seconds()
	db := openSQL(b, l.database)
	for isPending := true; isPending; <-time.After(10 * time.Millisecond) {
		if err := db.QueryRowContext(b.Context(), "SELECT EXISTS (SELECT 1 FROM deliveries WHERE state = 'pending')").Scan(&isPending); err != nil {
			b.Fatal(err)
		}
		if time.Since(began) > 5*time.Minute {
			b.Fatal("webhooks are still to be sent after five minutes")
		}
	}
	return requests / time.Since(began).Seconds()
}

// goroutines returns the least of ten counts of the server's goroutines within a second, in
// order to leave out those of the webhooks that are just being sent.
func (l *mixedLoad) goroutines(b *testing.B) float64 {
	b.Helper()
	least := math.Inf(1)
	c := newFleet(b, l.server.address, 1)[0]
	for range 10 {
		body, err := c.body(get("/metrics", ""), true)
		if err != nil {
			b.Fatal(err)
		}
		_, rest, found := bytes.Cut(body, []byte("\ngo_goroutines "))
		text, _, _ := bytes.Cut(rest, []byte("\n"))
		n, err := strconv.ParseFloat(string(text), 64)
		if err != nil || !found {
			b.Fatalf("read the number of goroutines from %q: %v", text, err)
		}
		least = min(least, n)
		<-time.After(100 * time.Millisecond)
	}
	return least
}

// highestMemory returns the most memory that the server has while run runs. The garbage
// collector lets it rise and fall by a third every few seconds.
func (l *mixedLoad) highestMemory(b *testing.B, run func()) (highest float64) {
	b.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run()
	}()
	for {
		highest = max(highest, l.server.rss(b))
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ended:
			return highest
		}
	}
}

func mixedTime() time.Duration {
	switch {
	case fullForm():
		return 5 * time.Minute
	case shortForm():
		return 15 * time.Second
	}
	return time.Minute
}

// BenchmarkMixed sends the mixed load at half of the rate that the server can keep up,
// while a report is downloaded again and again. The first fifth warms up.
func BenchmarkMixed(b *testing.B) {
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			l := newMixedLoad(b, engine)
			for b.Loop() {
				l.measure(b, engine)
			}
		})
	}
}

func (l *mixedLoad) measure(b *testing.B, engine string) {
	b.Helper()
	var peak, memory, lastMemory float64
	l.whileReporting(b, func() { peak = l.peak(b) })
	rest()
	part := mixedTime() / 5
	l.whileReporting(b, func() { memory = l.highestMemory(b, func() { l.run(b, peak/2, part) }) })
	l.reads = nil
	goroutines := l.goroutines(b)
	rest()
	before, sent := l.cost.total(b), 0
	l.whileReporting(b, func() { sent = l.run(b, peak/2, 3*part) })
	work := l.cost.since(b, before, sent)
	rest()
	l.whileReporting(b, func() { lastMemory = l.highestMemory(b, func() { l.run(b, peak/2, part) }) })
	b.ReportMetric(peak, "peak-req/s")
	what := fmt.Sprintf("mixed load, %s: ", engine)
	figure{
		What: what + "p99 of reads of single records", Value: percentile(l.reads, 0.99), Unit: "ms-p99", Sign: "<", Target: 50,
		Cost: work, Per: "request with its webhooks and the report", Note: fmt.Sprintf("at %.0f req/s", peak/2),
	}.record(b)
	below(b, what+"failed requests", float64(l.failed.Load()), 1, "failed")
	below(b, what+"growth of memory", lastMemory/memory, 1.25, "times-memory")
	below(b, what+"additional goroutines", l.goroutines(b)-goroutines, 50, "goroutines")
}
