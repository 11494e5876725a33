package service

import (
	"fmt"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	// maxProbes is how many test events and checks of addresses a company may have under
	// way in one process. Each of them connects to somebody else's server, or asks the
	// resolver, for as long as ten seconds.
	maxProbes = 4
	// maxProbesPerHour is how many a company may begin in an hour in one process: far
	// more than people need to set their webhooks up, far less than it takes to scan a
	// network or to flood somebody else's server.
	maxProbesPerHour = 120
)

var errTooManyProbes = domain.Errorf(domain.CodeRateLimited, "%d tests of webhooks are under way already. Try again in a few seconds.", maxProbes)

// probeLimit counts what people wait for while a receiver is asked, by company.
type probeLimit struct {
	now func() time.Time // of this process, with a monotonic reading

	mu        sync.Mutex
	companies map[int64]*probeCount
}

// probeCount is the probes of one company.
type probeCount struct {
	running int
	begun   int       // since the hour began
	hour    time.Time // when the hour began
}

func newProbeLimit() *probeLimit {
	return &probeLimit{now: time.Now, companies: map[int64]*probeCount{}}
}

// acquire returns the function that ends a probe. Codes: rate_limited.
func (l *probeLimit) acquire(company int64) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for id, c := range l.companies {
		if c.running == 0 && now.Sub(c.hour) >= time.Hour {
			delete(l.companies, id)
		}
	}
	c := l.companies[company]
	if c == nil {
		c = &probeCount{hour: now}
		l.companies[company] = c
	}
	if now.Sub(c.hour) >= time.Hour {
		c.begun, c.hour = 0, now
	}
	switch {
	case c.running >= maxProbes:
		return nil, errTooManyProbes
	case c.begun >= maxProbesPerHour:
		return nil, tooManyInAnHour(time.Hour - now.Sub(c.hour))
	}
	c.running++
	c.begun++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		c.running--
	}, nil
}

func tooManyInAnHour(left time.Duration) error {
	wait := "a minute"
	if minutes := int(left/time.Minute) + 1; minutes > 1 {
		wait = fmt.Sprintf("%d minutes", minutes)
	}
	return domain.Errorf(domain.CodeRateLimited, "Your company has tested its webhooks and their addresses %d times in the last hour. Try again in %s.", maxProbesPerHour, wait)
}
