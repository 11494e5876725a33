package db

import (
	"sync/atomic"
	"time"
)

// Clock is the one clock of a database: it stamps changes, and it decides what is
// due or overdue. It follows a source, the machine's clock or an estimate of the
// server's, but never falls behind a stamp that it has seen.
//
// After the source steps back, the clock goes on from the latest stamp at half
// speed until the source has caught up. It does not stand still, because retries
// and leases would then wait for as long as the step was; and it does not go on at
// full speed, because it would then never meet the source again.
type Clock struct {
	source func() time.Time
	latest atomic.Pointer[seenStamp]
}

// seenStamp is a stamp and the local time, with its monotonic reading, at which it
// was seen.
type seenStamp struct{ stamp, seenAt time.Time }

// NewClock returns a clock that follows a source.
func NewClock(source func() time.Time) *Clock { return &Clock{source: source} }

// Now returns the clock's time in whole milliseconds.
func (c *Clock) Now() time.Time {
	now := c.source()
	if floor := c.Floor(); floor.After(now) {
		now = floor
	}
	return now.UTC().Truncate(time.Millisecond)
}

// Floor returns the time that the latest stamp alone implies: the zero time before
// the first one.
func (c *Clock) Floor() time.Time {
	latest := c.latest.Load()
	if latest == nil {
		return time.Time{}
	}
	return latest.stamp.Add(time.Since(latest.seenAt) / 2).Truncate(time.Millisecond)
}

// Observe records a stamp.
func (c *Clock) Observe(stamp time.Time) {
	next := &seenStamp{stamp: stamp, seenAt: time.Now()}
	for {
		latest := c.latest.Load()
		if latest != nil && !stamp.After(latest.stamp) || c.latest.CompareAndSwap(latest, next) {
			return
		}
	}
}
