package httpapi

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// deadline is a context that ends at a given time. It does what
// context.WithDeadline does, but starts the timer only when somebody first
// waits for the end. An answer from memory never does, and GET /courses is
// such an answer: it takes 7.6 µs and 19 allocations, with WithDeadline 8.2 µs
// and 22 (BenchmarkCourses of package publicapi).
type deadline struct {
	context.Context // of the request
	at              time.Time
	once            sync.Once
	running         atomic.Pointer[runningDeadline]
}

type runningDeadline struct {
	context.Context
	cancel context.CancelFunc
}

// finished is what a deadline becomes when it is cancelled before it was started.
var finished = func() *runningDeadline {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return &runningDeadline{ctx, cancel}
}()

func withDeadline(parent context.Context, at time.Time) *deadline {
	return &deadline{Context: parent, at: at}
}

func (d *deadline) Deadline() (time.Time, bool) {
	if parent, ok := d.Context.Deadline(); ok && parent.Before(d.at) {
		return parent, true
	}
	return d.at, true
}

func (d *deadline) Done() <-chan struct{} {
	d.once.Do(func() {
		ctx, cancel := context.WithDeadline(d.Context, d.at)
		d.running.Store(&runningDeadline{ctx, cancel})
	})
	return d.running.Load().Done()
}

func (d *deadline) Err() error {
	if running := d.running.Load(); running != nil {
		return running.Err()
	}
	if err := d.Context.Err(); err != nil {
		return err
	}
	if !time.Now().Before(d.at) {
		return context.DeadlineExceeded
	}
	return nil
}

// Value asks the started context, so that contexts made from this one find their
// parent in it and need no goroutine to follow it.
func (d *deadline) Value(key any) any {
	if running := d.running.Load(); running != nil && running != finished {
		return running.Value(key)
	}
	return d.Context.Value(key)
}

// cancel ends the context; it must be called when the request is answered.
func (d *deadline) cancel() {
	d.once.Do(func() { d.running.Store(finished) })
	d.running.Load().cancel()
}
