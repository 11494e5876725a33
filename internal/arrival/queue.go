// Package arrival bounds how many large request bodies arrive at once, or how many large
// answers leave. Without a bound, clients that begin bodies and never finish them fill
// the memory; with a plain one they keep everybody else out.
package arrival

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// relieveEvery is how often slots are taken from slow bodies while others wait.
const relieveEvery = 50 * time.Millisecond

// Queue hands out slots for bodies. If all are taken, the slowest bodies are cut off for
// those who wait. A free slot goes to the client that has the fewest.
type Queue struct {
	slots int
	grace time.Duration

	mu      sync.Mutex
	bodies  map[*Body]bool // that have a slot
	held    map[string]int // slots by client
	waiting []*Body        // in the order in which they came
	timer   *time.Timer    // runs relieve while somebody waits
}

// Body is the body of one request. Its fields belong to Queue.mu.
type Body struct {
	queue  *Queue
	client string
	cut    func()        // makes the reading of the body fail
	ready  chan struct{} // closed when the body has a slot

	began                time.Time
	isCut, isComplete    bool
	current, previous    int64 // bytes of this period of grace and of the one before
	currentPeriodStarted time.Time
}

// NewQueue returns a queue of so many slots. A body may keep its slot for the grace period,
// however slow it is.
func NewQueue(slots int, grace time.Duration) *Queue {
	return &Queue{slots: slots, grace: grace, bodies: map[*Body]bool{}, held: map[string]int{}}
}

// Enter waits for a slot for a body of the client. The function cut is called once if the
// slot is needed for others; it must not call the queue. If the context ends first, Enter
// returns the context's cause. The caller must call Leave.
func (q *Queue) Enter(ctx context.Context, client string, cut func()) (*Body, error) {
	b := &Body{queue: q, client: client, cut: cut, ready: make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, b)
	q.handOut()
	q.mu.Unlock()
	select {
	case <-b.ready:
		return b, nil
	case <-ctx.Done():
		b.Leave()
		return nil, context.Cause(ctx)
	}
}

// handOut fills the free slots with those who wait.
func (q *Queue) handOut() {
	for len(q.bodies) < q.slots && len(q.waiting) > 0 {
		b := slices.MinFunc(q.waiting, func(a, b *Body) int { return cmp.Compare(q.held[a.client], q.held[b.client]) })
		q.waiting = slices.DeleteFunc(q.waiting, func(other *Body) bool { return other == b })
		q.bodies[b] = true
		q.held[b.client]++
		b.began = time.Now()
		b.currentPeriodStarted = b.began
		close(b.ready)
	}
	if len(q.waiting) > 0 && q.timer == nil {
		q.timer = time.AfterFunc(relieveEvery, q.relieve)
	}
}

// relieve takes the slots of the slowest bodies, as many as are waited for.
func (q *Queue) relieve() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.timer = nil
	if len(q.waiting) == 0 {
		return
	}
	q.timer = time.AfterFunc(relieveEvery, q.relieve)
	now := time.Now()
	needed := len(q.waiting)
	var slow []*Body
	for b := range q.bodies {
		switch {
		case b.isCut:
			needed-- // its slot is about to be free
		case !b.isComplete && now.Sub(b.began) >= q.grace:
			b.turnPeriod(now)
			slow = append(slow, b)
		}
	}
	slices.SortFunc(slow, func(a, b *Body) int { return cmp.Compare(a.previous+a.current, b.previous+b.current) })
	for _, b := range slow[:min(max(needed, 0), len(slow))] {
		b.isCut = true
		b.cut()
	}
}

// turnPeriod begins a new period of grace if the current one has ended.
func (b *Body) turnPeriod(now time.Time) {
	switch passed := now.Sub(b.currentPeriodStarted); {
	case passed >= 2*b.queue.grace:
		b.previous, b.current, b.currentPeriodStarted = 0, 0, now
	case passed >= b.queue.grace:
		b.previous, b.current, b.currentPeriodStarted = b.current, 0, now
	}
}

// Receive counts bytes that arrived. It reports whether the body keeps its slot: a body that
// was cut off must not be used.
func (b *Body) Receive(n int) bool {
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	b.turnPeriod(time.Now())
	b.current += int64(n)
	return !b.isCut
}

// Complete ends the arrival: the body is not cut off any more. It reports whether it keeps
// its slot.
func (b *Body) Complete() bool {
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	b.isComplete = true
	return !b.isCut
}

// Leave ends the use of the slot, or the wait for one. It may be called more than once.
func (b *Body) Leave() {
	q := b.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bodies[b] {
		delete(q.bodies, b)
		if q.held[b.client]--; q.held[b.client] == 0 {
			delete(q.held, b.client)
		}
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(other *Body) bool { return other == b })
	q.handOut()
}

// Len returns how many bodies have a slot and how many wait for one.
func (q *Queue) Len() (bodies, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.bodies), len(q.waiting)
}
