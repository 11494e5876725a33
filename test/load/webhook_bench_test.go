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
	clients  chan *client
	receiver *receiver
	cost     *costMeter
	next     int // number of the next employee
}

func newLatencyMeter(b *testing.B, f company, p *program, r *receiver) *latencyMeter {
	b.Helper()
	m := &latencyMeter{company: f, clients: make(chan *client, 64), receiver: r, cost: newCostMeter(b, p, f.database)}
	for _, c := range newFleet(b, p.address, cap(m.clients)) {
		m.clients <- c
	}
	return m
}

// latencies are the times from the start of a call to the arrival of its event, and the
// processor time of each in microseconds.
type latencies struct {
	took []time.Duration
	work float64
}

// measureLatency provisions employees at a fixed rate, whether or not earlier calls have
// returned, those of several companies at the same time.
func measureLatency(b *testing.B, perSecond, seconds int, meters ...*latencyMeter) []latencies {
	b.Helper()
	total := perSecond * seconds
	starts, before, arrived := make([][]time.Time, len(meters)), make([]time.Duration, len(meters)), make([]int64, len(meters))
	for k, m := range meters {
		starts[k], before[k], arrived[k] = make([]time.Time, total), m.cost.total(b), m.receiver.count.Load()
	}
	var calls sync.WaitGroup
	began := time.Now()
	for i := range total {
		<-time.After(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		for k := range meters {
			k = (k + i) % len(meters) // so that each is the first as often
			m := meters[k]
			calls.Go(func() { starts[k][i] = m.provision(b, m.next+i) })
		}
	}
	calls.Wait()
	out := make([]latencies, len(meters))
	for k, m := range meters {
		m.receiver.waitFor(b, arrived[k]+int64(total), 30*time.Second)
		for i := range total {
			out[k].took = append(out[k].took, time.Unix(0, m.receiver.when[m.next+i].Load()).Sub(starts[k][i]))
		}
		out[k].work = m.cost.since(b, before[k], total)
		m.next += total
	}
	return out
}

// provision provisions the employee with a number and returns when the call began.
func (m *latencyMeter) provision(b *testing.B, n int) time.Time {
	b.Helper()
	request := post("/api/v1/employees/provision", m.company.token,
		fmt.Appendf(nil, `{"externalId":"l-%d","email":"l-%d@acme.example","name":"Latecomer %d"}`, n, n, n))
	c := <-m.clients
	defer func() { m.clients <- c }()
	began := time.Now()
	if err := c.do(request); err != nil {
		b.Error(err)
	}
	return began
}

// record records the 95th percentile in the table and prints others.
func (l latencies) record(b *testing.B, what string, target float64, unit string) {
	b.Helper()
	figure{
		What: what, Value: percentile(l.took, 0.95), Unit: unit, Sign: "<", Target: target, Cost: l.work, Per: "call and webhook",
		Note: fmt.Sprintf("p50 %.1f ms, p99 %.1f ms", percentile(l.took, 0.5), percentile(l.took, 0.99)),
	}.record(b)
}

// BenchmarkLatency measures the time from the start of an API call to the arrival of
// its webhook.
func BenchmarkLatency(b *testing.B) {
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			f := newCompany(b, engines[engine](b))
			r := newReceiver(b, 100_000)
			f.addWebhook(b, r.url, "employee.joined")
			meter := newLatencyMeter(b, f, serve(b, f.database), r)
			measureLatency(b, 50, 2, meter) // warms up
			for b.Loop() {
				for _, rate := range []int{50, 200} {
					rest()
					got := measureLatency(b, rate, 15, meter)[0]
					got.record(b, fmt.Sprintf("call to arrival, p95 at %d/s, %s", rate, engine), 10, fmt.Sprintf("ms-p95@%d/s", rate))
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
			meter := newLatencyMeter(b, healthy, p, r)
			for b.Loop() {
				rest()
				measureLatency(b, 50, 15, meter)[0].record(b, fmt.Sprintf("healthy behind %d stalled, p95, %s", hooks*people, engine), 25, "ms-p95")
			}
		})
	}
}
