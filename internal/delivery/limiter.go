package delivery

import (
	"cmp"
	"slices"
	"sync"
)

// Limits bound how many attempts are under way at once. Every endpoint may have
// a few of its own whatever the others do, so that hanging receivers do not block
// other endpoints.
type Limits struct {
	PerEndpoint int // 32 if 0
	PerCompany  int // 256 if 0
	Total       int // 4096 if 0
}

func (l Limits) withDefaults() Limits {
	return Limits{cmp.Or(l.PerEndpoint, 32), cmp.Or(l.PerCompany, 256), cmp.Or(l.Total, 4096)}
}

// limiter shares the attempts that may be under way at once: in turn among the
// companies that wait, and in turn among the endpoints of each.
type limiter struct {
	limits Limits

	mu        sync.Mutex
	total     int
	companies map[int64]int    // how many slots of each are in use
	waiting   []*endpointSlots // in the order of their turns
}

// endpointSlots is an endpoint's share. Its owner reads granted; the rest belongs to
// the limiter.
type endpointSlots struct {
	company        int64
	inUse          int
	isWaiting      bool
	hasUnusedGrant bool          // a slot was taken for it that it has not used yet
	granted        chan struct{} // signals a grant
}

func newLimiter(limits Limits) *limiter {
	return &limiter{limits: limits, companies: map[int64]int{}}
}

func newEndpointSlots(company int64) *endpointSlots {
	return &endpointSlots{company: company, granted: make(chan struct{}, 1)}
}

// reserve returns how many attempts an endpoint may always have under way. Receivers
// that hang can use up the limits of their company and of the process, and must not
// block other endpoints. All reserves together may at most double Limits.Total.
func (l *limiter) reserve() int { return min(guaranteedSlots, l.limits.PerEndpoint) }

// acquire takes a slot. If it returns false the endpoint waits in line, and granted
// receives once a slot was taken for it.
func (l *limiter) acquire(u *endpointSlots) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case u.hasUnusedGrant:
		u.hasUnusedGrant = false
		return true
	case u.isWaiting:
		return false
	case l.allows(u): // nobody is overtaken: whoever waits is held back by a limit that does not apply to u
		l.count(u, 1)
		return true
	}
	u.isWaiting = true
	l.waiting = append(l.waiting, u)
	return false
}

// putBack keeps a slot that was acquired as a grant, for the next acquire.
func (l *limiter) putBack(u *endpointSlots) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u.hasUnusedGrant = true
}

// returnGrant returns a granted slot that is not needed any more.
func (l *limiter) returnGrant(u *endpointSlots) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u.hasUnusedGrant {
		u.hasUnusedGrant = false
		l.count(u, -1)
		l.grant()
	}
}

// leave withdraws an endpoint that has ended from the line.
func (l *limiter) leave(u *endpointSlots) {
	l.mu.Lock()
	l.waiting = slices.DeleteFunc(l.waiting, func(w *endpointSlots) bool { return w == u })
	l.mu.Unlock()
	l.returnGrant(u)
}

// release returns a slot and grants the slots that have become free.
func (l *limiter) release(u *endpointSlots) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(u, -1)
	l.grant()
}

// grant takes slots for the waiting endpoints that their limits allow. A company that
// got one waits until the other companies have had their turn.
func (l *limiter) grant() {
	for {
		i := slices.IndexFunc(l.waiting, l.allows)
		if i < 0 {
			return
		}
		u := l.waiting[i]
		l.waiting = slices.Delete(l.waiting, i, i+1)
		slices.SortStableFunc(l.waiting, func(a, b *endpointSlots) int {
			return cmp.Compare(asInt(a.company == u.company), asInt(b.company == u.company))
		})
		u.isWaiting, u.hasUnusedGrant = false, true
		l.count(u, 1)
		select {
		case u.granted <- struct{}{}:
		default:
		}
	}
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// count notes that an endpoint uses n more slots.
func (l *limiter) count(u *endpointSlots, n int) {
	l.total += n
	u.inUse += n
	if l.companies[u.company] += n; l.companies[u.company] == 0 {
		delete(l.companies, u.company)
	}
}

func (l *limiter) allows(u *endpointSlots) bool {
	if u.inUse < l.reserve() {
		return l.total < 2*l.limits.Total
	}
	return l.companies[u.company] < l.limits.PerCompany && l.total < l.limits.Total
}
