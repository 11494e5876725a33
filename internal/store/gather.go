package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// gather answers questions that are asked at the same time together, by one
// statement or transaction for all of them. Nobody waits for company: who comes
// while no group is under way goes at once and alone, and who comes while one is
// goes with all the others who wait, as soon as it is back or they are enough. So
// a lone request costs what it always did, and many cost less the more they are.
type gather[Q, A any] struct {
	// answer gets at least one question, and gives as many answers.
	answer func(ctx context.Context, questions []Q) ([]A, error)
	// slow is how long who waits does so before the next group goes beside the one
	// that is under way.
	slow time.Duration

	mu      sync.Mutex
	running int
	waiting []*question[Q, A]
}

const (
	// slowGroup is far beyond what a group takes of a database that is well.
	slowGroup = 5 * time.Millisecond
	// enough is how many who wait go beside a group that is under way, so that the
	// database has something to do while answers are on their way.
	enough = 8
	// maxGroups is how many may be under way at once, if they are slow.
	maxGroups = 4
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
	if !g.enter(own) && !g.wait(ctx, own) {
		var none A
		return none, ctx.Err()
	}
	if own.group != nil {
		g.run(context.WithoutCancel(ctx), own.group)
	}
	return own.answer, own.err
}

// enter says whether own goes at once, for all who wait; else it waits.
func (g *gather[Q, A]) enter(own *question[Q, A]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running == 0 { // then nobody waits
		g.running++
		own.group = []*question[Q, A]{own}
		return true
	}
	own.done = make(chan struct{})
	g.waiting = append(g.waiting, own)
	if g.running > 1 || len(g.waiting) < enough {
		return false
	}
	g.lead(own)
	return true
}

// wait returns when own is answered or has to ask for a group; false if its caller
// has left.
func (g *gather[Q, A]) wait(ctx context.Context, own *question[Q, A]) bool {
	slow := time.NewTimer(g.slow)
	defer slow.Stop()
	for {
		select {
		case <-own.done:
			return true
		case <-ctx.Done():
			return !g.left(own)
		case <-slow.C:
			if g.overtake(own) {
				return true
			}
		}
	}
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

// overtake lets own ask for all who wait, beside groups that are slow.
func (g *gather[Q, A]) overtake(own *question[Q, A]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Contains(g.waiting, own) || g.running == maxGroups {
		return false
	}
	g.lead(own)
	return true
}

// lead begins a group of those who wait, with own as the one to ask for them.
func (g *gather[Q, A]) lead(own *question[Q, A]) {
	g.running++
	i := slices.Index(g.waiting, own)
	g.waiting[0], g.waiting[i] = own, g.waiting[0]
	g.next()
}

// next makes a group of those who wait, for the first of them to ask for.
func (g *gather[Q, A]) next() *question[Q, A] {
	n := min(len(g.waiting), maxGroup)
	group := slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	group[0].group = group
	return group[0]
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

// pass wakes those who have their answer, and lets those go who wait.
func (g *gather[Q, A]) pass(group []*question[Q, A]) {
	for _, q := range group[1:] {
		close(q.done)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.running--
		return
	}
	close(g.next().done)
}
