// Package batch runs calls that are made at the same time as one batch, so that
// they share a statement, a round trip or a commit. It knows nothing of what the
// calls do.
package batch

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

// ErrSplit is returned by a batch's function to say that the requests must not
// run together: one of them waits for a lock, or fails where the others would
// not. Each caller then runs its own request, alone and outside the batcher.
var ErrSplit = errors.New("the requests of this batch must run one by one")

var errLost = errors.New("the batch of this call ended without an answer")

// Options tune a Batcher. Zero values choose the defaults.
type Options struct {
	// MaxSize is the largest number of requests in one batch; 64 by default.
	MaxSize int
	// MaxParallel is how many batches that are not slow may run at once; 4 by default.
	MaxParallel int
	// SlowAfter is how long a batch runs before it is slow, and no longer counts against
	// MaxParallel: it may wait for a lock, which the others need not do. It is ten times
	// MaxDelay by default. Where no batch waits for a lock, NeverSlow keeps a slow
	// database from getting ever more batches at once.
	SlowAfter time.Duration
	// ParallelThreshold is how many waiting calls start a second batch while one
	// runs, so that the database has work during round trips; 8 by default.
	ParallelThreshold int
	// MaxDelay is how long a call waits before it starts a batch in parallel to
	// those that run; 5 ms by default.
	MaxDelay time.Duration
	// MaxAlone is how many requests of split batches may run at once; all by default, for
	// one that waits for a lock must not keep others back.
	MaxAlone int
	// Collect makes a call wait for MaxDelay or ParallelThreshold others also while
	// no batch runs, and after one has ended. It is meant for calls that nobody waits for.
	Collect bool
}

// NeverSlow is the SlowAfter of batches that always count.
const NeverSlow = time.Duration(math.MaxInt64)

// Batcher runs concurrent calls together. A call that arrives while no batch
// runs starts at once and alone. A call that arrives while one runs waits, and
// starts together with all others that wait: when no batch runs any more, when enough
// calls wait, or after a short delay. So a lone call costs nothing extra, and many
// calls cost less the more there are.
type Batcher[Request, Response any] struct {
	run     func(ctx context.Context, requests []Request) ([]Response, error)
	options Options
	alone   chan struct{} // semaphore of the requests that run alone; nil if all may

	mu      sync.Mutex
	running []*call[Request, Response] // the leader of every batch that runs
	waiting []*call[Request, Response]
	delay   *time.Timer // runs startDelayed; nil until a call waits
	// isOverdue means that a call has waited for MaxDelay, but that MaxParallel batches run.
	isOverdue bool
}

// call is one request on its way through a Batcher.
type call[Request, Response any] struct {
	request  Request
	response Response
	err      error
	done     chan struct{}              // nil for a call that never waited
	batch    []*call[Request, Response] // set in the leader, which runs the batch
	started  time.Time                  // set in the leader
}

// New returns a batcher that answers requests by run. Run receives at least one
// request and returns as many responses, in the same order, or an error for all
// of them. It must not return ErrSplit for a single request.
func New[Request, Response any](run func(context.Context, []Request) ([]Response, error), o Options) *Batcher[Request, Response] {
	o.MaxSize = cmp.Or(o.MaxSize, 64)
	o.MaxParallel = cmp.Or(o.MaxParallel, 4)
	o.ParallelThreshold = cmp.Or(o.ParallelThreshold, 8)
	o.MaxDelay = cmp.Or(o.MaxDelay, 5*time.Millisecond)
	o.SlowAfter = cmp.Or(o.SlowAfter, 10*o.MaxDelay)
	b := &Batcher[Request, Response]{run: run, options: o}
	if o.MaxAlone > 0 {
		b.alone = make(chan struct{}, o.MaxAlone)
	}
	return b
}

// Do returns the response to a request. A caller whose ctx ends is released at
// once, unless its goroutine runs the batch for others; a batch that has started
// is not cancelled.
func (b *Batcher[Request, Response]) Do(ctx context.Context, request Request) (Response, error) {
	own := &call[Request, Response]{request: request, err: errLost}
	if !b.enter(own) && !b.wait(ctx, own) {
		var none Response
		return none, ctx.Err()
	}
	if own.batch != nil {
		b.runBatch(context.WithoutCancel(ctx), own)
	}
	if errors.Is(own.err, ErrSplit) {
		return b.runAlone(ctx, request)
	}
	return own.response, own.err
}

func (b *Batcher[Request, Response]) runAlone(ctx context.Context, request Request) (Response, error) {
	var none Response
	if b.alone != nil {
		select {
		case b.alone <- struct{}{}:
			defer func() { <-b.alone }()
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
	responses, err := b.run(ctx, []Request{request})
	if err != nil {
		return none, err
	}
	return responses[0], nil
}

// enter reports whether the call starts a batch at once; otherwise it waits.
func (b *Batcher[Request, Response]) enter(own *call[Request, Response]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, own)
	running, manyWait := b.countNotSlow(), len(b.waiting) >= b.options.ParallelThreshold
	first := running == 0 && (manyWait || !b.options.Collect)
	second := running == 1 && manyWait && b.options.MaxParallel > 1
	if !first && !second {
		own.done = make(chan struct{})
		if len(b.waiting) == 1 {
			b.delayNext()
		}
		return false
	}
	b.startLedBy(own)
	return true
}

// wait returns once the call is answered or leads a batch; false if ctx ended.
func (b *Batcher[Request, Response]) wait(ctx context.Context, own *call[Request, Response]) bool {
	select {
	case <-own.done:
		return true
	case <-ctx.Done():
		return !b.leave(own)
	}
}

// leave withdraws a call whose context has ended. It reports whether the caller may
// return; otherwise its goroutine has to run a batch.
func (b *Batcher[Request, Response]) leave(own *call[Request, Response]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.waiting, own); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
		return true
	}
	return own.batch == nil
}

// startDelayed starts a batch of calls that have waited for long enough, if MaxParallel
// allows it. Otherwise it looks again when those that run may have become slow; one that
// ends starts the next batch sooner.
func (b *Batcher[Request, Response]) startDelayed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(b.waiting) == 0:
	case b.countNotSlow() < b.options.MaxParallel:
		close(b.startNext().done)
	default:
		b.isOverdue = true
		b.delay.Reset(b.options.SlowAfter)
	}
}

// countNotSlow counts the running batches that are not slow.
func (b *Batcher[Request, Response]) countNotSlow() int {
	n := 0
	for _, leader := range b.running {
		if time.Since(leader.started) < b.options.SlowAfter {
			n++
		}
	}
	return n
}

// startLedBy makes a batch of the calls that wait, led by own.
func (b *Batcher[Request, Response]) startLedBy(own *call[Request, Response]) {
	i := slices.Index(b.waiting, own)
	b.waiting = slices.Insert(slices.Delete(b.waiting, i, i+1), 0, own)
	b.startNext()
}

// startNext makes a batch of the calls that wait, led by the first of them.
func (b *Batcher[Request, Response]) startNext() *call[Request, Response] {
	n := min(len(b.waiting), b.options.MaxSize)
	leader := b.waiting[0]
	leader.batch, leader.started = slices.Clone(b.waiting[:n]), time.Now()
	b.waiting = slices.Delete(b.waiting, 0, n)
	b.running = append(b.running, leader)
	if len(b.waiting) > 0 {
		b.delayNext()
	}
	return leader
}

// delayNext has a batch started after MaxDelay, unless that happens sooner.
func (b *Batcher[Request, Response]) delayNext() {
	b.isOverdue = false
	if b.delay == nil {
		b.delay = time.AfterFunc(b.options.MaxDelay, b.startDelayed)
		return
	}
	b.delay.Reset(b.options.MaxDelay)
}

func (b *Batcher[Request, Response]) runBatch(ctx context.Context, leader *call[Request, Response]) {
	defer b.finish(leader)
	requests := make([]Request, len(leader.batch))
	for i, c := range leader.batch {
		requests[i] = c.request
	}
	responses, err := b.run(ctx, requests)
	for i, c := range leader.batch {
		if err == nil {
			c.response = responses[i]
		}
		c.err = err
	}
}

// finish releases the calls of a batch and starts the next one. While another batch runs,
// a few waiting calls go on waiting for more: without that, 16 clients provisioned a fifth
// fewer employees on PostgreSQL with the same processor time.
func (b *Batcher[Request, Response]) finish(leader *call[Request, Response]) {
	for _, c := range leader.batch[1:] {
		close(c.done)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running = slices.DeleteFunc(b.running, func(c *call[Request, Response]) bool { return c == leader })
	running, fewWait := b.countNotSlow(), len(b.waiting) < b.options.ParallelThreshold
	switch {
	case len(b.waiting) == 0 || running >= b.options.MaxParallel:
	case fewWait && b.options.Collect:
		b.delayNext()
	case fewWait && running > 0 && !b.isOverdue: // b.delay starts them
	default:
		close(b.startNext().done)
	}
}
