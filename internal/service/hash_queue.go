package service

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	// maxHashesWaiting is how many sign-ins of each class wait for their turn. A hash
	// takes about a tenth of a second, so the last one waits less than a second.
	maxHashesWaiting = 8
	// maxHashWait bounds the wait on a machine that is slower than that.
	maxHashWait = 5 * time.Second
)

// hashQueue lets a limited number of password hashes run at once, because each of
// them takes much memory. Sign-ins from devices and addresses that have signed in
// before go first, and the queue of each class is short: a flood of strangers is
// refused at once instead of making everybody wait.
type hashQueue struct {
	mu      sync.Mutex
	free    int
	waiting [2][]chan struct{} // strangers, then those known
}

func newHashQueue(slots int) *hashQueue { return &hashQueue{free: slots} }

// isFull reports whether acquire would refuse a sign-in of the class at once.
func (q *hashQueue) isFull(known bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.free == 0 && len(q.waiting[queueClass(known)]) >= maxHashesWaiting
}

// queueClass returns the index of a class in waiting.
func queueClass(known bool) int {
	if known {
		return 1
	}
	return 0
}

// acquire waits for a slot, to be returned with release. Codes: unavailable.
func (q *hashQueue) acquire(ctx context.Context, known bool) error {
	class := queueClass(known)
	q.mu.Lock()
	if q.free > 0 {
		q.free--
		q.mu.Unlock()
		return nil
	}
	if len(q.waiting[class]) >= maxHashesWaiting {
		q.mu.Unlock()
		return domain.ErrSignInBusy
	}
	turn := make(chan struct{})
	q.waiting[class] = append(q.waiting[class], turn)
	q.mu.Unlock()

	timer := time.NewTimer(maxHashWait)
	defer timer.Stop()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		return q.abandon(class, turn, ctx.Err())
	case <-timer.C:
		return q.abandon(class, turn, domain.ErrSignInBusy)
	}
}

// abandon leaves the queue and returns err. A turn that came in the meantime goes
// to the next one.
func (q *hashQueue) abandon(class int, turn chan struct{}, err error) error {
	q.mu.Lock()
	if i := slices.Index(q.waiting[class], turn); i >= 0 {
		q.waiting[class] = slices.Delete(q.waiting[class], i, i+1)
		q.mu.Unlock()
		return err
	}
	q.mu.Unlock()
	q.release()
	return err
}

// release hands the slot to the next sign-in, those known first.
func (q *hashQueue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for class := len(q.waiting) - 1; class >= 0; class-- {
		if len(q.waiting[class]) > 0 {
			close(q.waiting[class][0])
			q.waiting[class] = q.waiting[class][1:]
			return
		}
	}
	q.free++
}
