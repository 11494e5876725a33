package store

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// held is a gather whose groups wait to be let go.
type held struct {
	gather[int, int]
	began chan []int
	let   chan error
}

func newHeld() *held {
	h := &held{began: make(chan []int), let: make(chan error)}
	h.slow = time.Hour
	h.answer = func(ctx context.Context, questions []int) ([]int, error) {
		h.began <- slices.Clone(questions)
		if err := <-h.let; err != nil {
			return nil, err
		}
		for i := range questions {
			questions[i] *= 10
		}
		return questions, ctx.Err()
	}
	return h
}

// waits returns once n callers wait.
func (g *gather[Q, A]) waits(n int) {
	for {
		g.mu.Lock()
		got := len(g.waiting)
		g.mu.Unlock()
		if got == n {
			return
		}
		runtime.Gosched()
	}
}

// fill begins a group.
func (h *held) fill(t *testing.T, wg *sync.WaitGroup) {
	wg.Go(func() { wantAnswer(t, h, 1) })
	if got := <-h.began; !slices.Equal(got, []int{1}) {
		t.Errorf("the first group is %v, want 1 alone", got)
	}
}

func wantAnswer(t *testing.T, h *held, q int) {
	t.Helper()
	if got, err := h.ask(t.Context(), q); err != nil || got != 10*q {
		t.Errorf("ask(%d) = %d, %v", q, got, err)
	}
}

func TestGatherAsksForAllWhoWait(t *testing.T) {
	t.Parallel()
	h := newHeld()
	var wg sync.WaitGroup
	h.fill(t, &wg)
	for i := range 5 {
		wg.Go(func() { wantAnswer(t, h, 100+i) })
		h.waits(i + 1)
	}
	h.let <- nil
	if got := <-h.began; !slices.Equal(got, []int{100, 101, 102, 103, 104}) {
		t.Errorf("the next group is %v", got)
	}
	h.let <- nil
	wg.Wait()
	if h.running != 0 || len(h.waiting) != 0 {
		t.Errorf("%d groups are under way, %d wait", h.running, len(h.waiting))
	}
}

// Those who are enough go beside the group that is under way, and no group is too
// large.
func TestGatherIsNotTooLarge(t *testing.T) {
	t.Parallel()
	h := newHeld()
	var wg sync.WaitGroup
	h.fill(t, &wg)
	for i := range enough {
		wg.Go(func() { wantAnswer(t, h, 100+i) })
		if i < enough-1 {
			h.waits(i + 1)
		}
	}
	if beside := <-h.began; len(beside) != enough {
		t.Errorf("beside the first group goes %v", beside)
	}
	for i := range maxGroup + 1 {
		wg.Go(func() { wantAnswer(t, h, 100+i) })
		h.waits(i + 1)
	}
	h.let <- nil
	first := <-h.began
	h.let <- nil
	second := <-h.began
	h.let <- nil
	h.let <- nil
	wg.Wait()
	if len(first) != maxGroup || !slices.Equal(second, []int{100 + maxGroup}) {
		t.Errorf("groups of %d and %v", len(first), second)
	}
}

// Who leaves is not asked for any more; who leaves while it is their turn to ask
// for others does so first.
func TestGatherIsLeft(t *testing.T) {
	t.Parallel()
	h := newHeld()
	var wg sync.WaitGroup
	h.fill(t, &wg)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := h.ask(ctx, 7)
		left <- err
	}()
	h.waits(1)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}

	ctx, cancel = context.WithCancel(t.Context())
	go func() {
		_, err := h.ask(ctx, 8)
		left <- err
	}()
	h.waits(1)
	wg.Go(func() { wantAnswer(t, h, 9) })
	h.waits(2)
	h.let <- nil
	if got := <-h.began; !slices.Equal(got, []int{8, 9}) {
		t.Errorf("the next group is %v", got)
	}
	cancel()
	h.let <- nil
	<-left
	wg.Wait()
	if h.running != 0 {
		t.Errorf("%d groups are under way", h.running)
	}
}

func TestGatherFails(t *testing.T) {
	t.Parallel()
	h := newHeld()
	broken := errors.New("broken")
	var wg sync.WaitGroup
	h.fill(t, &wg)
	for i := range 3 {
		wg.Go(func() {
			if _, err := h.ask(t.Context(), 100+i); !errors.Is(err, broken) {
				t.Errorf("ask(%d): %v", 100+i, err)
			}
		})
		h.waits(i + 1)
	}
	h.let <- nil
	<-h.began
	h.let <- broken
	wg.Wait()
}

// A group that is slow keeps nobody waiting for long, up to a number of them.
func TestGatherOvertakes(t *testing.T) {
	t.Parallel()
	h := newHeld()
	h.slow = time.Millisecond
	var wg sync.WaitGroup
	h.fill(t, &wg)
	for i := range maxGroups - 1 {
		wg.Go(func() { wantAnswer(t, h, 100+i) })
		if got := <-h.began; !slices.Equal(got, []int{100 + i}) {
			t.Errorf("beside a slow group goes %v", got)
		}
	}
	wg.Go(func() { wantAnswer(t, h, 200) })
	h.waits(1)
	select {
	case got := <-h.began:
		t.Errorf("beside %d slow groups goes %v", maxGroups, got)
	case <-time.After(20 * h.slow):
	}
	h.let <- nil
	<-h.began // the one that waited
	for range maxGroups {
		h.let <- nil
	}
	wg.Wait()
	if h.running != 0 {
		t.Errorf("%d groups are under way", h.running)
	}
}

// A panic is the caller's whose turn it was; others are told, and the next go on.
func TestGatherPanics(t *testing.T) {
	t.Parallel()
	g := gather[int, int]{slow: time.Hour}
	began, let := make(chan struct{}), make(chan struct{})
	g.answer = func(_ context.Context, questions []int) ([]int, error) {
		began <- struct{}{}
		<-let
		if len(questions) > 1 {
			panic("too many")
		}
		return questions, nil
	}
	var wg sync.WaitGroup
	var panics, failures sync.Map
	for i := range 3 {
		wg.Go(func() {
			defer func() {
				if recover() != nil {
					panics.Store(i, true)
				}
			}()
			if _, err := g.ask(t.Context(), i); errors.Is(err, errUnanswered) {
				failures.Store(i, true)
			}
		})
		if i == 0 {
			<-began
		}
	}
	g.waits(2)
	let <- struct{}{}
	<-began
	let <- struct{}{}
	wg.Wait()
	if size(&panics) != 1 || size(&failures) != 1 || g.running != 0 {
		t.Errorf("%d panics, %d failures, %d groups under way; want 1, 1, 0", size(&panics), size(&failures), g.running)
	}
}

func size(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}
