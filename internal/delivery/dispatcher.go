package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// Queue keeps deliveries and their results. An endpoint's deliveries are sent by
// the one owner that holds its lease.
type Queue interface {
	Now() time.Time
	ClaimEndpoints(ctx context.Context, owner string, hold time.Duration, requests []domain.FetchRequest) ([]domain.EndpointLease, error)
	DueDeliveries(ctx context.Context, requests []domain.FetchRequest) ([]domain.EndpointLease, error)
	ReleaseEndpoints(ctx context.Context, owner string) error
	ReclaimEndpoints(ctx context.Context) error
	LeaseOwners(ctx context.Context, company int64, within time.Duration) ([]string, error)
	RecordResults(ctx context.Context, results []domain.DeliveryResult) (domain.Recorded, error)
	HoldDeliveries(ctx context.Context, key domain.EndpointKey, limit int) (int, error)
	DeliveryBacklog(ctx context.Context, owner string, horizon time.Duration) (domain.Backlog, error)
	OldestUnattended(ctx context.Context) (at time.Time, ok bool, err error)
}

// Secrets decrypts the secrets of endpoints.
type Secrets interface {
	Open(label string, sealed []byte) ([]byte, error)
}

// Attempter makes one attempt; a Sender does.
type Attempter interface {
	Send(ctx context.Context, r Request) Outcome
}

// Limits bound how many attempts are under way at once. Every endpoint may have
// a few of its own whatever the others do, so that hanging receivers do not block
// other endpoints.
type Limits struct {
	PerEndpoint int // 32 if 0
	PerCompany  int // 256 if 0
	Total       int // 4096 if 0
}

// DispatcherConfig configures a Dispatcher. Queue and Bus are required; Secrets and
// Sender may be nil if only Listen is called.
type DispatcherConfig struct {
	Queue    Queue
	Bus      Bus
	Secrets  Secrets
	Sender   Attempter
	Schedule Schedule // DefaultSchedule if nil
	Limits   Limits
	Metrics  *Metrics     // none if nil
	Log      *slog.Logger // slog.Default if nil

	// Poll is how often the queue is searched for work that no wake-up reported; 5 s if 0.
	Poll time.Duration
	// AttemptTimeout is how long an attempt may take on any replica; DefaultTimeout if 0.
	AttemptTimeout time.Duration
	// Lease is how long an endpoint is kept from other replicas at a time, and so
	// how long a replica that died keeps it; 5 s if 0.
	Lease time.Duration
}

func (c *DispatcherConfig) setDefaults() {
	c.Limits.PerEndpoint = cmp.Or(c.Limits.PerEndpoint, 32)
	c.Limits.PerCompany = cmp.Or(c.Limits.PerCompany, 256)
	c.Limits.Total = cmp.Or(c.Limits.Total, 4096)
	c.Poll = cmp.Or(c.Poll, 5*time.Second)
	c.Lease = cmp.Or(c.Lease, 5*time.Second)
	c.AttemptTimeout = cmp.Or(c.AttemptTimeout, DefaultTimeout)
	if c.Schedule == nil {
		c.Schedule = DefaultSchedule()
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
}

// Dispatcher sends due deliveries and records their results. Every endpoint with
// due work has a goroutine, an endpointQueue, that claims its lease, fetches,
// sends and waits. Any number of dispatchers share a Queue.
type Dispatcher struct {
	config   DispatcherConfig
	owner    string
	life     lifecycle
	limiter  *limiter
	attempts *attemptRegistry
	batchers
	fetchSlots chan struct{} // holds as many as there are fetches under way
	pollNow    chan struct{}

	mu     sync.Mutex
	queues map[domain.EndpointKey]*endpointQueue // nil before the start
	acks   map[string]chan string                // by the id of an erase request, the replicas that acknowledge it
}

// lifecycle controls which parts of a dispatcher may still run.
type lifecycle struct {
	stopping   chan struct{}   // closed when nothing more may be started
	listening  chan struct{}   // closed once messages of other replicas are received
	sending    context.Context // ends when attempts under way must end
	endSending context.CancelFunc
	work       context.Context // ends when everything must end
	endWork    context.CancelFunc
	queues     sync.WaitGroup // endpoint queues and their attempts
	background sync.WaitGroup // the poll and the listener
	start      sync.Once
	stop       sync.Once
}

func (l *lifecycle) isStopping() bool {
	select {
	case <-l.stopping:
		return true
	default:
		return false
	}
}

// batchers let endpoint queues share statements.
type batchers struct {
	claims  *batch.Batcher[domain.FetchRequest, *domain.EndpointLease]
	results *batch.Batcher[domain.DeliveryResult, recordedResult]
	notices *batch.Batcher[string, struct{}]
}

// NewDispatcher returns a dispatcher that does nothing until it is started.
func NewDispatcher(c DispatcherConfig) *Dispatcher {
	c.setDefaults()
	d := &Dispatcher{
		config: c, owner: uuid.NewString(), limiter: newLimiter(c.Limits), acks: map[string]chan string{},
		fetchSlots: make(chan struct{}, maxParallelFetches), pollNow: make(chan struct{}, 1),
	}
	d.attempts = newAttemptRegistry(2 * d.maxTimeToSend())
	d.life.stopping, d.life.listening = make(chan struct{}), make(chan struct{})
	d.life.work, d.life.endWork = context.WithCancel(context.Background())
	d.life.sending, d.life.endSending = context.WithCancel(d.life.work)
	d.batchers = batchers{
		claims: batch.New(d.claim, batch.Options{MaxParallel: 2, SlowAfter: batch.NeverSlow}), // a claim waits for no lock
		results: batch.New(d.recordBatch, batch.Options{
			MaxSize: 256, MaxParallel: 2, ParallelThreshold: 128, MaxDelay: 3 * time.Millisecond, SlowAfter: batch.NeverSlow, Collect: true,
		}),
		notices: batch.New(d.publish, batch.Options{MaxParallel: 1, SlowAfter: batch.NeverSlow}),
	}
	return d
}

// Start begins to send. It fails if the dispatcher was started or stopped before, or
// only listens.
func (d *Dispatcher) Start(ctx context.Context) error {
	if err := d.config.Queue.ReclaimEndpoints(ctx); err != nil {
		return fmt.Errorf("take over from a process that ended: %w", err)
	}
	err := errors.New("a dispatcher is started once")
	d.life.start.Do(func() {
		err = nil
		d.mu.Lock()
		d.queues = map[domain.EndpointKey]*endpointQueue{}
		d.mu.Unlock()
		d.life.background.Go(d.listen)
		d.life.background.Go(d.poll)
	})
	return err
}

// Listen begins to receive what other replicas report, for a process that sends
// nothing itself: StopSending waits for their answers. Such a dispatcher is not started.
func (d *Dispatcher) Listen() {
	d.life.start.Do(func() { d.life.background.Go(d.listen) })
}

// Wake reports endpoints that have due deliveries, or that were changed by this
// process. It never blocks. What was reported before the start is found by the
// first poll.
func (d *Dispatcher) Wake(keys []domain.EndpointKey) { d.wake(wokenHere, keys...) }

// wake passes a wake-up to the endpoints' queues and starts those that do not run.
func (d *Dispatcher) wake(by wakeup, keys ...domain.EndpointKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.queues == nil || d.life.isStopping() {
		return
	}
	for _, key := range keys {
		q := d.queues[key]
		if q == nil {
			q = newEndpointQueue(d, key)
			d.queues[key] = q
			d.life.queues.Go(q.run)
		}
		q.wake(by)
	}
}

// forget removes a queue that has nothing to do, unless it was woken meanwhile.
func (d *Dispatcher) forget(q *endpointQueue) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(q.wakeups) > 0 {
		return false
	}
	delete(d.queues, q.key)
	return true
}

// poll searches the queue for work that no wake-up reported.
func (d *Dispatcher) poll() {
	tick := time.NewTicker(d.config.Poll)
	defer tick.Stop()
	for !d.life.isStopping() {
		d.searchBacklog()
		select {
		case <-tick.C:
		case <-d.pollNow:
		case <-d.life.stopping:
		}
	}
}

// searchBacklog wakes the queues of all endpoints with work, at the time it is due.
func (d *Dispatcher) searchBacklog() {
	ctx, cancel := context.WithTimeout(d.life.work, queryTimeout)
	defer cancel()
	backlog, err := d.config.Queue.DeliveryBacklog(ctx, d.owner, 2*d.config.Poll)
	if err != nil {
		d.logError("search the queue", err)
		return
	}
	now := d.config.Queue.Now()
	for _, w := range backlog.Endpoints {
		by := wokenByPoll
		if w.Owner == "" { // the report of a release may have been lost
			by |= leaseReleased
		}
		if wait := w.Due.Sub(now); wait > 0 {
			time.AfterFunc(wait, func() { d.wake(by, w.Key) })
		} else {
			d.wake(by, w.Key)
		}
	}
	d.config.Metrics.backlog(backlog.Depth)
}

// Stop starts nothing more, waits for the attempts under way until ctx ends, cuts
// the rest short, records every result and releases the leases. What was cut
// short is sent again by another process. It may be called twice.
func (d *Dispatcher) Stop(ctx context.Context) error {
	var err error
	d.life.stop.Do(func() {
		d.life.start.Do(func() {}) // never started
		d.mu.Lock()
		close(d.life.stopping)
		d.mu.Unlock()
		cancelDeadline := context.AfterFunc(ctx, func() {
			d.life.endSending()
			time.AfterFunc(flushTimeout, d.life.endWork)
		})
		d.life.queues.Wait()
		cancelDeadline()
		d.life.endWork()
		d.life.background.Wait()
		if d.queues != nil { // it was started; one that only listens has no leases
			err = d.release()
		}
	})
	return err
}

const (
	// flushTimeout is how long results may take to be recorded after the deadline of a stop.
	flushTimeout = 2 * time.Second
	// releaseTimeout is short because leases that are not released run out by themselves.
	releaseTimeout = time.Second
)

// release gives up the leases and reports it, so that other replicas go on at once.
func (d *Dispatcher) release() error {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	if err := d.config.Queue.ReleaseEndpoints(ctx, d.owner); err != nil {
		return fmt.Errorf("release the leases: %w", err)
	}
	if err := d.config.Bus.Publish(ctx, Topic, []string{releasedMark + d.owner}); err != nil {
		return fmt.Errorf("report the released leases: %w", err)
	}
	return nil
}

// OldestDue returns how long the oldest due delivery whose endpoint no replica has
// leased has been waiting, 0 if there is none. A slow receiver does not count: a
// replica waits for its answer.
func (d *Dispatcher) OldestDue(ctx context.Context) (time.Duration, error) {
	at, ok, err := d.config.Queue.OldestUnattended(ctx)
	if err != nil || !ok {
		return 0, err
	}
	return max(d.config.Queue.Now().Sub(at), 0), nil
}

func (d *Dispatcher) logError(what string, err error) {
	if d.life.work.Err() == nil {
		d.config.Log.Error("webhook dispatcher: "+what, "error", err)
	}
}
