package server

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// newTestLimiter returns a limiter and its clock, which the test moves.
func newTestLimiter(perSecond float64, burst int) (*Limiter, *time.Time) {
	now := time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)
	l := NewLimiter(perSecond, burst)
	l.now = func() time.Time { return now }
	return l, &now
}

func admit(l *Limiter, token int64) ([3]string, error) {
	h := http.Header{}
	err := l.Admit(h, 12, token)
	return [3]string{h.Get("RateLimit-Limit"), h.Get("RateLimit-Remaining"), h.Get("RateLimit-Reset")}, err
}

func TestFullLimit(t *testing.T) {
	t.Parallel()
	l, _ := newTestLimiter(2, 3)
	_, _ = admit(l, 7)
	h := http.Header{}
	l.Full(h)
	want := http.Header{"Ratelimit-Limit": {"3"}, "Ratelimit-Remaining": {"3"}, "Ratelimit-Reset": {"0"}}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	h = http.Header{}
	NewLimiter(0, 3).Full(h)
	if len(h) != 0 {
		t.Errorf("headers %v without a limit", h)
	}
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	l, now := newTestLimiter(2, 3)
	type step struct {
		wait time.Duration
		want [3]string
		ok   bool
	}
	for i, s := range []step{
		{0, [3]string{"3", "2", "1"}, true},
		{0, [3]string{"3", "1", "1"}, true},
		{0, [3]string{"3", "0", "2"}, true},
		{0, [3]string{"3", "0", "2"}, false},
		{500 * time.Millisecond, [3]string{"3", "0", "2"}, true},
		{400 * time.Millisecond, [3]string{"3", "0", "2"}, false},
		{time.Hour, [3]string{"3", "2", "1"}, true},
	} {
		*now = now.Add(s.wait)
		got, err := admit(l, 7)
		if diff := cmp.Diff(s.want, got); diff != "" || (err == nil) != s.ok {
			t.Errorf("step %d: %v, -want +got:\n%s", i, err, diff)
		}
		if err != nil && domain.CodeOf(err) != domain.CodeRateLimited {
			t.Errorf("step %d: %v", i, err)
		}
	}
	for range 3 {
		_, _ = admit(l, 7)
	}
	if _, err := admit(l, 8); err != nil {
		t.Errorf("another token is refused: %v", err)
	}
}

func TestLimiterRetryAfter(t *testing.T) {
	t.Parallel()
	l, _ := newTestLimiter(0.1, 1)
	_, _ = admit(l, 7)
	_, err := admit(l, 7)
	if f := httpapi.Describe(&httpapi.Info{}, err); f.RetryAfter != 10 || f.Message != "The token's rate limit is used up. Try again in 10 seconds." {
		t.Errorf("%+v", f)
	}
	l, _ = newTestLimiter(50, 1)
	_, _ = admit(l, 7)
	_, err = admit(l, 7)
	if f := httpapi.Describe(&httpapi.Info{}, err); f.RetryAfter != 1 || f.Message != "The token's rate limit is used up. Try again in 1 second." {
		t.Errorf("%+v", f)
	}
}

func TestLimiterOff(t *testing.T) {
	t.Parallel()
	l := NewLimiter(0, 0)
	for range 1000 {
		if got, err := admit(l, 7); err != nil || got != [3]string{} {
			t.Fatal(got, err)
		}
	}
	if len(l.buckets) != 0 {
		t.Error("a limiter without a limit keeps buckets")
	}
}

func TestLimiterDropsFullBuckets(t *testing.T) {
	t.Parallel()
	l, now := newTestLimiter(1, 200)
	for token := range int64(1000) {
		_, _ = admit(l, token)
	}
	for range 150 {
		_, _ = admit(l, 1)
	}
	*now = now.Add(sweepEvery)
	_, _ = admit(l, 5000)
	if _, kept := l.buckets[tokenKey{12, 1}]; !kept || len(l.buckets) != 2 {
		t.Errorf("%d buckets are kept, the used one among them: %v", len(l.buckets), kept)
	}
}

func TestLimiterUnderConcurrency(t *testing.T) {
	t.Parallel()
	l, _ := newTestLimiter(1, 100)
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := l.Admit(http.Header{}, 12, 7); err == nil {
					passed.Add(1)
				} else if e := (*domain.Error)(nil); !errors.As(err, &e) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if passed.Load() != 100 {
		t.Errorf("%d passed, want 100", passed.Load())
	}
}
