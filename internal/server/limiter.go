package server

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
)

// sweepEvery is how often tokens that have their full burst again are forgotten:
// a new entry would allow them the same.
const sweepEvery = time.Minute

// Limiter counts the requests of each token.
type Limiter struct {
	rate  float64 // per second
	burst int
	limit []string // the burst, as text
	now   func() time.Time

	mu      sync.RWMutex
	buckets map[tokenKey]*rate.Limiter
	swept   time.Time
}

type tokenKey struct{ company, token int64 }

// NewLimiter allows each token so many requests per second, and bursts. A rate
// of 0 is no limit.
func NewLimiter(perSecond float64, burst int) *Limiter {
	burst = max(burst, 1)
	return &Limiter{
		rate: perSecond, burst: burst, limit: []string{strconv.Itoa(burst)}, now: time.Now,
		buckets: map[tokenKey]*rate.Limiter{},
	}
}

var atOnce = []string{"0"}

// Full writes into an answer what a token may ask that has asked nothing yet, for
// requests whose token is not known.
func (l *Limiter) Full(answer http.Header) {
	if l.rate <= 0 {
		return
	}
	answer["Ratelimit-Limit"] = l.limit
	answer["Ratelimit-Remaining"] = l.limit
	answer["Ratelimit-Reset"] = atOnce
}

// Admit counts a request, writes into the answer where the token stands, and
// gives rate_limited when its limit is used up.
func (l *Limiter) Admit(answer http.Header, companyID, tokenID int64) error {
	if l.rate <= 0 {
		return nil
	}
	now := l.now()
	bucket := l.bucket(tokenKey{companyID, tokenID}, now)
	ok := bucket.AllowN(now, 1)
	left := bucket.TokensAt(now)
	values := [2]string{
		strconv.Itoa(max(0, int(left))),
		strconv.Itoa(int(math.Ceil(l.until(left, float64(l.burst))))),
	}
	answer["Ratelimit-Limit"] = l.limit
	answer["Ratelimit-Remaining"] = values[0:1:1]
	answer["Ratelimit-Reset"] = values[1:2:2]
	if ok {
		return nil
	}
	wait := max(1, math.Ceil(l.until(left, 1)))
	unit := "seconds"
	if wait == 1 {
		unit = "second"
	}
	err := domain.Errorf(domain.CodeRateLimited, "The token's rate limit is used up. Try again in %.0f %s.", wait, unit)
	return httpapi.RetryAfter(err, time.Duration(wait)*time.Second)
}

// until is how many seconds it takes to come from so many requests left to so many.
func (l *Limiter) until(left, wanted float64) float64 { return max(0, wanted-left) / l.rate }

func (l *Limiter) bucket(key tokenKey, now time.Time) *rate.Limiter {
	l.mu.RLock()
	b, due := l.buckets[key], now.Sub(l.swept) >= sweepEvery
	l.mu.RUnlock()
	if b != nil && !due {
		return b
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.swept) >= sweepEvery {
		l.sweep(now)
	}
	if b = l.buckets[key]; b == nil {
		b = rate.NewLimiter(rate.Limit(l.rate), l.burst)
		l.buckets[key] = b
	}
	return b
}

func (l *Limiter) sweep(now time.Time) {
	l.swept = now
	for key, b := range l.buckets {
		if b.TokensAt(now) >= float64(l.burst) {
			delete(l.buckets, key)
		}
	}
}
