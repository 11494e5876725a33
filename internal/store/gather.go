package store

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// gather answers questions that are asked at the same time together, by one
// statement or transaction for all of them. Nobody waits for company: who finds a
// free lane goes at once and alone, and who finds none goes with all the others
// who wait, as soon as a lane is free. So a lone request costs what it always did,
// and many cost less the more they are.
type gather[Q, A any] struct {
	// answer gets at least one question, and gives as many answers.
	answer func(ctx context.Context, questions []Q) ([]A, error)

	mu      sync.Mutex
	running int
	waiting []*question[Q, A]
}

const (
	// lanes is how many groups are under way at once: while the database works on
	// one, the other is on its way.
	lanes = 2
	// maxGroup keeps one group from taking long.
	maxGroup = 64
)

var errUnanswered = errors.New("the group that a question was in has been lost")

type question[Q, A any] struct {
	asked  Q
	answer A
	err    error
	done   chan struct{}
	group  []*question[Q, A] // not nil in who has to ask for the group
}

// ask gives the answer to q. A caller who leaves while others need the group to go
// on is kept until it is through; what has begun is not undone.
func (g *gather[Q, A]) ask(ctx context.Context, q Q) (A, error) {
	own := &question[Q, A]{asked: q, err: errUnanswered}
	if !g.enter(own) {
		select {
		case <-own.done:
		case <-ctx.Done():
			if g.left(own) {
				var none A
				return none, ctx.Err()
			}
		}
	}
	if own.group != nil {
		g.run(context.WithoutCancel(ctx), own.group)
	}
	return own.answer, own.err
}

// enter says whether a lane was free; else own waits.
func (g *gather[Q, A]) enter(own *question[Q, A]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running < lanes {
		g.running++
		own.group = []*question[Q, A]{own}
		return true
	}
	own.done = make(chan struct{})
	g.waiting = append(g.waiting, own)
	return false
}

// left takes back a question, unless it falls to its caller to ask for others.
func (g *gather[Q, A]) left(own *question[Q, A]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, own); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		return true
	}
	return own.group == nil
}

func (g *gather[Q, A]) run(ctx context.Context, group []*question[Q, A]) {
	defer g.pass(group)
	questions := make([]Q, len(group))
	for i, q := range group {
		questions[i] = q.asked
	}
	answers, err := g.answer(ctx, questions)
	for i, q := range group {
		if q.err = err; err == nil {
			q.answer = answers[i]
		}
	}
}

// pass wakes those who have their answer, and gives the lane to those who wait.
func (g *gather[Q, A]) pass(group []*question[Q, A]) {
	for _, q := range group[1:] {
		close(q.done)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), maxGroup)
	if n == 0 {
		g.running--
		return
	}
	next := slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	next[0].group = next
	close(next[0].done)
}
