package delivery

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Topic is what replicas tell one another of endpoints on.
const Topic = "coursebridge_deliveries"

// freedMark stands before the key of an endpoint whose lease was given up.
const freedMark = "!"

// publishEvery spaces notifications: what gathers meanwhile goes out as one.
const publishEvery = 5 * time.Millisecond

// origin says where a wake-up came from.
type origin int

const (
	fromHere  origin = iota // a change that this process committed
	fromThere               // another replica, or ourselves, over the bus
	whenFreed               // a replica that gave up the lease
)

// inbox gathers wake-ups for the loop.
type inbox struct {
	mu     sync.Mutex
	keys   [3]map[domain.EndpointKey]struct{}
	missed bool
	signal chan struct{}
}

func newInbox() *inbox {
	in := &inbox{signal: make(chan struct{}, 1)}
	for i := range in.keys {
		in.keys[i] = map[domain.EndpointKey]struct{}{}
	}
	return in
}

func (in *inbox) add(from origin, keys []domain.EndpointKey) {
	in.mu.Lock()
	for _, key := range keys {
		in.keys[from][key] = struct{}{}
	}
	in.mu.Unlock()
	notify(in.signal)
}

func (in *inbox) miss() {
	in.mu.Lock()
	in.missed = true
	in.mu.Unlock()
	notify(in.signal)
}

func (in *inbox) take() (here, there, freed []domain.EndpointKey, missed bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	lists := [3][]domain.EndpointKey{}
	for i, set := range in.keys {
		for key := range set {
			lists[i] = append(lists[i], key)
		}
		clear(set)
	}
	missed, in.missed = in.missed, false
	return lists[fromHere], lists[fromThere], lists[whenFreed], missed
}

func notify(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// outgoing gathers keys for other replicas.
type outgoing struct {
	mu     sync.Mutex
	keys   map[string]struct{}
	signal chan struct{}
}

func newOutgoing() *outgoing {
	return &outgoing{keys: map[string]struct{}{}, signal: make(chan struct{}, 1)}
}

func (o *outgoing) add(key string) {
	o.mu.Lock()
	o.keys[key] = struct{}{}
	o.mu.Unlock()
	notify(o.signal)
}

func (o *outgoing) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]string, 0, len(o.keys))
	for key := range o.keys {
		out = append(out, key)
	}
	clear(o.keys)
	return out
}

func (d *Dispatcher) publishLoop() {
	for {
		select {
		case <-d.work.Done():
			return
		case <-d.outbox.signal:
		}
		ctx, cancel := context.WithTimeout(d.work, queryTimeout)
		if err := d.config.Bus.Publish(ctx, Topic, d.outbox.take()); err != nil {
			d.complain("tell other replicas", err) // their poll is the net
		}
		cancel()
		select {
		case <-d.work.Done():
			return
		case <-time.After(publishEvery):
		}
	}
}

func (d *Dispatcher) listen() {
	err := d.config.Bus.Listen(d.work, Topic, func(texts []string) {
		if texts == nil {
			d.inbox.miss()
			return
		}
		var there, freed []domain.EndpointKey
		for _, text := range texts {
			name, given := strings.CutPrefix(text, freedMark)
			key, err := domain.ParseEndpointKey(name)
			if err != nil {
				continue // of a version to come
			}
			if given {
				freed = append(freed, key)
			} else {
				there = append(there, key)
			}
		}
		d.inbox.add(fromThere, there)
		d.inbox.add(whenFreed, freed)
	})
	if err != nil {
		d.complain("listen to other replicas", err)
	}
}

// Tell wakes the dispatchers of other processes, for one that has none itself.
func Tell(ctx context.Context, bus Bus, keys []domain.EndpointKey) error {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = key.String()
	}
	return bus.Publish(ctx, Topic, texts)
}
