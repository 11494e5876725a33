package service

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	// countedAtOnce is the number of assignments up to which a company's reports are
	// counted while its page waits.
	countedAtOnce = 20_000
	// countAge is how old an answer gets before it is counted again.
	countAge = 2 * time.Minute
	// countTimeout is how long one answer may take.
	countTimeout = 2 * time.Minute
	// countWorkers is how many answers are counted at once, for all companies.
	countWorkers = 2
	// maxCounts is how many answers are kept.
	maxCounts = 500
)

// Counted is the answer to a question. Pending means that it is still being counted
// and has no value yet.
type Counted[T any] struct {
	Value   T
	At      time.Time
	Pending bool
}

type countKey struct {
	company  int64
	report   domain.ReportKind
	question domain.ReportQuestion
}

// countEntry is an answer that is kept, or that is being counted.
type countEntry struct {
	answer  any // nil before the first count
	at      time.Time
	running bool
	err     error
}

// counter answers questions that take long to count: in the background, so that no
// page waits, and from memory while the answer is recent.
type counter struct {
	mu      sync.Mutex
	entries map[countKey]*countEntry
	queue   chan func(context.Context)
}

func newCounter() *counter {
	return &counter{entries: map[countKey]*countEntry{}, queue: make(chan func(context.Context), 64)}
}

// RunCounts counts what pages of large companies show, until ctx ends.
func (r *Reports) RunCounts(ctx context.Context, log *slog.Logger) {
	var wg sync.WaitGroup
	for range countWorkers {
		wg.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case count := <-r.counter.queue:
					guarded(ctx, log, count)
				}
			}
		})
	}
	wg.Wait()
}

// guarded runs one count. A panic ends only that count.
func guarded(ctx context.Context, log *slog.Logger, count func(context.Context)) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("a report could not be counted", "panic", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	count(ctx)
}

// ask returns the answer that is kept. If that is missing or old, it has the question
// counted again.
func (c *counter) ask(key countKey, now time.Time, count func(context.Context) (any, error)) (answer any, at time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		c.makeRoom()
		e = &countEntry{}
		c.entries[key] = e
	}
	if e.err != nil {
		delete(c.entries, key)
		return nil, now, e.err
	}
	if !e.running && (e.answer == nil || now.Sub(e.at) > countAge) {
		e.running = c.enqueue(e, now, count)
	}
	return e.answer, e.at, nil
}

// enqueue reports whether a worker will count the answer. If too many wait already,
// the page asks again later.
func (c *counter) enqueue(e *countEntry, now time.Time, count func(context.Context) (any, error)) bool {
	work := func(ctx context.Context) {
		defer func() { // also after a panic
			c.mu.Lock()
			e.running = false
			c.mu.Unlock()
		}()
		answer, err := count(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		if e.err = err; err == nil {
			e.answer, e.at = answer, now
		}
	}
	select {
	case c.queue <- work:
		return true
	default:
		return false
	}
}

// makeRoom forgets the oldest answer once there are too many.
func (c *counter) makeRoom() {
	if len(c.entries) < maxCounts {
		return
	}
	var oldest countKey
	var at time.Time
	for key, e := range c.entries {
		if !e.running && (at.IsZero() || e.at.Before(at)) {
			oldest, at = key, e.at
		}
	}
	delete(c.entries, oldest)
}

// counted answers a question at once if the company is small, otherwise as the
// counter does.
func counted[T any](ctx context.Context, r *Reports, key countKey, count func(context.Context) (T, error)) (Counted[T], error) {
	now := r.store.Now()
	totals, err := r.store.AssignmentTotals(ctx, key.company)
	if err != nil {
		return Counted[T]{}, err
	}
	company := totals.Company()
	if company.Count() <= countedAtOnce {
		value, err := count(ctx)
		return Counted[T]{Value: value, At: now}, err
	}
	answer, at, err := r.counter.ask(key, now, func(ctx context.Context) (any, error) { return count(ctx) })
	if err != nil {
		return Counted[T]{}, err
	}
	value, ok := answer.(T)
	return Counted[T]{Value: value, At: at, Pending: !ok}, nil
}
