// Package transfer bounds how many large transfers a server holds in memory at once: request
// bodies that arrive or answers that leave. Without a bound, clients that begin transfers and
// never finish them fill the memory; with a plain one they keep everybody else out.
package transfer

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// relieveEvery is how often slots are taken from slow transfers while others wait.
const relieveEvery = 50 * time.Millisecond

// Queue hands out slots for transfers. If all are taken, the slowest transfers are cut off for
// those who wait. A free slot goes to the client that has the fewest.
type Queue struct {
	size  int
	grace time.Duration

	mu      sync.Mutex
	taken   map[*Slot]bool // the slots that are in use
	held    map[string]int // their number by client
	waiting []*Slot        // the slots that are waited for, in the order of the requests
	timer   *time.Timer    // runs relieve while somebody waits
}

// Slot is the place of one transfer. Its fields belong to Queue.mu.
type Slot struct {
	queue  *Queue
	client string
	cut    func()        // makes the transfer fail
	ready  chan struct{} // closed when the transfer may begin

	began                time.Time
	isCut, isComplete    bool
	current, previous    int64 // bytes of this period of grace and of the one before
	currentPeriodStarted time.Time
}

// NewQueue returns a queue of so many slots. A transfer may keep its slot for the grace period,
// however slow it is.
func NewQueue(size int, grace time.Duration) *Queue {
	return &Queue{size: size, grace: grace, taken: map[*Slot]bool{}, held: map[string]int{}}
}

// Enter waits for a slot for a transfer of the client. The function cut is called once if the
// slot is needed for others; it must not call the queue. If the context ends first, Enter
// returns the context's cause. If Enter succeeds, the caller must call Leave.
func (q *Queue) Enter(ctx context.Context, client string, cut func()) (*Slot, error) {
	s := &Slot{queue: q, client: client, cut: cut, ready: make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, s)
	q.handOut()
	q.mu.Unlock()
	select {
	case <-s.ready:
		return s, nil
	case <-ctx.Done():
		s.Leave()
		return nil, context.Cause(ctx)
	}
}

// handOut assigns the free slots to those who wait.
func (q *Queue) handOut() {
	for len(q.taken) < q.size && len(q.waiting) > 0 {
		s := slices.MinFunc(q.waiting, func(a, b *Slot) int { return cmp.Compare(q.held[a.client], q.held[b.client]) })
		q.waiting = slices.DeleteFunc(q.waiting, func(other *Slot) bool { return other == s })
		q.taken[s] = true
		q.held[s.client]++
		s.began = time.Now()
		s.currentPeriodStarted = s.began
		close(s.ready)
	}
	if len(q.waiting) > 0 && q.timer == nil {
		q.timer = time.AfterFunc(relieveEvery, q.relieve)
	}
}

// relieve takes the slots of the slowest transfers, as many as are waited for. Of transfers
// that are equally slow, such as those whose bytes nobody counts, the oldest is the first.
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
	var candidates []*Slot
	for s := range q.taken {
		switch {
		case s.isCut:
			needed-- // it is about to be free
		case !s.isComplete && now.Sub(s.began) >= q.grace:
			s.turnPeriod(now)
			candidates = append(candidates, s)
		}
	}
	slices.SortFunc(candidates, func(a, b *Slot) int {
		return cmp.Or(cmp.Compare(a.recentBytes(now), b.recentBytes(now)), a.began.Compare(b.began))
	})
	for _, s := range candidates[:min(max(needed, 0), len(candidates))] {
		s.isCut = true
		s.cut()
	}
}

// recentBytes returns about how many bytes were transferred in the last period of grace. The
// slots begin their periods at different times; that the previous period counts with the part
// that lies less than one period back makes them comparable.
func (s *Slot) recentBytes(now time.Time) float64 {
	grace := s.queue.grace
	overlap := float64(max(0, grace-now.Sub(s.currentPeriodStarted))) / float64(max(grace, 1))
	return float64(s.current) + float64(s.previous)*overlap
}

// turnPeriod begins a new period of grace if the current one has ended.
func (s *Slot) turnPeriod(now time.Time) {
	switch passed := now.Sub(s.currentPeriodStarted); {
	case passed >= 2*s.queue.grace:
		s.previous, s.current, s.currentPeriodStarted = 0, 0, now
	case passed >= s.queue.grace:
		s.previous, s.current, s.currentPeriodStarted = s.current, 0, now
	}
}

// Count counts bytes that were transferred. It reports whether the transfer keeps its slot: one
// that was cut off must not go on.
func (s *Slot) Count(n int) bool {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	s.turnPeriod(time.Now())
	s.current += int64(n)
	return !s.isCut
}

// Complete ends the transfer: it is not cut off any more, and has its slot until Leave. It
// reports whether it keeps its slot.
func (s *Slot) Complete() bool {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	s.isComplete = true
	return !s.isCut
}

// Leave ends the use of the slot, or the wait for one. It may be called more than once.
func (s *Slot) Leave() {
	q := s.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken[s] {
		delete(q.taken, s)
		if q.held[s.client]--; q.held[s.client] == 0 {
			delete(q.held, s.client)
		}
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(other *Slot) bool { return other == s })
	q.handOut()
}

// Len returns how many slots are in use and how many are waited for.
func (q *Queue) Len() (taken, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.taken), len(q.waiting)
}
