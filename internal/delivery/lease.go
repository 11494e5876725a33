package delivery

import "time"

// lease is what a queue knows about the lease of its endpoint. Its times are local
// and monotonic: whatever clocks do, a lease is over when its time has passed here
// since before it was asked for.
type lease struct {
	self  string        // the name of this replica
	hold  time.Duration // how long a claim lasts
	owner string        // empty if nobody holds it, as far as is known
	until time.Time
}

func (l *lease) isOurs(now time.Time) bool { return l.owner == l.self && now.Before(l.until) }

func (l *lease) isForeign(now time.Time) bool {
	return l.owner != "" && l.owner != l.self && now.Before(l.until)
}

// claimed notes that this replica asked for the lease at the time and has it. A
// tenth of it is kept as a margin.
func (l *lease) claimed(asked time.Time) { l.owner, l.until = l.self, asked.Add(l.hold*9/10) }

// renewAt is when our lease must be prolonged if it is still needed then.
func (l *lease) renewAt() time.Time { return l.until.Add(-l.hold / 2) }

func (l *lease) mustRenew(now time.Time) bool { return l.owner == l.self && !now.Before(l.renewAt()) }
