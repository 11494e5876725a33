package delivery

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// maxTimeToSend is the longest time between the reading of a delivery and the end of
// its attempt: it is queued for up to keepQueued, waits up to maxTurnWait for its turn,
// and then has the time of an attempt.
func (d *Dispatcher) maxTimeToSend() time.Duration {
	return keepQueued + maxTurnWait + d.config.AttemptTimeout
}

// StopSending cancels the attempts that carry something of the erased people, on
// every replica, and returns when none is under way. It is called after the
// erasure was committed, so that nothing of them can be read any more. A replica
// that does not answer is given the time that its attempts can last at most.
func (d *Dispatcher) StopSending(ctx context.Context, records []domain.RecordKey) error {
	for _, record := range records {
		if err := d.attempts.refuse(ctx, record); err != nil {
			return err
		}
		if err := d.stopOthers(ctx, record); err != nil {
			return err
		}
	}
	return nil
}

// stopOthers asks the replicas that hold leases of the company to cancel their
// attempts, and waits for their acknowledgements.
func (d *Dispatcher) stopOthers(ctx context.Context, record domain.RecordKey) error {
	owners, err := d.config.Queue.LeaseOwners(ctx, record.CompanyID, d.maxTimeToSend())
	if err != nil {
		return err
	}
	awaited := map[string]bool{}
	for _, owner := range owners {
		if owner != d.owner {
			awaited[owner] = true
		}
	}
	if len(awaited) == 0 {
		return nil
	}
	request := uuid.NewString()
	acks := make(chan string, 256) // far more than there are replicas
	d.attempts.acks.Store(request, acks)
	defer d.attempts.acks.Delete(request)
	d.waitForListener(ctx)
	message := fmt.Sprintf("%s%s %d %d", eraseMark, request, record.CompanyID, record.EmployeeID)
	if err := d.config.Bus.Publish(ctx, Topic, []string{message}); err != nil {
		d.logError("ask other replicas to stop sending", err) // then their attempts are waited for
	}
	late := time.NewTimer(d.maxTimeToSend())
	defer late.Stop()
	for len(awaited) > 0 {
		select {
		case owner := <-acks:
			delete(awaited, owner)
		case <-late.C:
			d.config.Log.Warn("a replica did not confirm that it stopped sending; its attempts have ended by now",
				"company", record.CompanyID, "replicas", len(awaited))
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// waitForListener waits until this process receives messages, so that it misses no
// acknowledgement. If that takes too long, the attempts of others are waited for.
func (d *Dispatcher) waitForListener(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	select {
	case <-d.life.listening:
	case <-ctx.Done():
	}
}

// receiveAck takes the name of a replica that has stopped sending.
func (d *Dispatcher) receiveAck(request, owner string) {
	if acks, ok := d.attempts.acks.Load(request); ok {
		select {
		case acks.(chan string) <- owner:
		default:
		}
	}
}

// answerErasure cancels the attempts that another replica asks to cancel.
func (d *Dispatcher) answerErasure(text string) {
	var request string
	var record domain.RecordKey
	if _, err := fmt.Sscan(text, &request, &record.CompanyID, &record.EmployeeID); err != nil {
		return
	}
	d.life.background.Go(func() {
		if d.attempts.refuse(d.life.work, record) != nil {
			return
		}
		if err := d.config.Bus.Publish(d.life.work, Topic, []string{ackMark + request + " " + d.owner}); err != nil {
			d.logError("answer another replica", err)
		}
	})
}

// attemptRegistry knows the attempts under way by the record they are about.
type attemptRegistry struct {
	mu      sync.Mutex
	running map[domain.RecordKey][]*runningAttempt
	erased  map[domain.RecordKey]time.Time
	// forgetAfter is how long new attempts about an erased person are refused at least.
	// The next erasure forgets people who were erased longer ago.
	forgetAfter time.Duration
	acks        sync.Map // from a request to the channel of the replicas that acknowledge it
}

type runningAttempt struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

func newAttemptRegistry(forgetAfter time.Duration) *attemptRegistry {
	return &attemptRegistry{forgetAfter: forgetAfter, running: map[domain.RecordKey][]*runningAttempt{}, erased: map[domain.RecordKey]time.Time{}}
}

// begin registers an attempt; ok is false if the person was erased. The event of a
// removal names nobody and is always sent.
func (r *attemptRegistry) begin(ctx context.Context, record domain.RecordKey, kind domain.EventKind) (_ context.Context, end func(), ok bool) {
	if record.EmployeeID == 0 || kind == domain.EventEmployeeRemoved {
		return ctx, func() {}, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, erased := r.erased[record]; erased {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	a := &runningAttempt{cancel, make(chan struct{})}
	r.running[record] = append(r.running[record], a)
	return ctx, func() {
		cancel()
		close(a.ended)
		r.mu.Lock()
		defer r.mu.Unlock()
		list := slices.DeleteFunc(r.running[record], func(x *runningAttempt) bool { return x == a })
		if len(list) == 0 {
			delete(r.running, record)
			return
		}
		r.running[record] = list
	}, true
}

// refuse refuses new attempts about a record, cancels those under way and waits until
// they have ended.
func (r *attemptRegistry) refuse(ctx context.Context, record domain.RecordKey) error {
	r.mu.Lock()
	for old, at := range r.erased {
		if time.Since(at) > r.forgetAfter {
			delete(r.erased, old)
		}
	}
	r.erased[record] = time.Now()
	running := slices.Clone(r.running[record])
	r.mu.Unlock()
	for _, a := range running {
		a.cancel()
	}
	for _, a := range running {
		select {
		case <-a.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
