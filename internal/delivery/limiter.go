package delivery

import (
	"slices"
	"sync"
)

// limiter shares the attempts that may be under way at once: in turn among the
// companies that wait, and in turn among the endpoints of each.
type limiter struct {
	limits Limits

	mu               sync.Mutex
	total            int
	companies        map[int64]*companySlots
	waitingCompanies []*companySlots // those with endpoints that wait
}

// companySlots is one company's share.
type companySlots struct {
	inUse   int
	waiting []*endpointSlots
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
	return &limiter{limits: limits, companies: map[int64]*companySlots{}}
}

func newEndpointSlots(company int64) *endpointSlots {
	return &endpointSlots{company: company, granted: make(chan struct{}, 1)}
}

// reserve returns how many attempts an endpoint may always have under way. Receivers
// that hang can use up the limits of their company and of the process, and must not
// block other endpoints. All reserves together may at most double Limits.Total.
func (l *limiter) reserve() int { return min(firstWindow, l.limits.PerEndpoint) }

// acquire takes a slot. If it returns false the user waits in line, and granted
// receives once a slot was taken for it.
func (l *limiter) acquire(u *endpointSlots) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u.hasUnusedGrant {
		u.hasUnusedGrant = false
		return true
	}
	c := l.companies[u.company]
	if c == nil {
		c = &companySlots{}
		l.companies[u.company] = c
	}
	if u.isWaiting {
		return false
	}
	if l.allows(c, u) { // nobody is overtaken: whoever waits is held back by a limit that does not apply to u
		l.count(c, u)
		return true
	}
	u.isWaiting = true
	if c.waiting = append(c.waiting, u); len(c.waiting) == 1 {
		l.waitingCompanies = append(l.waitingCompanies, c)
	}
	return false
}

// returnGrant returns a granted slot that is not needed any more.
func (l *limiter) returnGrant(u *endpointSlots) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u.hasUnusedGrant {
		u.hasUnusedGrant = false
		l.releaseLocked(u)
	}
}

// release returns a slot and grants the slots that have become free.
func (l *limiter) release(u *endpointSlots) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.releaseLocked(u)
}

func (l *limiter) releaseLocked(u *endpointSlots) {
	c := l.companies[u.company]
	l.total--
	c.inUse--
	u.inUse--
	for l.grantNext() {
	}
	if c.inUse == 0 && len(c.waiting) == 0 {
		delete(l.companies, u.company)
	}
}

// grantNext takes a slot for the user whose turn it is; false if none can have one.
func (l *limiter) grantNext() bool {
	for n, c := range l.waitingCompanies {
		i := slices.IndexFunc(c.waiting, func(u *endpointSlots) bool { return l.allows(c, u) })
		if i < 0 {
			continue
		}
		u := c.waiting[i]
		c.waiting = slices.Delete(c.waiting, i, i+1)
		l.waitingCompanies = slices.Delete(l.waitingCompanies, n, n+1)
		if len(c.waiting) > 0 {
			l.waitingCompanies = append(l.waitingCompanies, c)
		}
		u.isWaiting, u.hasUnusedGrant = false, true
		l.count(c, u)
		select {
		case u.granted <- struct{}{}:
		default:
		}
		return true
	}
	return false
}

func (l *limiter) count(c *companySlots, u *endpointSlots) {
	l.total++
	c.inUse++
	u.inUse++
}

func (l *limiter) allows(c *companySlots, u *endpointSlots) bool {
	if u.inUse < l.reserve() {
		return l.total < 2*l.limits.Total
	}
	return c.inUse < l.limits.PerCompany && l.total < l.limits.Total
}
