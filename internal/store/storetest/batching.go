package storetest

import (
	"math"
	"sync"
	"testing"
	"time"
)

// CompareBatching measures a call that runs alone against the same call in a
// batch. The two are measured alternately, because the machine may be busy with
// something else, and the best round of each counts. The call receives the number
// of its caller.
func CompareBatching(b *testing.B, callers int, alone, batched func(caller int) error) {
	b.Helper()
	round := func(call func(caller int) error) float64 {
		const calls = 400
		var wg sync.WaitGroup
		began := time.Now()
		for i := range callers {
			wg.Go(func() {
				for range calls / callers {
					if err := call(i); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		return float64(time.Since(began).Microseconds()) / float64(calls/callers*callers)
	}
	bestAlone, bestBatched := math.Inf(1), math.Inf(1)
	b.ResetTimer()
	for range b.N {
		bestAlone, bestBatched = min(bestAlone, round(alone)), min(bestBatched, round(batched))
	}
	b.ReportMetric(0, "ns/op") // says nothing here
	b.ReportMetric(bestAlone, "alone-µs")
	b.ReportMetric(bestBatched, "batched-µs")
	b.ReportMetric(bestAlone/bestBatched, "times")
}
