package batch

import (
	"context"
	"sync"
)

// Group runs concurrent calls with the same key together, as a Batcher does. Calls
// with different keys never share a batch and never wait for one another. A key costs
// memory only while calls with it are under way.
type Group[Key comparable, Request, Response any] struct {
	run     func(ctx context.Context, requests []Request) ([]Response, error)
	options Options

	mu    sync.Mutex
	byKey map[Key]*sharedBatcher[Request, Response]
}

// sharedBatcher is dropped when the last of its users leaves.
type sharedBatcher[Request, Response any] struct {
	*Batcher[Request, Response]
	users int
}

// NewGroup returns a group that calls run for each batch. New describes run.
func NewGroup[Key comparable, Request, Response any](run func(context.Context, []Request) ([]Response, error), o Options) *Group[Key, Request, Response] {
	return &Group[Key, Request, Response]{run: run, options: o, byKey: map[Key]*sharedBatcher[Request, Response]{}}
}

// Do runs a request, in a batch with others of the same key if there are any. Batcher.Do
// describes what happens when ctx ends.
func (g *Group[Key, Request, Response]) Do(ctx context.Context, key Key, request Request) (Response, error) {
	b := g.enter(key)
	defer g.leave(key, b)
	return b.Do(ctx, request)
}

func (g *Group[Key, Request, Response]) enter(key Key) *sharedBatcher[Request, Response] {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.byKey[key]
	if b == nil {
		b = &sharedBatcher[Request, Response]{Batcher: New(g.run, g.options)}
		g.byKey[key] = b
	}
	b.users++
	return b
}

func (g *Group[Key, Request, Response]) leave(key Key, b *sharedBatcher[Request, Response]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.users--; b.users == 0 {
		delete(g.byKey, key)
	}
}
