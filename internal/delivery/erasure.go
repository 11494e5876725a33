package delivery

import (
	"context"
	"errors"
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

// StopSending cancels the attempts that carry data about the erased people, on every
// replica, and returns when none is under way. It is called after the erasure was
// committed, so that no replica can read data about them any more. A replica that does
// not answer is given the longest time that its attempts can last.
func (d *Dispatcher) StopSending(ctx context.Context, records []domain.RecordKey) error {
	var asking sync.WaitGroup
	errs := make([]error, len(records))
	for i, record := range records {
		asking.Go(func() {
			if errs[i] = d.attempts.cancelAndRefuse(ctx, record); errs[i] == nil {
				errs[i] = d.stopOthers(ctx, record)
			}
		})
	}
	asking.Wait()
	return errors.Join(errs...)
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
	requestID := uuid.NewString()
	acks := d.expectAcks(requestID)
	defer d.forgetAcks(requestID)
	d.waitForListener(ctx)
	message := fmt.Sprintf("%s%s %d %d", eraseMark, requestID, record.CompanyID, record.EmployeeID)
	if err := d.config.Bus.Publish(ctx, Topic, []string{message}); err != nil {
		d.logError("ask other replicas to stop sending", err) // then it waits for their attempts to time out
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
// acknowledgement. If that takes too long, the caller waits for the attempts of others
// to time out instead.
func (d *Dispatcher) waitForListener(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	select {
	case <-d.life.listening:
	case <-ctx.Done():
	}
}

// expectAcks returns the channel for the names of the replicas that acknowledge a
// request.
func (d *Dispatcher) expectAcks(requestID string) <-chan string {
	acks := make(chan string, 256) // far more than there are replicas
	d.mu.Lock()
	defer d.mu.Unlock()
	d.acks[requestID] = acks
	return acks
}

func (d *Dispatcher) forgetAcks(requestID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.acks, requestID)
}

// receiveAck takes the name of a replica that has stopped sending.
func (d *Dispatcher) receiveAck(requestID, owner string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case d.acks[requestID] <- owner: // a nil channel, of a request of another replica, takes nothing
	default:
	}
}

// handleErasure cancels the attempts that another replica asks to cancel.
func (d *Dispatcher) handleErasure(text string) {
	var requestID string
	var record domain.RecordKey
	if _, err := fmt.Sscan(text, &requestID, &record.CompanyID, &record.EmployeeID); err != nil {
		return
	}
	d.life.background.Go(func() {
		if d.attempts.cancelAndRefuse(d.life.work, record) != nil {
			return
		}
		if err := d.config.Bus.Publish(d.life.work, Topic, []string{ackMark + requestID + " " + d.owner}); err != nil {
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
}

type runningAttempt struct {
	cancel context.CancelFunc
	done   chan struct{}
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
		close(a.done)
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
	running := slices.Clone(r.running[record])
	r.mu.Unlock()
	for _, a := range running {
		a.cancel()
	}
	for _, a := range running {
		select {
		case <-a.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
