package service

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Work that starts together is done at once and then at the interval, but no longer at
// the same moments. A failed round changes nothing.
func TestPeriodicWorkDoesNotStayTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const kinds, rounds = 5, 4
		began := time.Now()
		var mu sync.Mutex
		var at [kinds][]time.Duration
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range kinds {
			wg.Go(func() {
				Periodic{Every: time.Second, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Do: func(context.Context) error {
					mu.Lock()
					defer mu.Unlock()
					at[i] = append(at[i], time.Since(began))
					return errors.New("failed")
				}}.Run(ctx)
			})
		}
		time.Sleep(rounds * time.Second)
		cancel()
		wg.Wait()
		var seconds []time.Duration
		for i, times := range at {
			if len(times) < rounds || times[0] != 0 || times[1] > time.Second {
				t.Fatalf("work %d was done at %v, want at once and then within each second", i, times)
			}
			for n, later := range times[2:] {
				if got := later - times[n+1]; got != time.Second {
					t.Errorf("work %d was done %s after the time before, want a second", i, got)
				}
			}
			seconds = append(seconds, times[1])
		}
		slices.Sort(seconds)
		if len(slices.Compact(seconds)) == 1 {
			t.Errorf("all work was done again at %s", seconds[0])
		}
	})
}
