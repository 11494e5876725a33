package server

import (
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A file is sent at half of its pace while short requests are under way, and at its own
// pace without them.
func TestFilesGiveWayToShortRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const part, parts = 64 << 10, 104
		goOn := make(chan struct{})
		h := newTestHandler(t, io.Discard,
			Mount{Prefix: "/file", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for range parts {
					time.Sleep(10 * time.Millisecond)
					_, _ = w.Write(make([]byte, part))
				}
			})},
			Mount{Prefix: "/short", Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-goOn })})
		download := func() time.Duration {
			began := time.Now()
			if n := get(h, "/file").Body.Len(); n != part*parts {
				t.Errorf("the file has %d bytes", n)
			}
			return time.Since(began).Round(10 * time.Millisecond)
		}

		var others sync.WaitGroup
		for range 3 {
			others.Go(func() {
				if took := download(); took != parts*10*time.Millisecond {
					t.Errorf("a file next to two others took %v", took)
				}
			})
		}
		others.Wait()

		for range max(1, runtime.GOMAXPROCS(0)/2) {
			others.Go(func() { get(h, "/short") })
		}
		synctest.Wait()
		if took := download(); took != (parts+parts-longResponse/part-1)*10*time.Millisecond {
			t.Errorf("a file next to short requests took %v", took)
		}
		close(goOn)
		others.Wait()
		if took := download(); took != parts*10*time.Millisecond {
			t.Errorf("a file after the others took %v", took)
		}
		if n := h.(*handler).traffic.underWay(); n != 0 {
			t.Errorf("%d requests are still counted", n)
		}
	})
}
