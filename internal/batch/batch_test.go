package batch

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// gatedBatcher multiplies numbers by ten; each batch runs when the test releases it.
type gatedBatcher struct {
	*Batcher[int, int]
	began   chan []int
	proceed chan error
}

func newGatedBatcher(o Options) *gatedBatcher {
	g := &gatedBatcher{began: make(chan []int), proceed: make(chan error)}
	g.Batcher = New(func(ctx context.Context, requests []int) ([]int, error) {
		g.began <- slices.Clone(requests)
		if err := <-g.proceed; err != nil {
			return nil, err
		}
		for i := range requests {
			requests[i] *= 10
		}
		return requests, ctx.Err()
	}, o)
	return g
}

var patient = Options{MaxDelay: time.Hour, SlowAfter: NeverSlow}

// waitFor returns once n calls wait.
func (b *Batcher[Request, Response]) waitFor(n int) {
	for {
		b.mu.Lock()
		got := len(b.waiting)
		b.mu.Unlock()
		if got == n {
			return
		}
		runtime.Gosched()
	}
}

// startFirst starts a batch of one call.
func (g *gatedBatcher) startFirst(t *testing.T, wg *sync.WaitGroup) {
	wg.Go(func() { wantTenfold(t, g, 1) })
	if got := <-g.began; !slices.Equal(got, []int{1}) {
		t.Errorf("the first batch is %v, want only 1", got)
	}
}

func wantTenfold(t *testing.T, g *gatedBatcher, n int) {
	t.Helper()
	if got, err := g.Do(t.Context(), n); err != nil || got != 10*n {
		t.Errorf("Do(%d) = %d, %v", n, got, err)
	}
}

func (g *gatedBatcher) wantIdle(t *testing.T) {
	t.Helper()
	if len(g.running) != 0 || len(g.waiting) != 0 {
		t.Errorf("%d batches run and %d calls wait, want none", len(g.running), len(g.waiting))
	}
}

func TestWaitingCallsShareTheNextBatch(t *testing.T) {
	t.Parallel()
	g := newGatedBatcher(patient)
	var wg sync.WaitGroup
	g.startFirst(t, &wg)
	for i := range 5 {
		wg.Go(func() { wantTenfold(t, g, 100+i) })
		g.waitFor(i + 1)
	}
	g.proceed <- nil
	if got := <-g.began; !slices.Equal(got, []int{100, 101, 102, 103, 104}) {
		t.Errorf("the next batch is %v", got)
	}
	g.proceed <- nil
	wg.Wait()
	g.wantIdle(t)
}

func TestManyWaitingCallsStartASecondBatch(t *testing.T) {
	t.Parallel()
	g := newGatedBatcher(patient)
	threshold := g.options.ParallelThreshold
	var wg sync.WaitGroup
	g.startFirst(t, &wg)
	for i := range threshold {
		wg.Go(func() { wantTenfold(t, g, 100+i) })
		if i < threshold-1 {
			g.waitFor(i + 1)
		}
	}
	if second := <-g.began; len(second) != threshold {
		t.Errorf("the second batch is %v, want %d requests", second, threshold)
	}
	g.proceed <- nil
	g.proceed <- nil
	wg.Wait()
	g.wantIdle(t)
}

// A few calls go on waiting when one of two batches ends, but no longer than MaxDelay.
func TestFewCallsWaitWhileABatchRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGatedBatcher(Options{ParallelThreshold: 2, MaxParallel: 2})
		var wg sync.WaitGroup
		startTwo := func() {
			g.startFirst(t, &wg)
			wg.Go(func() { wantTenfold(t, g, 100) })
			g.waitFor(1)
			wg.Go(func() { wantTenfold(t, g, 101) })
			<-g.began
		}
		wait := func() {
			wg.Go(func() { wantTenfold(t, g, 200) })
			g.waitFor(1)
		}
		wantNext := func(within time.Duration) {
			t.Helper()
			began := time.Now()
			if got := <-g.began; len(got) != 1 || time.Since(began) != within {
				t.Errorf("the next batch is %v after %s, want one request after %s", got, time.Since(began), within)
			}
		}

		startTwo()
		wait()
		time.Sleep(time.Millisecond)
		g.proceed <- nil
		wantNext(g.options.MaxDelay - time.Millisecond)
		g.proceed <- nil
		g.proceed <- nil
		wg.Wait()

		startTwo()
		wait()
		g.proceed <- nil
		g.proceed <- nil // now none runs
		wantNext(0)
		g.proceed <- nil
		wg.Wait()

		startTwo()
		wait()
		time.Sleep(2 * g.options.MaxDelay)
		g.proceed <- nil // as many ran as may, longer than the call may wait
		wantNext(0)
		g.proceed <- nil
		g.proceed <- nil
		wg.Wait()
		g.wantIdle(t)
	})
}

func TestBatchHasAMaximumSize(t *testing.T) {
	t.Parallel()
	g := newGatedBatcher(Options{MaxDelay: time.Hour, MaxSize: 3, ParallelThreshold: 100})
	var wg sync.WaitGroup
	g.startFirst(t, &wg)
	for i := range 4 {
		wg.Go(func() { wantTenfold(t, g, 100+i) })
		g.waitFor(i + 1)
	}
	g.proceed <- nil
	second := <-g.began
	g.proceed <- nil
	third := <-g.began
	g.proceed <- nil
	wg.Wait()
	if len(second) != 3 || !slices.Equal(third, []int{103}) {
		t.Errorf("batches are %v and %v, want three requests and the one left", second, third)
	}
}

func TestCallerThatLeavesIsForgotten(t *testing.T) {
	t.Parallel()
	g := newGatedBatcher(patient)
	var wg sync.WaitGroup
	g.startFirst(t, &wg)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := g.Do(ctx, 7)
		left <- err
	}()
	g.waitFor(1)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left got %v", err)
	}
	g.proceed <- nil
	wg.Wait()
	g.wantIdle(t)
}

func TestCallerThatLeadsABatchFinishesIt(t *testing.T) {
	t.Parallel()
	g := newGatedBatcher(patient)
	var wg sync.WaitGroup
	g.startFirst(t, &wg)
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(func() { _, _ = g.Do(ctx, 8) })
	g.waitFor(1)
	wg.Go(func() { wantTenfold(t, g, 9) })
	g.waitFor(2)
	g.proceed <- nil
	if got := <-g.began; !slices.Equal(got, []int{8, 9}) {
		t.Errorf("the next batch is %v", got)
	}
	cancel()
	g.proceed <- nil
	wg.Wait()
	g.wantIdle(t)
}

func TestErrorOfABatchReachesEveryCall(t *testing.T) {
	t.Parallel()
	g := newGatedBatcher(patient)
	broken := errors.New("broken")
	var wg sync.WaitGroup
	g.startFirst(t, &wg)
	for i := range 3 {
		wg.Go(func() {
			if _, err := g.Do(t.Context(), 100+i); !errors.Is(err, broken) {
				t.Errorf("Do(%d): %v, want the batch's error", 100+i, err)
			}
		})
		g.waitFor(i + 1)
	}
	g.proceed <- nil
	<-g.began
	g.proceed <- broken
	wg.Wait()
	g.wantIdle(t)
}

func TestMaxAloneLimitsTheRequestsOfSplitBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGatedBatcher(Options{MaxDelay: time.Hour, SlowAfter: NeverSlow, MaxAlone: 2})
		var wg sync.WaitGroup
		g.startFirst(t, &wg)
		for i := range 5 {
			wg.Go(func() { wantTenfold(t, g, 100+i) })
			g.waitFor(i + 1)
		}
		g.proceed <- nil
		<-g.began
		g.proceed <- ErrSplit
		for left := 5; left > 0; left -= 2 {
			for range min(left, 2) {
				if alone := <-g.began; len(alone) != 1 {
					t.Errorf("after a split, %v ran together", alone)
				}
			}
			synctest.Wait()
			select {
			case third := <-g.began:
				t.Errorf("%v began while two requests of a split batch ran", third)
			default:
			}
			for range min(left, 2) {
				g.proceed <- nil
			}
		}
		wg.Wait()
		g.wantIdle(t)

		g.alone <- struct{}{}
		g.alone <- struct{}{}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := g.runAlone(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that left while it waited for its turn got %v", err)
		}
	})
}

func TestSplitBatchRunsItsRequestsAlone(t *testing.T) {
	t.Parallel()
	g := newGatedBatcher(patient)
	var wg sync.WaitGroup
	g.startFirst(t, &wg)
	for i := range 3 {
		wg.Go(func() { wantTenfold(t, g, 100+i) })
		g.waitFor(i + 1)
	}
	g.proceed <- nil
	<-g.began
	g.proceed <- ErrSplit
	// None of the three waits for another: all have begun before one proceeds.
	for range 3 {
		if alone := <-g.began; len(alone) != 1 {
			t.Errorf("after a split, %v ran together", alone)
		}
	}
	for range 3 {
		g.proceed <- nil
	}
	wg.Wait()
	g.wantIdle(t)
}

func TestParallelBatchesAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGatedBatcher(Options{})
		var wg sync.WaitGroup
		g.startFirst(t, &wg)
		for i := range g.options.MaxParallel - 1 {
			wg.Go(func() { wantTenfold(t, g, 100+i) })
			if got := <-g.began; !slices.Equal(got, []int{100 + i}) {
				t.Errorf("in parallel to a slow batch runs %v", got)
			}
		}
		wg.Go(func() { wantTenfold(t, g, 200) })
		time.Sleep(2 * g.options.MaxDelay)
		select {
		case got := <-g.began:
			t.Errorf("in parallel to %d batches runs %v", g.options.MaxParallel, got)
		default:
		}
		g.proceed <- nil
		<-g.began
		for range g.options.MaxParallel {
			g.proceed <- nil
		}
		wg.Wait()
		g.wantIdle(t)
	})
}

func TestCollectedCallsWaitForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGatedBatcher(Options{Collect: true, ParallelThreshold: 4})
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() { wantTenfold(t, g, 100+i) })
		}
		synctest.Wait()
		began := time.Now()
		if got := <-g.began; len(got) != 3 || time.Since(began) != g.options.MaxDelay {
			t.Errorf("the first batch is %v after %s, want three requests after %s", got, time.Since(began), g.options.MaxDelay)
		}
		g.proceed <- nil
		wg.Wait()
		for i := range 4 {
			wg.Go(func() { wantTenfold(t, g, 200+i) })
		}
		began = time.Now()
		if got := <-g.began; len(got) != 4 || time.Since(began) != 0 {
			t.Errorf("the second batch is %v after %s, want four requests at once", got, time.Since(began))
		}
		wg.Go(func() { wantTenfold(t, g, 300) })
		synctest.Wait()
		g.proceed <- nil
		synctest.Wait()
		wg.Go(func() { wantTenfold(t, g, 301) })
		began = time.Now()
		if got := <-g.began; len(got) != 2 || time.Since(began) != g.options.MaxDelay {
			t.Errorf("the third batch is %v after %s, want what arrived during the second and afterwards, after %s", got, time.Since(began), g.options.MaxDelay)
		}
		g.proceed <- nil
		wg.Wait()
		g.wantIdle(t)
	})
}

// Batches that wait for a lock do not use up the limit: however many there are,
// a later call is answered.
func TestStuckBatchesStopNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unlock := make(chan struct{})
		b := New(func(_ context.Context, requests []int) ([]int, error) {
			if requests[0] < 0 {
				<-unlock
			}
			return requests, nil
		}, Options{})
		var wg sync.WaitGroup
		for range 3 * b.options.MaxParallel {
			wg.Go(func() { _, _ = b.Do(t.Context(), -1) })
			time.Sleep(20 * b.options.MaxDelay)
		}
		began := time.Now()
		if _, err := b.Do(t.Context(), 1); err != nil || time.Since(began) > 0 {
			t.Errorf("a call next to stuck batches took %s, %v; want no delay", time.Since(began), err)
		}
		close(unlock)
		wg.Wait()
	})
}

func TestPanicStaysWithTheLeader(t *testing.T) {
	t.Parallel()
	testPanicStaysWithTheLeader(t, func([]int) []int { panic("too many") })
}

// A call without a response gets an error, not an empty response.
func TestMissingResponseIsAnError(t *testing.T) {
	t.Parallel()
	testPanicStaysWithTheLeader(t, func(requests []int) []int { return requests[:1] })
}

// testPanicStaysWithTheLeader runs a batch of two calls by broken.
func testPanicStaysWithTheLeader(t *testing.T, broken func(requests []int) []int) {
	t.Helper()
	began, proceed := make(chan struct{}), make(chan struct{})
	b := New(func(_ context.Context, requests []int) ([]int, error) {
		began <- struct{}{}
		<-proceed
		if len(requests) > 1 {
			requests = broken(requests)
		}
		return requests, nil
	}, patient)
	var wg sync.WaitGroup
	var panics, failures atomic.Int64
	for i := range 3 {
		wg.Go(func() {
			defer func() {
				if recover() != nil {
					panics.Add(1)
				}
			}()
			if _, err := b.Do(t.Context(), i); errors.Is(err, errLost) {
				failures.Add(1)
			}
		})
		if i == 0 {
			<-began
		}
	}
	b.waitFor(2)
	proceed <- struct{}{}
	<-began
	proceed <- struct{}{}
	wg.Wait()
	if panics.Load() != 1 || failures.Load() != 1 || len(b.running) != 0 {
		t.Errorf("%d panics, %d failures, %d batches run; want 1, 1 and 0", panics.Load(), failures.Load(), len(b.running))
	}
}

// Every call gets the response to its own request, whatever batch it is in.
func TestResponsesBelongToTheirRequests(t *testing.T) {
	t.Parallel()
	b := New(func(_ context.Context, requests []int) ([]int, error) {
		if len(requests) > 1 && requests[0]%7 == 0 {
			return nil, ErrSplit
		}
		out := make([]int, len(requests))
		for i, r := range requests {
			out[i] = -r
		}
		return out, nil
	}, Options{MaxSize: 5})
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for i := range 500 {
				n := worker*1000 + i
				if got, err := b.Do(t.Context(), n); err != nil || got != -n {
					t.Errorf("Do(%d) = %d, %v", n, got, err)
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkLoneCall measures what a call costs that shares its batch with none.
func BenchmarkLoneCall(b *testing.B) {
	batcher := New(func(_ context.Context, requests []int) ([]int, error) { return requests, nil }, Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := batcher.Do(b.Context(), 1); err != nil {
			b.Fatal(err)
		}
	}
}
