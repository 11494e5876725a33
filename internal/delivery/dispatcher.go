package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// Queue keeps deliveries and their results. An endpoint's deliveries are sent by
// the one owner that holds its lease.
type Queue interface {
	// Now returns the time of the database's clock.
	Now() time.Time
	// ClaimEndpoints takes or prolongs the leases that no other owner holds, and reads what is due on those.
	ClaimEndpoints(ctx context.Context, owner string, leaseTime time.Duration, requests []domain.FetchRequest) ([]domain.EndpointLease, error)
	// DueDeliveries reads what is due on endpoints whose leases the caller holds.
	DueDeliveries(ctx context.Context, requests []domain.FetchRequest) ([]domain.EndpointLease, error)
	// ReleaseEndpoints ends all leases of the owner.
	ReleaseEndpoints(ctx context.Context, owner string) error
	// ReclaimEndpoints ends the leases of a process that died, where no other process can be running.
	ReclaimEndpoints(ctx context.Context) error
	// LeaseOwners returns the owners of the company's leases, also of those that ended within the given time.
	LeaseOwners(ctx context.Context, company int64, within time.Duration) ([]string, error)
	// RecordResults writes results; one whose delivery has changed since it was read changes nothing.
	RecordResults(ctx context.Context, results []domain.DeliveryResult) (domain.Recorded, error)
	// HoldDeliveries holds up to limit deliveries of a disabled endpoint, or fails those of a removed one.
	HoldDeliveries(ctx context.Context, key domain.EndpointKey, limit int) (int, error)
	// DeliveryBacklog returns the endpoints with work before the horizon, and how much is due on those of the owner.
	DeliveryBacklog(ctx context.Context, owner string, horizon time.Duration) (domain.Backlog, error)
	// OldestUnattended returns when the oldest due delivery became due whose endpoint nobody leases; ok is false if there is none.
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

// DispatcherConfig configures a Dispatcher.
type DispatcherConfig struct {
	CancellerConfig
	Secrets  Secrets
	Sender   Attempter
	Schedule Schedule // DefaultSchedule if nil
	Limits   Limits
	Metrics  *Metrics // none if nil

	// Poll is how often the queue is searched for work that no wake-up reported; 5 s if 0.
	Poll time.Duration
	// Lease is how long an endpoint is kept from other replicas at a time, and so
	// how long a replica that died keeps it; 5 s if 0.
	Lease time.Duration
}

// Dispatcher sends due deliveries and records their results. Every endpoint with
// due work has a goroutine, an endpointQueue, that claims its lease, fetches,
// sends and waits. Any number of dispatchers share a Queue.
type Dispatcher struct {
	*Canceller
	config  DispatcherConfig
	limiter *limiter
	batchers
	fetchSlots chan struct{} // semaphore of the fetches under way
	searchNow  chan struct{}
	handover   chan *attempt // received by idle goroutines
	life       lifecycle

	mu     sync.Mutex
	queues map[domain.EndpointKey]*endpointQueue // nil before the start
}

// lifecycle is what a dispatcher may still do, until the context of that ends, and what
// it has to wait for. A context that ends also ends those before it.
type lifecycle struct {
	mayStart, maySend, mayWork          context.Context // for starting attempts, for those under way, and for all else
	endStarting, endSending, endWorking context.CancelFunc
	queues                              sync.WaitGroup // endpoint queues and their attempts
	background                          sync.WaitGroup // the poll and the listener
	idle                                atomic.Int32   // goroutines that wait for another attempt
	wasStarted                          atomic.Bool
}

// batchers let endpoint queues share statements. ADR 6 has the measurements.
type batchers struct {
	claims  *batch.Batcher[domain.FetchRequest, fetched]
	results *resultBatcher
	// strictResults are those of endpoints in strict order, which send nothing until a result
	// is recorded. They are not collected: that would cost each delivery 3 ms.
	strictResults *resultBatcher
	notices       *batch.Batcher[domain.EndpointKey, struct{}]
}

// NewDispatcher returns a dispatcher that does nothing until it is started.
func NewDispatcher(c DispatcherConfig) *Dispatcher {
	c.Limits = c.Limits.withDefaults()
	c.Poll = cmp.Or(c.Poll, 5*time.Second)
	c.Lease = cmp.Or(c.Lease, 5*time.Second)
	if c.Schedule == nil {
		c.Schedule = DefaultSchedule()
	}
	d := &Dispatcher{limiter: newLimiter(c.Limits), fetchSlots: make(chan struct{}, maxParallelFetches), searchNow: make(chan struct{}, 1),
		handover: make(chan *attempt)}
	d.life.mayWork, d.life.endWorking = context.WithCancel(context.Background())
	d.life.maySend, d.life.endSending = context.WithCancel(d.life.mayWork)
	d.life.mayStart, d.life.endStarting = context.WithCancel(d.life.maySend)
	d.Canceller = newCanceller(d.life.maySend, c.CancellerConfig)
	c.CancellerConfig = d.Canceller.config
	d.config = c
	d.claims = batch.New(d.claimBatch, batch.Options{MaxParallel: 2, SlowAfter: batch.NeverSlow}) // a claim waits for no lock
	// Large batches, one at a time: two would write as many results in twice the transactions.
	recording := batch.Options{
		MaxSize: 256, MaxParallel: 1, ParallelThreshold: 128, MaxDelay: 3 * time.Millisecond, SlowAfter: batch.NeverSlow, MaxAlone: 4,
	}
	d.strictResults = batch.New(d.recordBatch, recording)
	recording.Collect = true
	d.results = batch.New(d.recordBatch, recording)
	d.notices = batch.New(d.notify, batch.Options{MaxParallel: 1, SlowAfter: batch.NeverSlow})
	return d
}

// Start begins to send. It fails if the dispatcher was started or stopped before.
func (d *Dispatcher) Start(ctx context.Context) error {
	if d.isStopping() || d.life.wasStarted.Swap(true) {
		return errors.New("a dispatcher is started once")
	}
	if err := d.config.Queue.ReclaimEndpoints(ctx); err != nil {
		return fmt.Errorf("take over from a process that ended: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isStopping() {
		return errors.New("the dispatcher was stopped during its start")
	}
	d.queues = map[domain.EndpointKey]*endpointQueue{}
	d.life.background.Go(func() { d.listen(d.life.mayWork, d.receive) })
	d.life.background.Go(d.poll)
	return nil
}

// isStopping reports whether nothing more may be started.
func (d *Dispatcher) isStopping() bool { return d.life.mayStart.Err() != nil }

// Wake reports endpoints that have due deliveries, or that were changed by this
// process. It never blocks. What was reported before the start is found by the
// first poll.
func (d *Dispatcher) Wake(keys []domain.EndpointKey) { d.wake(committedHere, keys...) }

// wake passes a wake-up to the endpoints' queues and starts those that do not run.
func (d *Dispatcher) wake(reason wakeReason, keys ...domain.EndpointKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.queues == nil || d.isStopping() {
		return
	}
	for _, key := range keys {
		q := d.queues[key]
		if q == nil {
			q = newEndpointQueue(d, key)
			d.queues[key] = q
			d.life.queues.Go(q.run)
		}
		q.wake(reason)
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

// receive handles messages of other replicas: an endpoint's key reports a change. A nil
// list means that messages may have been lost. After a release, the queues that wait for
// a foreign lease claim it again; a search finds the endpoints that have no queue here.
func (d *Dispatcher) receive(messages []string) {
	mustSearch := messages == nil
	for _, m := range messages {
		if owner, ok := strings.CutPrefix(m, releasedMark); ok && owner != d.self {
			mustSearch = true
			d.mu.Lock()
			for _, q := range d.queues {
				q.wake(leaseReleased)
			}
			d.mu.Unlock()
		} else if key, err := domain.ParseEndpointKey(m); err == nil {
			d.wake(workReported, key)
		}
	}
	if mustSearch {
		select {
		case d.searchNow <- struct{}{}:
		default:
		}
	}
}

// poll searches the queue for work that no wake-up reported.
func (d *Dispatcher) poll() {
	tick := time.NewTicker(d.config.Poll)
	defer tick.Stop()
	for {
		d.searchBacklog()
		select {
		case <-tick.C:
		case <-d.searchNow:
		case <-d.life.mayStart.Done():
			return
		}
	}
}

// queryContext returns the context of a query. A batch serves several queues, so it runs
// under the dispatcher's context, not under a caller's.
func (d *Dispatcher) queryContext(timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(d.life.mayWork, timeout)
}

// searchBacklog wakes the queues of all endpoints with work, at the time it is due.
func (d *Dispatcher) searchBacklog() {
	ctx, cancel := d.queryContext(queryTimeout)
	defer cancel()
	backlog, err := d.config.Queue.DeliveryBacklog(ctx, d.self, d.horizon())
	if err != nil {
		d.logError(d.life.mayWork, "search the queue", err)
		return
	}
	now := d.config.Queue.Now()
	for _, w := range backlog.Endpoints {
		reason := workReported
		if w.Owner == "" { // the report of a release may have been lost
			reason = leaseReleased
		}
		if wait := w.Due.Sub(now); wait > 0 {
			time.AfterFunc(wait, func() { d.wake(reason, w.Key) })
		} else {
			d.wake(reason, w.Key)
		}
	}
	d.config.Metrics.backlog(backlog.Depth)
}

// horizon is how far ahead a poll looks: two intervals, so that nothing falls due between
// two polls unnoticed.
func (d *Dispatcher) horizon() time.Duration { return 2 * d.config.Poll }

const (
	// flushTimeout is how long results may take to be recorded after the deadline of a stop.
	flushTimeout = 2 * time.Second
	// releaseTimeout is short because leases that are not released run out by themselves.
	releaseTimeout = time.Second
)

// Stop starts nothing more, waits for the attempts under way until ctx ends, cuts
// the rest short, records every result and releases the leases, so that other replicas
// go on at once. What was cut short is sent again by another process. It may be called
// twice, and before the start.
func (d *Dispatcher) Stop(ctx context.Context) error {
	d.mu.Lock()
	d.life.endStarting()
	isStarted := d.queues != nil
	d.mu.Unlock()
	if !isStarted {
		return nil
	}
	cancelDeadline := context.AfterFunc(ctx, func() {
		d.life.endSending()
		time.AfterFunc(flushTimeout, d.life.endWorking)
	})
	d.life.queues.Wait()
	cancelDeadline()
	d.life.endWorking()
	d.life.background.Wait()

	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	if err := d.config.Queue.ReleaseEndpoints(ctx, d.self); err != nil {
		return fmt.Errorf("release the leases: %w", err)
	}
	if err := d.config.Bus.Publish(ctx, Topic, []string{releasedMark + d.self}); err != nil {
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
