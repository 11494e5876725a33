package delivery

import (
	"slices"
	"sync"
)

// limiter shares the attempts that may be under way at once: in turn among the
// companies that wait, and in turn among the endpoints of each.
type limiter struct {
	limits Limits

	mu        sync.Mutex
	total     int
	companies map[int64]*companySlots
	line      []*companySlots // companies with endpoints that wait
}

// companySlots is one company's share.
type companySlots struct {
	inUse   int
	waiting []*slotUser
}

// slotUser is an endpoint's share. Its owner reads granted; the rest belongs to
// the limiter.
type slotUser struct {
	company   int64
	inUse     int
	isWaiting bool
	hasGrant  bool          // a slot was taken for it that it has not used yet
	granted   chan struct{} // signals a grant
}

func newLimiter(limits Limits) *limiter {
	return &limiter{limits: limits, companies: map[int64]*companySlots{}}
}

func newSlotUser(company int64) *slotUser {
	return &slotUser{company: company, granted: make(chan struct{}, 1)}
}

// reserve is what every endpoint may have under way even when its company, or
// everyone together, is at the limit: receivers that hang fill those limits.
func (l *limiter) reserve() int { return min(firstWindow, l.limits.PerEndpoint) }

// acquire takes a slot. If it returns false the user waits in line, and granted
// receives once a slot was taken for it.
func (l *limiter) acquire(u *slotUser) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u.hasGrant {
		u.hasGrant = false
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
	if l.allows(c, u) { // those in line are kept back by limits that do not concern u
		l.take(c, u)
		return true
	}
	u.isWaiting = true
	if c.waiting = append(c.waiting, u); len(c.waiting) == 1 {
		l.line = append(l.line, c)
	}
	return false
}

// returnGrant returns a granted slot that is not needed any more.
func (l *limiter) returnGrant(u *slotUser) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u.hasGrant {
		u.hasGrant = false
		l.put(u)
	}
}

// release returns a slot and grants the slots that have become free.
func (l *limiter) release(u *slotUser) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(u)
}

func (l *limiter) put(u *slotUser) {
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
	for n, c := range l.line {
		i := slices.IndexFunc(c.waiting, func(u *slotUser) bool { return l.allows(c, u) })
		if i < 0 {
			continue
		}
		u := c.waiting[i]
		c.waiting = slices.Delete(c.waiting, i, i+1)
		l.line = slices.Delete(l.line, n, n+1)
		if len(c.waiting) > 0 {
			l.line = append(l.line, c)
		}
		u.isWaiting, u.hasGrant = false, true
		l.take(c, u)
		select {
		case u.granted <- struct{}{}:
		default:
		}
		return true
	}
	return false
}

func (l *limiter) take(c *companySlots, u *slotUser) {
	l.total++
	c.inUse++
	u.inUse++
}

func (l *limiter) allows(c *companySlots, u *slotUser) bool {
	if u.inUse < l.reserve() {
		return l.total < 2*l.limits.Total
	}
	return c.inUse < l.limits.PerCompany && l.total < l.limits.Total
}
