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

// sweepEvery is how often buckets that are full again are dropped: a new bucket
// would allow the same.
const sweepEvery = time.Minute

// Limiter limits the request rate of each token. The limit holds per process.
type Limiter struct {
	rate  float64 // per second
	burst int
	limit []string // the burst as a header value
	now   func() time.Time

	mu      sync.RWMutex
	buckets map[tokenKey]*rate.Limiter
	swept   time.Time
}

type tokenKey struct{ company, token int64 }

// NewLimiter returns a limiter of perSecond requests per token, with bursts. A
// rate of 0 means no limit.
func NewLimiter(perSecond float64, burst int) *Limiter {
	burst = max(burst, 1)
	return &Limiter{
		rate: perSecond, burst: burst, limit: []string{strconv.Itoa(burst)}, now: time.Now,
		buckets: map[tokenKey]*rate.Limiter{},
	}
}

var zeroSeconds = []string{"0"}

// Full writes the headers of an unused bucket, for requests without a known token.
func (l *Limiter) Full(header http.Header) {
	if l.rate <= 0 {
		return
	}
	header["Ratelimit-Limit"] = l.limit
	header["Ratelimit-Remaining"] = l.limit
	header["Ratelimit-Reset"] = zeroSeconds
}

// Admit counts a request, writes the rate limit headers, and returns a
// rate_limited error when the token has used up its limit.
func (l *Limiter) Admit(header http.Header, companyID, tokenID int64) error {
	if l.rate <= 0 {
		return nil
	}
	now := l.now()
	bucket := l.bucket(tokenKey{companyID, tokenID}, now)
	ok := bucket.AllowN(now, 1)
	left := bucket.TokensAt(now)
	header["Ratelimit-Limit"] = l.limit
	header["Ratelimit-Remaining"] = []string{strconv.Itoa(max(0, int(left)))}
	header["Ratelimit-Reset"] = []string{strconv.Itoa(int(math.Ceil(l.until(left, float64(l.burst)))))}
	if ok {
		return nil
	}
	wait := max(1, math.Ceil(l.until(left, 1)))
	unit := "seconds"
	if wait == 1 {
		unit = "second"
	}
	err := domain.Errorf(domain.CodeRateLimited, "The token's rate limit is used up. Try again in %.0f %s.", wait, unit)
	return httpapi.WithRetryAfter(err, time.Duration(wait)*time.Second)
}

// until returns how many seconds it takes to refill from left to wanted requests.
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
