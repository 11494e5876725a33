package delivery

import (
	"context"
	"strings"
	"sync"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Bus carries messages between replicas.
type Bus interface {
	Publish(ctx context.Context, topic string, keys []string) error
	// Listen calls fn with the keys of each message, and with nil whenever it has
	// connected, because messages may have been lost before. It returns when ctx ends.
	Listen(ctx context.Context, topic string, fn func(keys []string)) error
}

// Topic carries all messages between dispatchers; see the marks below.
const Topic = "coursebridge_deliveries"

// A message is an endpoint's key, or begins with one of these marks. Messages with
// other marks are ignored: they come from a later version.
const (
	releasedMark = "!" // a replica released its leases; its name follows
	eraseMark    = "?" // a person was erased; a request id and the record follow
	ackMark      = "=" // a replica has stopped sending; the request id and its name follow
)

// notifyOwner publishes that a change was committed here, so that the replica that
// holds the endpoint's lease sends it. All replicas receive the message.
func (q *endpointQueue) notifyOwner() {
	if !q.mustNotify {
		return
	}
	q.mustNotify = false
	q.d.life.queues.Go(func() {
		if _, err := q.d.notices.Do(q.d.life.work, q.key.String()); err != nil {
			q.d.logError("notify another replica", err) // its poll will find the work
		}
	})
}

// publish sends messages to the other replicas.
func (d *Dispatcher) publish(ctx context.Context, messages []string) ([]struct{}, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	return make([]struct{}, len(messages)), d.config.Bus.Publish(ctx, Topic, messages)
}

// listen handles the messages of other replicas. A nil list means that messages may
// have been lost, so it polls at once.
func (d *Dispatcher) listen() {
	begun := sync.OnceFunc(func() { close(d.life.listening) })
	err := d.config.Bus.Listen(d.life.work, Topic, func(messages []string) {
		begun()
		if messages == nil {
			d.requestPoll()
		}
		for _, m := range messages {
			d.receive(m)
		}
	})
	if err != nil {
		d.logError("listen to other replicas", err)
	}
}

func (d *Dispatcher) requestPoll() {
	select {
	case d.pollNow <- struct{}{}:
	default:
	}
}

func (d *Dispatcher) receive(message string) {
	switch {
	case strings.HasPrefix(message, releasedMark):
		d.handleRelease(strings.TrimPrefix(message, releasedMark))
	case strings.HasPrefix(message, eraseMark):
		d.handleErasure(strings.TrimPrefix(message, eraseMark))
	case strings.HasPrefix(message, ackMark):
		requestID, owner, _ := strings.Cut(strings.TrimPrefix(message, ackMark), " ")
		d.receiveAck(requestID, owner)
	default:
		if key, err := domain.ParseEndpointKey(message); err == nil {
			d.wake(wokenByPeer, key)
		}
	}
}

// handleRelease wakes all queues, because another replica has released its leases:
// those that wait for a foreign lease claim it again. A poll finds the released
// endpoints that have no queue here.
func (d *Dispatcher) handleRelease(owner string) {
	if owner == d.owner {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queues {
		q.wake(leaseReleased)
	}
	d.requestPoll()
}

// Notify wakes the dispatchers of other processes. It is for processes without a
// dispatcher, such as commands.
func Notify(ctx context.Context, bus Bus, keys []domain.EndpointKey) error {
	messages := make([]string, len(keys))
	for i, key := range keys {
		messages[i] = key.String()
	}
	return bus.Publish(ctx, Topic, messages)
}
