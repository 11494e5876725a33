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

// sendBound is how long after it was read a delivery can still be on its way: it
// starts within keepQueued, waits for its turn and then has the time of an attempt.
func (d *Dispatcher) sendBound() time.Duration { return keepQueued + stuck + d.config.AttemptTimeout }

// StopSending cancels the attempts that carry something of the erased people, on
// every replica, and returns when none is under way. It is called after the
// erasure was committed, so that nothing of them can be read any more. A replica
// that does not answer is given the time that its attempts can last at most.
func (d *Dispatcher) StopSending(ctx context.Context, records []domain.RecordKey) error {
	for _, record := range records {
		if err := d.attempts.cancel(ctx, record); err != nil {
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
	owners, err := d.config.Queue.LeaseOwners(ctx, record.CompanyID, d.sendBound())
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
	token := uuid.NewString()
	acks := make(chan string, 256) // far more than there are replicas
	d.attempts.acks.Store(token, acks)
	defer d.attempts.acks.Delete(token)
	d.waitForListener(ctx)
	message := fmt.Sprintf("%s%s %d %d", eraseMark, token, record.CompanyID, record.EmployeeID)
	if err := d.config.Bus.Publish(ctx, Topic, []string{message}); err != nil {
		d.logError("ask other replicas to stop sending", err) // then their attempts are waited for
	}
	late := time.NewTimer(d.sendBound())
	defer late.Stop()
	for len(awaited) > 0 {
		select {
		case owner := <-acks:
			delete(awaited, owner)
		case <-late.C:
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
func (d *Dispatcher) receiveAck(token, owner string) {
	if acks, ok := d.attempts.acks.Load(token); ok {
		select {
		case acks.(chan string) <- owner:
		default:
		}
	}
}

// answerErasure cancels the attempts that another replica asks to cancel.
func (d *Dispatcher) answerErasure(text string) {
	var token string
	var record domain.RecordKey
	if _, err := fmt.Sscan(text, &token, &record.CompanyID, &record.EmployeeID); err != nil {
		return
	}
	d.life.background.Go(func() {
		if d.attempts.cancel(d.life.work, record) != nil {
			return
		}
		if err := d.config.Bus.Publish(d.life.work, Topic, []string{ackMark + token + " " + d.owner}); err != nil {
			d.logError("answer another replica", err)
		}
	})
}

// attemptRegistry knows the attempts under way by the record they are about.
type attemptRegistry struct {
	mu      sync.Mutex
	running map[domain.RecordKey][]*runningAttempt
	erased  map[domain.RecordKey]time.Time
	// remember is how long new attempts about an erased person are refused.
	remember time.Duration
	acks     sync.Map // from a token to the channel of the replicas that acknowledge it
}

type runningAttempt struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

func newAttemptRegistry(remember time.Duration) *attemptRegistry {
	return &attemptRegistry{remember: remember, running: map[domain.RecordKey][]*runningAttempt{}, erased: map[domain.RecordKey]time.Time{}}
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
		if r.running[record] = list; len(list) == 0 {
			delete(r.running, record)
		}
	}, true
}

// cancel ends the attempts of a record, waits for them, and refuses new ones for as
// long as deliveries that were read before can be at hand.
func (r *attemptRegistry) cancel(ctx context.Context, record domain.RecordKey) error {
	r.mu.Lock()
	for old, at := range r.erased {
		if time.Since(at) > r.remember {
			delete(r.erased, old)
		}
	}
	r.erased[record] = time.Now()
	running := slices.Clone(r.running[record])
	r.mu.Unlock()
	for _, a := range running {
		a.cancel()
		select {
		case <-a.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
