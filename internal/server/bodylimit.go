package server

import (
	"net/http"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	// smallBody is how much of a body is read without a place.
	smallBody = 16 << 10
	// DefaultLargeBodies is how many larger bodies a server holds in memory at once. One of
	// an API has up to 1 MiB.
	DefaultLargeBodies = 64
	// bodyGrace is how long a body may arrive before another one may take its place.
	bodyGrace = 5 * time.Second
	// bodyWait is how long a body waits for a place.
	bodyWait = 20 * time.Second
	bodyPoll = 20 * time.Millisecond
)

var (
	errBodies   = domain.Errorf(domain.CodeUnavailable, "Too many large requests are being received. Try again in a few seconds.")
	errBodySlow = domain.Errorf(domain.CodeUnavailable, "The request arrived too slowly while others were waiting. Try again, or send less at once.")
)

// bodyLimit bounds how many large bodies are in memory at once. Without it strangers could
// fill the memory with forms that they never finish: 600 connections took 600 MiB. If all
// places are taken, the body that received least lately is cut off, so that slow clients
// can't keep others out.
type bodyLimit struct {
	places int
	grace  time.Duration

	mu    sync.Mutex
	large map[*requestBody]bool
}

// arrival is how a large body arrives. Its fields belong to bodyLimit.mu.
type arrival struct {
	began       time.Time
	isCut       bool
	isWhole     bool
	window      int64 // bytes of the current period of bodyGrace
	before      int64 // bytes of the period before
	windowBegan time.Time
}

func newBodyLimit(places int) *bodyLimit {
	return &bodyLimit{places: places, grace: bodyGrace, large: map[*requestBody]bool{}}
}

// acquire waits for a place. Codes: unavailable.
func (l *bodyLimit) acquire(b *requestBody) error {
	for deadline := time.Now().Add(bodyWait); !l.admit(b); time.Sleep(bodyPoll) {
		if time.Now().After(deadline) {
			return errBodies
		}
	}
	return nil
}

// admit reports whether there was a place. Otherwise it cuts the slowest body off.
func (l *bodyLimit) admit(b *requestBody) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if len(l.large) < l.places {
		b.began, b.windowBegan = now, now
		l.large[b] = true
		return true
	}
	var slowest *requestBody
	for other := range l.large {
		if other.isCut {
			return false // its place is about to be free
		}
		if !other.isWhole && now.Sub(other.began) > l.grace && (slowest == nil || other.recent(now, l.grace) < slowest.recent(now, l.grace)) {
			slowest = other
		}
	}
	if slowest != nil {
		slowest.isCut = true
		_ = http.NewResponseController(slowest.writer).SetReadDeadline(time.Unix(1, 0))
	}
	return false
}

// recent returns how many bytes arrived lately, within one to two periods.
func (a *arrival) recent(now time.Time, period time.Duration) int64 {
	switch passed := now.Sub(a.windowBegan); {
	case passed > 2*period:
		a.before, a.window, a.windowBegan = 0, 0, now
	case passed > period:
		a.before, a.window, a.windowBegan = a.window, 0, now
	}
	return a.before + a.window
}

// note counts bytes that arrived, and reports whether the body was cut off.
func (l *bodyLimit) note(b *requestBody, n int, isWhole bool) (isCut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.recent(time.Now(), l.grace)
	b.window += int64(n)
	b.isWhole = b.isWhole || isWhole
	return b.isCut && !isWhole
}

// release frees the place of a body if it has one.
func (l *bodyLimit) release(b *requestBody) {
	if !b.isLarge {
		return
	}
	b.isLarge = false
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.large, b)
}
