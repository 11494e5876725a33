package service

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// RequestStore keeps the logs of requests.
type RequestStore interface {
	AddAPIRequests(ctx context.Context, list []domain.APIRequest, counts []domain.APIRequestCount) error
	APIRequest(ctx context.Context, company, id int64) (domain.APIRequest, error)
	APIRequests(ctx context.Context, company int64, f domain.APIRequestFilter, p domain.PageRequest) (domain.Page[domain.APIRequest], error)
	APIRequestHours(ctx context.Context, company, token int64, since time.Time) ([]domain.APIRequestHour, error)
}

const (
	// maxSucceededPerSecond and maxFailedPerSecond are how many calls of a company each
	// process logs one by one; the others are counted. So a busy integration fills no
	// disk, and there is room for failures while it is busy.
	maxSucceededPerSecond = 10
	maxFailedPerSecond    = 10

	requestFlush        = time.Second
	requestFlushTimeout = 5 * time.Second
)

// Requests is the log of the calls that companies make to the public API. Calls are
// kept in memory for up to a second and written together, so that no call waits for
// its entry; the last second is lost if the process is killed.
type Requests struct {
	store RequestStore
	on    bool
	log   *slog.Logger

	mu      sync.Mutex
	pending []domain.APIRequest
	counts  map[requestHour]*domain.APIRequestCount
	logged  map[requestSecond]int // how many calls were logged one by one
}

type requestHour struct {
	company, token int64
	hour           time.Time
}

// requestSecond identifies the calls of a company in one second with one outcome.
type requestSecond struct {
	company int64
	second  int64
	failed  bool
}

// NewRequests returns the log of a store. Unless it is on, nothing is recorded.
func NewRequests(store RequestStore, on bool, log *slog.Logger) *Requests {
	return &Requests{store: store, on: on, log: log, counts: map[requestHour]*domain.APIRequestCount{}, logged: map[requestSecond]int{}}
}

// On reports whether calls are recorded.
func (l *Requests) On() bool { return l.on }

// APICall is a call that was answered.
type APICall struct {
	domain.APIRequest

	Bodies  domain.RequestBodies // how the company wants failed calls logged
	Failure domain.FailedRequest // Record does not keep it
}

// Record adds a call to the log. It never waits for the database.
func (l *Requests) Record(c APICall) {
	if !l.on {
		return
	}
	l.mu.Lock()
	l.count(c.APIRequest)
	isLogged := l.reserve(c.APIRequest)
	l.mu.Unlock()
	if !isLogged {
		return
	}
	if c.Failed() {
		c.LoggedBody = c.Bodies.Log(c.Failure)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, c.APIRequest)
}

// count counts a call. The caller holds l.mu.
func (l *Requests) count(r domain.APIRequest) {
	hour := requestHour{r.CompanyID, r.TokenID, r.At.UTC().Truncate(time.Hour)}
	count := l.counts[hour]
	if count == nil {
		count = &domain.APIRequestCount{CompanyID: r.CompanyID, TokenID: r.TokenID, Hour: hour.hour}
		l.counts[hour] = count
	}
	if r.Failed() {
		count.Failed++
	} else {
		count.Succeeded++
	}
	if r.ServerError() {
		count.ServerErrors++
	}
}

// reserve reports whether a call is logged one by one, and takes one of the places of
// its second. The caller holds l.mu.
func (l *Requests) reserve(r domain.APIRequest) bool {
	second := requestSecond{r.CompanyID, r.At.Unix(), r.Failed()}
	limit := maxSucceededPerSecond
	if second.failed {
		limit = maxFailedPerSecond
	}
	if l.logged[second] >= limit {
		return false
	}
	l.logged[second]++
	return true
}

// Run writes what was recorded every second until ctx ends, and then once more.
func (l *Requests) Run(ctx context.Context) {
	if !l.on {
		return
	}
	Periodic{Name: "write the log of requests", Every: requestFlush, Log: l.log, Do: l.flush}.Run(ctx)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestFlushTimeout)
	defer cancel()
	if err := l.flush(last); err != nil {
		l.log.Warn("write the log of requests", "error", err)
	}
}

// flush writes what was recorded. What can't be written is dropped, so that memory does
// not grow while the database is unreachable.
func (l *Requests) flush(ctx context.Context) error {
	l.mu.Lock()
	list, counts := l.pending, make([]domain.APIRequestCount, 0, len(l.counts))
	for _, c := range l.counts {
		counts = append(counts, *c)
	}
	l.pending = nil
	clear(l.counts)
	clear(l.logged)
	l.mu.Unlock()
	if len(counts) == 0 && len(list) == 0 { // a call may be counted in one flush and written by the next
		return nil
	}
	return l.store.AddAPIRequests(ctx, list, counts)
}

// Find returns one request of the company's log with its body. Codes: not_found.
func (l *Requests) Find(ctx context.Context, c domain.Caller, id int64) (domain.APIRequest, error) {
	return l.store.APIRequest(ctx, c.Company.ID, id)
}

// List returns a page of the company's log, the newest request first.
func (l *Requests) List(ctx context.Context, c domain.Caller, f domain.APIRequestFilter, p domain.PageRequest) (domain.Page[domain.APIRequest], error) {
	return l.store.APIRequests(ctx, c.Company.ID, f, p)
}

// Hours returns the counts of the last hours, the oldest first and none left out; of
// one token if it is not 0.
func (l *Requests) Hours(ctx context.Context, c domain.Caller, token int64, now time.Time, hours int) ([]domain.APIRequestHour, error) {
	first := now.UTC().Truncate(time.Hour).Add(-time.Duration(hours-1) * time.Hour)
	found, err := l.store.APIRequestHours(ctx, c.Company.ID, token, first)
	if err != nil {
		return nil, err
	}
	out := make([]domain.APIRequestHour, hours)
	for i := range out {
		out[i].From = first.Add(time.Duration(i) * time.Hour)
	}
	for _, h := range found {
		if i := int(h.From.Sub(first) / time.Hour); i >= 0 && i < hours {
			out[i] = h
		}
	}
	return out, nil
}
