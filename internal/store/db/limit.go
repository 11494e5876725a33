package db

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Limit bounds how many calls with the same key run at once. The others wait, for
// a bounded time.
type Limit struct {
	max  int
	wait time.Duration

	mu    sync.Mutex
	slots map[int64]*keySlots
}

// keySlots holds one token per running call. users counts the running and the
// waiting ones; without any, the slots are dropped.
type keySlots struct {
	running chan struct{}
	users   int
}

// NewLimit returns a limit of max calls per key that others wait for.
func NewLimit(most int, wait time.Duration) *Limit {
	return &Limit{max: max(most, 1), wait: wait, slots: map[int64]*keySlots{}}
}

// Acquire waits until a call with the key may run. It fails with ErrUnavailable if
// that takes too long. The caller must call release when it is done.
func (l *Limit) Acquire(ctx context.Context, key int64) (release func(), err error) {
	s := l.enter(key)
	select {
	case s.running <- struct{}{}:
	default:
		timer := time.NewTimer(l.wait)
		defer timer.Stop()
		select {
		case s.running <- struct{}{}:
		case <-ctx.Done():
			l.leave(key, s)
			return nil, ctx.Err()
		case <-timer.C:
			l.leave(key, s)
			return nil, fmt.Errorf("%w: %d calls of the same kind have run for %s", ErrUnavailable, l.max, l.wait)
		}
	}
	return l.release(key, s), nil
}

// TryAcquire is Acquire for a call that does not wait. It reports whether the call may run.
func (l *Limit) TryAcquire(key int64) (release func(), ok bool) {
	s := l.enter(key)
	select {
	case s.running <- struct{}{}:
		return l.release(key, s), true
	default:
		l.leave(key, s)
		return nil, false
	}
}

func (l *Limit) release(key int64, s *keySlots) func() {
	return func() {
		<-s.running
		l.leave(key, s)
	}
}

// IsUsedUp reports whether a call with the key would have to wait now.
func (l *Limit) IsUsedUp(key int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.slots[key]
	return s != nil && len(s.running) == cap(s.running)
}

// IsAnyUsedUp reports whether a call with any of the keys would have to wait now.
func (l *Limit) IsAnyUsedUp() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.slots {
		if len(s.running) == cap(s.running) {
			return true
		}
	}
	return false
}

func (l *Limit) enter(key int64) *keySlots {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.slots[key]
	if s == nil {
		s = &keySlots{running: make(chan struct{}, l.max)}
		l.slots[key] = s
	}
	s.users++
	return s
}

func (l *Limit) leave(key int64, s *keySlots) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(l.slots, key)
	}
}
