package cabinet

import (
	"sync"
	"time"
)

const (
	// maxArrivals is how many files arrive at once in a process. Each holds up to MaxUpload
	// bytes.
	maxArrivals = 4
	// maxReaders is how many of them are read at once. Reading one takes up to 92 MiB: 16
	// for the request, 16 for the file and 60 for its table, as
	// TestLargestTablesHoldBoundedMemory of sheet measures.
	maxReaders = 2
	// uploadGrace is how long a file may arrive before another company's may take its place.
	uploadGrace = 5 * time.Second
	// uploadWait is how long a request waits for a place, and for a reader.
	uploadWait = 20 * time.Second
	uploadPoll = 50 * time.Millisecond
)

// uploads are the requests with files that a process takes now.
type uploads struct {
	maxArrivals, maxReaders int
	grace                   time.Duration

	mu        sync.Mutex
	companies map[int64]bool
	arrivals  map[*arrival]bool
	readers   int
}

// arrival is a request that is being received. Its fields belong to uploads.mu.
type arrival struct {
	cut     func() // makes the read of the request fail
	began   time.Time
	isCut   bool
	isWhole bool
	// window and before are the bytes of the current period of uploadGrace and of the one
	// before, windowBegan is when the current one began.
	window, before int64
	windowBegan    time.Time
}

func newUploads(arrivals, readers int) *uploads {
	return &uploads{maxArrivals: arrivals, maxReaders: readers, grace: uploadGrace, companies: map[int64]bool{}, arrivals: map[*arrival]bool{}}
}

// enter returns the function that ends a company's upload, of which there is one at a
// time. Codes: rate_limited.
func (u *uploads) enter(company int64) (leave func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.companies[company] {
		return nil, errUploading
	}
	u.companies[company] = true
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.companies, company)
	}, nil
}

// admit reports whether a request may begin to arrive. If all places are taken, the
// slowest of those who had their grace is cut off, so that clients that send slowly or
// not at all can't keep others out.
func (u *uploads) admit(a *arrival) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	if len(u.arrivals) < u.maxArrivals {
		a.began, a.windowBegan = now, now
		u.arrivals[a] = true
		return true
	}
	var slowest *arrival
	for other := range u.arrivals {
		if other.isCut {
			return false // its place is about to be free
		}
		if !other.isWhole && now.Sub(other.began) > u.grace && (slowest == nil || other.recent(now, u.grace) < slowest.recent(now, u.grace)) {
			slowest = other
		}
	}
	if slowest != nil {
		slowest.isCut = true
		slowest.cut()
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

func (u *uploads) count(a *arrival, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	a.recent(time.Now(), u.grace)
	a.window += int64(n)
}

// arrived marks a request as whole, so that it is not cut off any more. It reports
// whether it had not been.
func (u *uploads) arrived(a *arrival) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	a.isWhole = true
	return !a.isCut
}

func (u *uploads) isCut(a *arrival) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return a.isCut
}

func (u *uploads) remove(a *arrival) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.arrivals, a)
}

// startReading reports whether a reader was free.
func (u *uploads) startReading() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.readers >= u.maxReaders {
		return false
	}
	u.readers++
	return true
}

func (u *uploads) stopReading() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.readers--
}
