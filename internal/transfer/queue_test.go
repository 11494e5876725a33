package transfer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

const grace = time.Second

// enter takes a slot for a transfer that leaves when it is cut off.
func enter(t *testing.T, q *Queue, client string) *Slot {
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

func TestSlowestTransferIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(3, grace)
		complete, quick, slow := enter(t, q, "a"), enter(t, q, "b"), enter(t, q, "c")
		if !complete.Complete() {
			t.Error("a transfer is cut off though nobody waits")
		}
		time.Sleep(time.Hour)
		if !quick.Count(1000) || !slow.Count(10) {
			t.Error("a slow transfer is cut off though nobody waits")
		}
		next := enter(t, q, "d")
		if slow.Count(1) || !quick.Count(1) || !complete.Complete() {
			t.Error("not exactly the slowest transfer was cut off")
		}
		for _, b := range []*Slot{complete, quick, next, next} {
			b.Leave()
		}
		if taken, waiting := q.Len(); taken != 0 || waiting != 0 {
			t.Errorf("%d transfers have a slot and %d wait, want none", taken, waiting)
		}
	})
}

// A transfer that was cut off may take its time to notice. Others are cut off meanwhile if
// more are waited for.
func TestAsManyAreCutOffAsAreWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(4, grace)
		var stalled []*Slot
		for range 4 {
			b, _ := q.Enter(t.Context(), "stalled", func() {})
			stalled = append(stalled, b)
		}
		cutOff := func() (cut []*Slot) {
			for _, b := range stalled {
				if !b.Count(0) {
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
			t.Errorf("%d transfers were cut off within the grace period", n)
		}
		time.Sleep(grace)
		if n := len(cutOff()); n != 2 {
			t.Errorf("%d transfers were cut off for two who wait", n)
		}
		for _, b := range cutOff() {
			b.Leave()
		}
		synctest.Wait()
		if taken, waiting := q.Len(); taken != 4 || waiting != 0 {
			t.Errorf("%d transfers have a slot and %d wait", taken, waiting)
		}
	})
}

// A slot's period of grace may have just begun while another one's is about to end. What
// counts is what each transferred in the same time.
func TestFasterTransferKeepsItsSlotWhenItsPeriodBegins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(2, grace)
		slow := enter(t, q, "slow")
		time.Sleep(50 * time.Millisecond)
		drip := func(times int, slots map[*Slot]int) {
			for range times {
				for s, n := range slots {
					s.Count(n)
				}
				time.Sleep(grace / 10)
			}
		}
		drip(9, map[*Slot]int{slow: 10})
		fast := enter(t, q, "fast")
		drip(20, map[*Slot]int{slow: 10, fast: 15})
		enter(t, q, "next")
		if slow.Count(0) || !fast.Count(0) {
			t.Error("the faster transfer was cut off, not the slower one")
		}
	})
}

// Nobody counts the bytes of answers, so all of them look equally slow.
func TestOldestOfEquallySlowTransfersIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(16, grace)
		oldest := enter(t, q, "a")
		var others []*Slot
		for range 15 {
			time.Sleep(time.Millisecond)
			others = append(others, enter(t, q, "a"))
		}
		time.Sleep(10 * grace)
		enter(t, q, "b")
		if oldest.Count(0) {
			t.Error("the oldest transfer was not cut off")
		}
		for i, s := range others {
			if !s.Count(0) {
				t.Errorf("transfer %d was cut off, want only the oldest", i+1)
			}
		}
	})
}

// Hundreds of stalled transfers of one client do not delay another one's beyond the first
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
		if taken, waiting := q.Len(); taken != 1 || waiting != 0 {
			t.Errorf("%d transfers have a slot and %d wait", taken, waiting)
		}
		b.Leave()
	})
}
