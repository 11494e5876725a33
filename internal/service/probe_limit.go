package service

import (
	"sync"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// maxProbes is how many test events and checks of addresses a company may have under
// way in one process. Each of them connects to somebody else's server, or asks the
// resolver, for as long as ten seconds.
const maxProbes = 4

var errTooManyProbes = domain.Errorf(domain.CodeRateLimited, "%d tests of webhooks are under way already. Try again in a few seconds.", maxProbes)

// probeLimit counts what people wait for while a receiver is asked, by company.
type probeLimit struct {
	mu      sync.Mutex
	running map[int64]int
}

// acquire returns the function that ends a probe. Codes: rate_limited.
func (l *probeLimit) acquire(company int64) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[company] >= maxProbes {
		return nil, errTooManyProbes
	}
	if l.running == nil {
		l.running = map[int64]int{}
	}
	l.running[company]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.running[company]--; l.running[company] == 0 {
			delete(l.running, company)
		}
	}, nil
}
