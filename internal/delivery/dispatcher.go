package delivery

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Queue is where deliveries wait and where results are kept. An endpoint's
// deliveries are sent by the one owner that holds its lease.
type Queue interface {
	Now() time.Time
	ClaimEndpoints(ctx context.Context, owner string, hold time.Duration, asks []domain.LaneAsk) ([]domain.Lane, error)
	DueDeliveries(ctx context.Context, asks []domain.LaneAsk) ([]domain.Lane, error)
	RenewEndpoints(ctx context.Context, owner string, hold time.Duration, keys []domain.EndpointKey) ([]domain.Lane, error)
	ReleaseEndpoints(ctx context.Context, owner string) error
	ReclaimEndpoints(ctx context.Context) error
	RecordResults(ctx context.Context, results []domain.DeliveryResult) (domain.Recorded, error)
	ParkDeliveries(ctx context.Context, key domain.EndpointKey, limit int) (int, error)
	DeliveryBacklog(ctx context.Context, horizon time.Duration) (domain.Backlog, error)
	OldestUnattended(ctx context.Context) (at time.Time, ok bool, err error)
}

// Bus carries wake-ups between replicas.
type Bus interface {
	Publish(ctx context.Context, topic string, keys []string) error
	Listen(ctx context.Context, topic string, fn func(keys []string)) error
}

// Opener opens sealed secrets.
type Opener interface {
	Open(label string, sealed []byte) ([]byte, error)
}

// Attempter makes one attempt; a Sender does.
type Attempter interface {
	Send(ctx context.Context, r Request) Outcome
}

// Limits bound how many attempts are under way at once. Every endpoint may have
// a few of its own whatever the others do, so that nobody is kept waiting by
// receivers that hang.
type Limits struct {
	PerEndpoint int // 32 if 0
	PerCompany  int // 256 if 0
	Total       int // 4096 if 0
}

// DispatcherConfig sets a Dispatcher up. Queue, Bus, Secrets and Sender are needed.
type DispatcherConfig struct {
	Queue    Queue
	Bus      Bus
	Secrets  Opener
	Sender   Attempter
	Schedule Schedule // DefaultSchedule if nil
	Limits   Limits
	Metrics  *Metrics     // none if nil
	Log      *slog.Logger // slog.Default if nil

	// Poll is how often the queue is searched for work that no wake-up told of; 5 s if 0.
	Poll time.Duration
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
	if c.Schedule == nil {
		c.Schedule = DefaultSchedule()
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
}

// Dispatcher sends due deliveries, endpoint by endpoint, and records what became
// of them. One goroutine owns all of its state; what takes time is done beside
// it and reports back as a call. Any number of dispatchers share a queue.
type Dispatcher struct {
	config DispatcherConfig
	owner  string

	inbox  *inbox
	outbox *outgoing
	calls  chan func()

	work      context.Context // ends when everything must
	endWork   context.CancelFunc
	sending   context.Context // ends when attempts under way must
	endSends  context.CancelFunc
	beside    sync.WaitGroup
	stop      chan struct{}
	abort     chan struct{}
	done      chan struct{}
	startOnce sync.Once
	stopOnce  sync.Once

	// Owned by the loop.
	lanes    map[domain.EndpointKey]*lane
	slots    slots
	alarms   alarms
	reads    fetches
	claims   fetches
	results  results
	polling  bool
	pollAt   time.Time
	renewing bool
	renewAt  time.Time
	stopping bool
}

// NewDispatcher makes a dispatcher that does nothing until it is started.
func NewDispatcher(c DispatcherConfig) *Dispatcher {
	c.setDefaults()
	d := &Dispatcher{
		config: c, owner: uuid.NewString(), calls: make(chan func(), 1024),
		inbox: newInbox(), outbox: newOutgoing(),
		stop: make(chan struct{}), abort: make(chan struct{}), done: make(chan struct{}),
		lanes: map[domain.EndpointKey]*lane{}, slots: newSlots(c.Limits),
	}
	d.reads = fetches{most: 2}
	d.claims = fetches{most: 1, claim: true}
	d.work, d.endWork = context.WithCancel(context.Background())
	d.sending, d.endSends = context.WithCancel(d.work)
	return d
}

// Start begins to send. A dispatcher is started once.
func (d *Dispatcher) Start(ctx context.Context) error {
	if err := d.config.Queue.ReclaimEndpoints(ctx); err != nil {
		return fmt.Errorf("take over from a process that ended: %w", err)
	}
	d.startOnce.Do(func() {
		now := d.config.Queue.Now()
		d.pollAt, d.renewAt = now, now.Add(d.renewEvery())
		d.beside.Go(d.publishLoop)
		d.beside.Go(d.listen)
		go d.loop()
	})
	return nil
}

// Wake tells of endpoints that have due deliveries, or that were changed. It
// never blocks.
func (d *Dispatcher) Wake(keys []domain.EndpointKey) { d.inbox.add(fromHere, keys) }

// Stop starts nothing more, waits for the attempts under way until ctx ends,
// cuts the rest short, records every result and gives up the leases. What was
// cut short is sent again by another process. It may be called twice.
func (d *Dispatcher) Stop(ctx context.Context) error {
	var err error
	d.stopOnce.Do(func() {
		d.startOnce.Do(func() { close(d.done) }) // never started
		close(d.stop)
		select {
		case <-d.done:
		case <-ctx.Done():
			close(d.abort)
			select {
			case <-d.done:
			case <-time.After(lastWords):
			}
		}
		d.endWork()
		<-d.done
		d.beside.Wait()
		err = d.release()
	})
	<-d.done
	return err
}

// lastWords is how long results may take to be recorded after the deadline of a stop.
const lastWords = 3 * time.Second

// release lets the other replicas go on at once.
func (d *Dispatcher) release() error {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	if err := d.config.Queue.ReleaseEndpoints(ctx, d.owner); err != nil {
		return fmt.Errorf("give up the leases: %w", err)
	}
	var freed []string
	for key, l := range d.lanes { // the loop has ended
		if l.status == owned {
			freed = append(freed, freedMark+key.String())
		}
	}
	if len(freed) == 0 {
		return nil
	}
	if err := d.config.Bus.Publish(ctx, Topic, freed); err != nil {
		return fmt.Errorf("tell of the leases given up: %w", err)
	}
	return nil
}

// OldestDue is how long the oldest due delivery has been waiting that no replica
// looks after, 0 if there is none. A receiver that is slow does not count: a
// replica is waiting for it.
func (d *Dispatcher) OldestDue(ctx context.Context) (time.Duration, error) {
	at, ok, err := d.config.Queue.OldestUnattended(ctx)
	if err != nil || !ok {
		return 0, err
	}
	return max(d.config.Queue.Now().Sub(at), 0), nil
}

// post hands a result of work done beside to the loop.
func (d *Dispatcher) post(fn func()) {
	select {
	case d.calls <- fn:
	case <-d.done:
	}
}
