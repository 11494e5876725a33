package sqlite

import (
	"context"
	"maps"
	"slices"
)

// Publish calls the listeners of this process. Other processes on the same file
// find changes by polling.
func (e *Engine) Publish(_ context.Context, topic string, keys []string) error {
	e.mu.Lock()
	listeners := slices.Collect(maps.Values(e.topics[topic]))
	e.mu.Unlock()
	for _, fn := range listeners {
		fn(keys)
	}
	return nil
}

// Listen calls fn with what this process publishes until ctx ends.
func (e *Engine) Listen(ctx context.Context, topic string, fn func(keys []string)) error {
	e.mu.Lock()
	e.lastID++
	id := e.lastID
	if e.topics[topic] == nil {
		e.topics[topic] = map[int]func([]string){}
	}
	e.topics[topic][id] = fn
	e.mu.Unlock()
	fn(nil) // what was published before is missed
	<-ctx.Done()
	e.mu.Lock()
	delete(e.topics[topic], id)
	e.mu.Unlock()
	return ctx.Err()
}
