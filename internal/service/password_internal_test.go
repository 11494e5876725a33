package service

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

var cheapCost = PasswordCost{Memory: 64, Passes: 1, Threads: 1}

func TestHasher(t *testing.T) {
	t.Parallel()
	h := newHasher(cheapCost, 0)
	stored, err := h.hash(t.Context(), "caf\u00e9 at the corner")
	if err != nil {
		t.Fatal(err)
	}
	other, err := h.hash(t.Context(), "caf\u00e9 at the corner")
	if err != nil || other == stored {
		t.Errorf("two hashes of one password are the same, %v", err)
	}
	for password, want := range map[string]bool{"caf\u00e9 at the corner": true, "cafe\u0301 at the corner": true, "cafe at the corner": false, "": false} {
		if ok, stale, err := h.verify(t.Context(), stored, password, false); ok != want || stale || err != nil {
			t.Errorf("%q: %v, %v, %v", password, ok, stale, err)
		}
	}
	for _, bad := range []string{
		"x", strings.Replace(stored, "argon2id", "argon2i", 1), strings.Replace(stored, "v=19", "v=16", 1), strings.Replace(stored, "m=64", "m=9999999", 1),
		strings.Replace(stored, "t=1", "t=0", 1), strings.Replace(stored, "p=1", "p=x", 1), stored[:len(stored)-4], stored + "$",
	} {
		if _, _, err := h.verify(t.Context(), bad, "x", false); !errors.Is(err, errUnreadableHash) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Where there is no hash, one is made all the same: with every place taken it
// waits like any other.
func TestMissingHashCostsTheSame(t *testing.T) {
	t.Parallel()
	h := newHasher(cheapCost, 0)
	if ok, _, err := h.verify(t.Context(), "", "", false); ok || err != nil {
		t.Errorf("without a hash: %v, %v", ok, err)
	}
	takeAllSlots(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := h.verify(ctx, "", "x", false); !errors.Is(err, context.Canceled) {
		t.Errorf("without a hash nothing was computed: %v", err)
	}
}

func takeAllSlots(t *testing.T, h *hasher) {
	t.Helper()
	for range maxParallelHashes {
		if err := h.queue.acquire(t.Context(), false); err != nil {
			t.Fatalf("take a free slot: %v", err)
		}
	}
}

// TestHashQueueShedsEarly floods the queue with strangers: those beyond the short
// queue are refused at once, the rest after maxHashWait, and someone known goes
// before all of them.
func TestHashQueueShedsEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(cheapCost, 0)
		takeAllSlots(t, h)
		const strangers = 150
		began := time.Now()
		var order sync.Mutex
		var served []string
		refused := map[time.Duration]int{}
		var all sync.WaitGroup
		try := func(name string, known bool) {
			err := h.queue.acquire(t.Context(), known)
			order.Lock()
			defer order.Unlock()
			if err == nil {
				served = append(served, name)
				return
			}
			if !errors.Is(err, domain.ErrSignInBusy) {
				t.Errorf("a refused sign-in: %v, want %v", err, domain.ErrSignInBusy)
			}
			refused[time.Since(began)]++
		}
		for range strangers {
			all.Go(func() { try("stranger", false) })
		}
		synctest.Wait()
		all.Go(func() { try("known", true) })
		synctest.Wait()
		h.queue.release()
		synctest.Wait()
		h.queue.release()
		all.Wait()
		if diff := cmp.Diff([]string{"known", "stranger"}, served); diff != "" {
			t.Errorf("order of service (-want +got):\n%s", diff)
		}
		want := map[time.Duration]int{0: strangers - maxHashesWaiting, maxHashWait: maxHashesWaiting - 1}
		if diff := cmp.Diff(want, refused); diff != "" {
			t.Errorf("refusals by the time waited (-want +got):\n%s", diff)
		}
		h.queue.release()
		h.queue.release()
		takeAllSlots(t, h)
	})
}

// busyStore knows nobody; every other call fails the test, because it has no store.
type busyStore struct{ SignInStore }

func (busyStore) KnowsAddress(context.Context, string) (bool, error) { return false, nil }

// While the queue of strangers is full, another one is refused before anything is
// written: a flood of sign-ins must not occupy the one writer of SQLite.
func TestSignInsBeyondTheQueueWriteNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewSignIn(busyStore{}, nil, SignInOptions{Cost: cheapCost})
		takeAllSlots(t, s.hasher)
		var all sync.WaitGroup
		for range maxHashesWaiting {
			all.Go(func() { _ = s.hasher.queue.acquire(t.Context(), false) }) // they are refused in the end
		}
		synctest.Wait()
		from := Origin{Address: netip.MustParseAddr("198.51.100.7")}
		if _, err := s.Password(t.Context(), "somebody@x.example", "a wrong password", from); !errors.Is(err, domain.ErrSignInBusy) {
			t.Errorf("a sign-in beyond the queue: %v, want %v", err, domain.ErrSignInBusy)
		}
		all.Wait()
	})
}

// TestHashMemoryIsBounded runs 150 sign-ins at once at the real cost. It does not
// run in parallel with other tests, because it looks at the whole heap.
func TestHashMemoryIsBounded(t *testing.T) { //nolint:paralleltest // It measures the whole heap.
	for _, limit := range []struct {
		name  string
		bytes int64
		slots uint64
	}{{"unlimited", 0, 2}, {"256 MiB", 256 << 20, 1}} {
		t.Run(limit.name, func(t *testing.T) {
			h := newHasher(PasswordCost{}, limit.bytes)
			runtime.GC()
			before := heapBytes()
			var peak atomic.Uint64
			done, watched := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(watched)
				for {
					select {
					case <-done:
						return
					default:
						peak.Store(max(peak.Load(), heapBytes()))
						runtime.Gosched()
					}
				}
			}()
			var all sync.WaitGroup
			for range 150 {
				all.Go(func() {
					if _, _, err := h.verify(t.Context(), "", "a wrong password", false); err != nil && !errors.Is(err, domain.ErrSignInBusy) {
						t.Errorf("verify: %v", err)
					}
				})
			}
			all.Wait()
			close(done)
			<-watched
			const slack = 16 << 20
			bound := limit.slots*uint64(DefaultPasswordCost.Memory)<<10 + slack
			if grown := peak.Load() - before; grown > bound {
				t.Errorf("150 sign-ins at once took %d MiB, want at most %d", grown>>20, bound>>20)
			}
		})
	}
}

// heapBytes returns what live and not yet collected objects take.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func BenchmarkPasswordHash(b *testing.B) {
	h := newHasher(PasswordCost{}, 0)
	for b.Loop() {
		if _, err := h.hash(b.Context(), "violet tram engine"); err != nil {
			b.Fatal(err)
		}
	}
}
