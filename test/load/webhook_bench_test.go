package load

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// latencies provisions people at a rate and gives how long each took from the
// start of the call until the event arrived. Calls are started on time whatever
// became of those before.
func latencies(b *testing.B, f firm, address string, r *receiver, first, perSecond, seconds int) []time.Duration {
	b.Helper()
	total := perSecond * seconds
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
	r.until(b, before+int64(total), 30*time.Second)
	out := make([]time.Duration, total)
	for i := range out {
		out[i] = time.Unix(0, r.when[first+i].Load()).Sub(starts[i])
	}
	return out
}

// BenchmarkLatency measures from the start of the API call to the arrival at the
// receiver.
func BenchmarkLatency(b *testing.B) {
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			f := newFirm(b, engines[engine](b))
			r := newReceiver(b, 100_000)
			f.listen(b, r.url, "employee.joined")
			p := serve(b, f.database)
			first := 0
			run := func(rate, seconds int) []time.Duration {
				took := latencies(b, f, p.address, r, first, rate, seconds)
				first += rate * seconds
				return took
			}
			run(50, 2) // warms up
			for b.Loop() {
				for _, rate := range []int{50, 200} {
					took := run(rate, 15)
					b.Logf("%s at %d/s: p50 %.1f ms, p95 %.1f ms, p99 %.1f ms", engine, rate, at(took, 0.5), at(took, 0.95), at(took, 0.99))
					below(b, fmt.Sprintf("call to arrival, p95 at %d/s, %s", rate, engine), at(took, 0.95), 25, fmt.Sprintf("ms-p95@%d/s", rate))
				}
			}
		})
	}
}

// BenchmarkStalled measures a healthy company while 5,000 deliveries of another
// one wait for receivers that never answer.
func BenchmarkStalled(b *testing.B) {
	const hooks, people = 50, 100
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			database := engines[engine](b)
			stuck, healthy := newFirm(b, database), newFirm(b, database)
			stall := newStall(b)
			for range hooks {
				stuck.listen(b, stall, "employee.joined")
			}
			r := newReceiver(b, 100_000)
			healthy.listen(b, r.url, "employee.joined")
			p := serve(b, database)
			c := newFleet(b, p.address, 1)[0]
			for i := range people {
				body := fmt.Appendf(nil, `{"externalId":"s-%d","email":"s-%d@stuck.example","name":"Stuck %d"}`, i, i, i)
				if err := c.do(post("/api/v1/employees/provision", stuck.token, body)); err != nil {
					b.Fatal(err)
				}
			}
			first := 0
			for b.Loop() {
				took := latencies(b, healthy, p.address, r, first, 50, 15)
				first += len(took)
				b.Logf("%s: p50 %.1f ms, p95 %.1f ms, p99 %.1f ms", engine, at(took, 0.5), at(took, 0.95), at(took, 0.99))
				below(b, fmt.Sprintf("healthy behind %d stalled, p95, %s", hooks*people, engine), at(took, 0.95), 100, "ms-p95")
			}
		})
	}
}
