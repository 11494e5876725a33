package service

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// TestCounterKeepsAnswers has each queued count done by the test instead of a worker.
func TestCounterKeepsAnswers(t *testing.T) {
	t.Parallel()
	c, key, now := newCounter(), countKey{company: 1, report: "tags"}, time.Unix(1_000_000, 0)
	value, failure := "first", error(nil)
	ask := func(at time.Time) (any, error) {
		answer, _, err := c.ask(key, at, func(context.Context) (any, error) { return value, failure })
		return answer, err
	}
	count := func() {
		select {
		case work := <-c.queue:
			work(t.Context())
		default:
			t.Error("nothing was queued")
		}
	}
	for range 2 { // the second question waits for the same count
		if answer, err := ask(now); answer != nil || err != nil {
			t.Fatalf("an answer before the count: %v, %v", answer, err)
		}
	}
	count()
	value = "second"
	if answer, err := ask(now.Add(countAge)); answer != "first" || err != nil || len(c.queue) != 0 {
		t.Errorf("a recent answer: %v, %v, %d queued", answer, err, len(c.queue))
	}
	old := now.Add(countAge + time.Second)
	if answer, _ := ask(old); answer != "first" {
		t.Errorf("while it is counted again: %v", answer)
	}
	count()
	if answer, _ := ask(old); answer != "second" {
		t.Errorf("after it was counted again: %v", answer)
	}
	failure = domain.Errorf(domain.CodeUnavailable, "Try again.")
	later := old.Add(countAge + time.Second)
	_, _ = ask(later)
	count()
	if _, err := ask(later); !errors.Is(err, failure) {
		t.Errorf("a count that failed: %v", err)
	}
}
