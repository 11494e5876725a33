package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// CancellerConfig configures a Canceller. Queue and Bus are required.
type CancellerConfig struct {
	Queue Queue
	Bus   Bus
	Log   *slog.Logger // slog.Default if nil
	// AttemptTimeout is how long an attempt may take on any replica; DefaultTimeout if 0.
	AttemptTimeout time.Duration
}

// Canceller cancels attempts about erased people, on every replica. A process that
// sends nothing itself needs only this part of a Dispatcher.
type Canceller struct {
	config    CancellerConfig
	self      string // the name of this replica
	attempts  *attemptRegistry
	connected chan struct{} // closed once Bus.Listen has connected; messages sent later are received
	acks      sync.Map      // by request id: the channel for the names of the replicas that acknowledge it
}

// NewCanceller returns a canceller. StopSending waits for Listen, or for the start of
// the dispatcher that it is part of.
func NewCanceller(c CancellerConfig) *Canceller {
	return newCanceller(context.Background(), c) // it makes no attempts of its own
}

// newCanceller returns the canceller of attempts that end with the context maySend.
func newCanceller(maySend context.Context, c CancellerConfig) *Canceller {
	c.AttemptTimeout = cmp.Or(c.AttemptTimeout, DefaultTimeout)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	n := &Canceller{config: c, self: uuid.NewString(), connected: make(chan struct{})}
	n.attempts = newAttemptRegistry(maySend, 2*n.maxTimeToSend())
	return n
}

// maxTimeToSend is the longest time between the reading of a delivery and the end of
// its attempt: it is queued for up to keepQueued, waits up to maxTurnWait for its turn,
// and then has the time of an attempt.
func (c *Canceller) maxTimeToSend() time.Duration {
	return keepQueued + maxTurnWait + c.config.AttemptTimeout
}

// Listen receives the messages of other replicas until ctx ends. It is called once, and
// only if no dispatcher with this canceller is started.
func (c *Canceller) Listen(ctx context.Context) { c.listen(ctx, func([]string) {}) }

// listen handles the messages about erased people, and passes all messages on to others.
func (c *Canceller) listen(ctx context.Context, others func(messages []string)) {
	var answers sync.WaitGroup
	defer answers.Wait()
	connected := sync.OnceFunc(func() { close(c.connected) }) // Bus.Listen makes its first call, with nil, on connecting
	err := c.config.Bus.Listen(ctx, Topic, func(messages []string) {
		connected()
		for _, m := range messages {
			if text, ok := strings.CutPrefix(m, eraseMark); ok {
				answers.Go(func() { c.handleErasure(ctx, text) })
			} else if text, ok := strings.CutPrefix(m, ackMark); ok {
				c.receiveAck(text)
			}
		}
		others(messages)
	})
	c.logError(ctx, "listen to other replicas", err)
}

// logError logs an error, unless there is none or its cause is the end of ctx.
func (c *Canceller) logError(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		c.config.Log.Error("webhook dispatcher: "+what, "error", err)
	}
}

// receiveAck takes the name of a replica that has stopped sending.
func (c *Canceller) receiveAck(text string) {
	requestID, owner, _ := strings.Cut(text, " ")
	if acks, ok := c.acks.Load(requestID); ok {
		select {
		case acks.(chan string) <- owner:
		default:
		}
	}
}

// handleErasure cancels the attempts that another replica asks to cancel.
func (c *Canceller) handleErasure(ctx context.Context, text string) {
	var requestID string
	var record domain.RecordKey
	if _, err := fmt.Sscan(text, &requestID, &record.CompanyID, &record.EmployeeID); err != nil {
		return
	}
	err := c.attempts.cancelAndRefuse(ctx, record)
	if err == nil {
		err = c.config.Bus.Publish(ctx, Topic, []string{ackMark + requestID + " " + c.self})
	}
	c.logError(ctx, "answer another replica", err)
}

// StopSending cancels the attempts that carry data about the erased people, on every
// replica, and returns when none is under way. It is called after the erasure was
// committed, so that no replica can read data about them any more. A replica that does
// not answer is given the longest time that its attempts can last. So are all of them if
// it can't ask the database for them. It fails only if ctx ends.
func (c *Canceller) StopSending(ctx context.Context, records []domain.RecordKey) error {
	var asking sync.WaitGroup
	errs := make([]error, len(records))
	for i, record := range records {
		asking.Go(func() {
			if errs[i] = c.attempts.cancelAndRefuse(ctx, record); errs[i] == nil {
				errs[i] = c.stopOthers(ctx, record)
			}
		})
	}
	asking.Wait()
	return errors.Join(errs...)
}

// askAgain is how long a replica has to acknowledge a request before it is repeated: a
// message is lost while the other replica connects.
const askAgain = time.Second

// stopOthers asks the replicas that hold leases of the company to cancel their
// attempts, and waits for their acknowledgements.
func (c *Canceller) stopOthers(ctx context.Context, record domain.RecordKey) error {
	awaited := map[string]bool{}
	owners, err := c.config.Queue.LeaseOwners(ctx, record.CompanyID, c.maxTimeToSend())
	if err != nil {
		c.logError(ctx, "find the replicas that may be sending", err)
		awaited["unknown"] = true // no replica has this name, so that it is waited for until its attempts have ended
	}
	for _, owner := range owners {
		awaited[owner] = true
	}
	delete(awaited, c.self)
	if len(awaited) == 0 {
		return nil
	}
	requestID, acks := uuid.NewString(), make(chan string, 256) // far more than there are replicas
	c.acks.Store(requestID, acks)
	defer c.acks.Delete(requestID)
	// It misses no acknowledgement once this process receives messages. If that takes too
	// long, it waits for the attempts of others to time out instead.
	waitFor(ctx, c.connected, queryTimeout)
	message := fmt.Sprintf("%s%s %d %d", eraseMark, requestID, record.CompanyID, record.EmployeeID)
	isConfirmed, err := c.awaitAcks(ctx, message, acks, awaited)
	if !isConfirmed && err == nil {
		c.config.Log.Warn("a replica did not confirm that it stopped sending; its attempts have ended by now",
			"company", record.CompanyID, "replicas", len(awaited))
	}
	return err
}

// awaitAcks publishes a message, repeatedly, until all awaited replicas have acknowledged
// it, which it removes from the set. It returns false after the longest time that their
// attempts can last.
func (c *Canceller) awaitAcks(ctx context.Context, message string, acks <-chan string, awaited map[string]bool) (isConfirmed bool, err error) {
	ask := func() {
		err := c.config.Bus.Publish(ctx, Topic, []string{message})
		c.logError(ctx, "ask other replicas to stop sending", err) // then it waits for their attempts to time out
	}
	ask()
	again, late := time.NewTicker(askAgain), time.NewTimer(c.maxTimeToSend())
	defer again.Stop()
	defer late.Stop()
	for len(awaited) > 0 {
		select {
		case <-again.C:
			ask()
		case owner := <-acks:
			delete(awaited, owner)
		case <-late.C:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return true, nil
}

// waitFor waits until a channel is closed or the time is over.
func waitFor(ctx context.Context, closed <-chan struct{}, timeout time.Duration) {
	select {
	case <-closed: // no timer is needed
		return
	default:
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-closed:
	case <-ctx.Done():
	case <-timer.C:
	}
}

// attemptRegistry knows the attempts under way by the record they are about.
type attemptRegistry struct {
	maySend context.Context // of every attempt
	mu      sync.Mutex
	running map[domain.RecordKey]*recordAttempts
	erased  map[domain.RecordKey]time.Time
	// forgetAfter is how long new attempts about an erased person are refused at least.
	// The next erasure forgets people who were erased longer ago.
	forgetAfter time.Duration
}

// recordAttempts are the attempts under way about one record.
type recordAttempts struct {
	ctx    context.Context
	cancel context.CancelFunc
	count  int
	done   chan struct{} // closed when the last of them has ended; nil if nobody waits for that
}

func newAttemptRegistry(maySend context.Context, forgetAfter time.Duration) *attemptRegistry {
	return &attemptRegistry{maySend: maySend, forgetAfter: forgetAfter, running: map[domain.RecordKey]*recordAttempts{}, erased: map[domain.RecordKey]time.Time{}}
}

// begin registers an attempt and returns its context; ok is false if the person was
// erased. The event of a removal names nobody and is always sent.
func (r *attemptRegistry) begin(record domain.RecordKey, kind domain.EventKind) (ctx context.Context, end func(), ok bool) {
	if record.EmployeeID == 0 || kind == domain.EventEmployeeRemoved {
		return r.maySend, func() {}, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, erased := r.erased[record]; erased {
		return nil, nil, false
	}
	a := r.running[record]
	if a == nil {
		a = &recordAttempts{}
		a.ctx, a.cancel = context.WithCancel(r.maySend)
		r.running[record] = a
	}
	a.count++
	return a.ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if a.count--; a.count == 0 {
			a.cancel()
			delete(r.running, record)
			if a.done != nil {
				close(a.done)
			}
		}
	}, true
}

// cancelAndRefuse refuses new attempts about a record, cancels those under way and waits
// until they have ended.
func (r *attemptRegistry) cancelAndRefuse(ctx context.Context, record domain.RecordKey) error {
	r.mu.Lock()
	for old, at := range r.erased {
		if time.Since(at) > r.forgetAfter {
			delete(r.erased, old)
		}
	}
	r.erased[record] = time.Now()
	a := r.running[record]
	if a != nil && a.done == nil {
		a.done = make(chan struct{})
	}
	r.mu.Unlock()
	if a == nil {
		return nil
	}
	a.cancel()
	select {
	case <-a.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
