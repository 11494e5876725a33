package load

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// latencyMeter measures the latency of a company's webhooks.
type latencyMeter struct {
	company  company
	address  string
	receiver *receiver
	next     int // number of the next employee
}

// run provisions employees at a fixed rate, whether or not earlier calls have
// returned, and returns the times from the start of a call to the arrival of the
// event.
func (m *latencyMeter) run(b *testing.B, perSecond, seconds int) []time.Duration {
	b.Helper()
	f, r, address, first, total := m.company, m.receiver, m.address, m.next, perSecond*seconds
	m.next += total
	free := make(chan *client, 64)
	for _, c := range newFleet(b, address, cap(free)) {
		free <- c
	}
	starts := make([]time.Time, total)
	before := r.count.Load()
	var calls sync.WaitGroup
	began := time.Now()
	for i := range total {
		<-time.After(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		n := first + i
		request := post("/api/v1/employees/provision", f.token,
			fmt.Appendf(nil, `{"externalId":"l-%d","email":"l-%d@acme.example","name":"Latecomer %d"}`, n, n, n))
		calls.Go(func() {
			c := <-free
			starts[i] = time.Now()
			if err := c.do(request); err != nil {
				b.Error(err)
			}
			free <- c
		})
	}
	calls.Wait()
	r.waitFor(b, before+int64(total), 30*time.Second)
	out := make([]time.Duration, total)
	for i := range out {
		out[i] = time.Unix(0, r.when[first+i].Load()).Sub(starts[i])
	}
	return out
}

// BenchmarkLatency measures the time from the start of an API call to the arrival of
// its webhook.
func BenchmarkLatency(b *testing.B) {
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			f := newCompany(b, engines[engine](b))
			r := newReceiver(b, 100_000)
			f.addWebhook(b, r.url, "employee.joined")
			meter := &latencyMeter{company: f, address: serve(b, f.database).address, receiver: r}
			meter.run(b, 50, 2) // warms up
			for b.Loop() {
				for _, rate := range []int{50, 200} {
					took := meter.run(b, rate, 15)
					b.Logf("%s at %d/s: p50 %.1f ms, p95 %.1f ms, p99 %.1f ms", engine, rate, percentile(took, 0.5), percentile(took, 0.95), percentile(took, 0.99))
					below(b, fmt.Sprintf("call to arrival, p95 at %d/s, %s", rate, engine), percentile(took, 0.95), 10, fmt.Sprintf("ms-p95@%d/s", rate))
				}
			}
		})
	}
}

// BenchmarkStalled measures the latency of one company while 5,000 deliveries of
// another company wait for receivers that never answer.
func BenchmarkStalled(b *testing.B) {
	const hooks, people = 50, 100
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			database := engines[engine](b)
			stuck, healthy := newCompany(b, database), newCompany(b, database)
			stall := newHangingReceiver(b)
			for range hooks {
				stuck.addWebhook(b, stall, "employee.joined")
			}
			r := newReceiver(b, 100_000)
			healthy.addWebhook(b, r.url, "employee.joined")
			p := serve(b, database)
			c := newFleet(b, p.address, 1)[0]
			for i := range people {
				body := fmt.Appendf(nil, `{"externalId":"s-%d","email":"s-%d@stuck.example","name":"Stuck %d"}`, i, i, i)
				if err := c.do(post("/api/v1/employees/provision", stuck.token, body)); err != nil {
					b.Fatal(err)
				}
			}
			meter := &latencyMeter{company: healthy, address: p.address, receiver: r}
			for b.Loop() {
				took := meter.run(b, 50, 15)
				b.Logf("%s: p50 %.1f ms, p95 %.1f ms, p99 %.1f ms", engine, percentile(took, 0.5), percentile(took, 0.95), percentile(took, 0.99))
				below(b, fmt.Sprintf("healthy behind %d stalled, p95, %s", hooks*people, engine), percentile(took, 0.95), 25, "ms-p95")
			}
		})
	}
}
