package arrival

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

const grace = time.Second

// enter takes a slot for a body that leaves when it is cut off.
func enter(t *testing.T, q *Queue, client string) *Body {
	t.Helper()
	isCut := make(chan struct{})
	b, err := q.Enter(t.Context(), client, func() { close(isCut) })
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		select {
		case <-isCut:
			b.Leave()
		case <-t.Context().Done():
		}
	}()
	return b
}

func TestSlowestBodyIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(3, grace)
		complete, quick, slow := enter(t, q, "a"), enter(t, q, "b"), enter(t, q, "c")
		if !complete.Complete() {
			t.Error("a body is cut off though nobody waits")
		}
		time.Sleep(time.Hour)
		if !quick.Receive(1000) || !slow.Receive(10) {
			t.Error("a slow body is cut off though nobody waits")
		}
		next := enter(t, q, "d")
		if slow.Receive(1) || !quick.Receive(1) || !complete.Complete() {
			t.Error("not exactly the slowest body was cut off")
		}
		for _, b := range []*Body{complete, quick, next, next} {
			b.Leave()
		}
		if bodies, waiting := q.Len(); bodies != 0 || waiting != 0 {
			t.Errorf("%d bodies have a slot and %d wait, want none", bodies, waiting)
		}
	})
}

// A body that was cut off may take its time to notice. Others are cut off meanwhile if
// more are waited for.
func TestAsManyAreCutOffAsAreWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(4, grace)
		var stalled []*Body
		for range 4 {
			b, _ := q.Enter(t.Context(), "stalled", func() {})
			stalled = append(stalled, b)
		}
		cutOff := func() (cut []*Body) {
			for _, b := range stalled {
				if !b.Receive(0) {
					cut = append(cut, b)
				}
			}
			return cut
		}
		for range 2 {
			go func() { _, _ = q.Enter(t.Context(), "other", func() {}) }()
		}
		time.Sleep(grace - 1)
		if n := len(cutOff()); n != 0 {
			t.Errorf("%d bodies were cut off within the grace period", n)
		}
		time.Sleep(grace)
		if n := len(cutOff()); n != 2 {
			t.Errorf("%d bodies were cut off for two who wait", n)
		}
		for _, b := range cutOff() {
			b.Leave()
		}
		synctest.Wait()
		if bodies, waiting := q.Len(); bodies != 4 || waiting != 0 {
			t.Errorf("%d bodies have a slot and %d wait", bodies, waiting)
		}
	})
}

// Hundreds of stalled bodies of one client do not delay another one's beyond the first
// slot that becomes free.
func TestAnotherClientIsNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(4, grace)
		for range 600 {
			go func() {
				isCut := make(chan struct{})
				b, err := q.Enter(t.Context(), "attacker", func() { close(isCut) })
				if err != nil {
					return
				}
				select {
				case <-isCut:
				case <-t.Context().Done():
				}
				b.Leave()
			}()
		}
		synctest.Wait()
		began := time.Now()
		enter(t, q, "other").Leave()
		if waited := time.Since(began); waited > grace+2*relieveEvery {
			t.Errorf("the other client waited %v", waited)
		}
	})
}

func TestWaitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, grace)
		b := enter(t, q, "a")
		b.Complete()
		busy := errors.New("busy")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, busy)
		defer cancel()
		if _, err := q.Enter(ctx, "b", nil); !errors.Is(err, busy) {
			t.Errorf("got %v, want the cause of the context's end", err)
		}
		if bodies, waiting := q.Len(); bodies != 1 || waiting != 0 {
			t.Errorf("%d bodies have a slot and %d wait", bodies, waiting)
		}
		b.Leave()
	})
}
