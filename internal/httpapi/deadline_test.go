package httpapi

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

type nameKey struct{}

func TestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parent := context.WithValue(t.Context(), nameKey{}, "parent")
		at := time.Now().Add(time.Minute)
		waited, unwatched := withDeadline(parent, at), withDeadline(parent, at)
		defer waited.cancel()
		defer unwatched.cancel()
		for _, d := range []*deadline{waited, unwatched} {
			if got, ok := d.Deadline(); !ok || !got.Equal(at) || d.Err() != nil || d.Value(nameKey{}) != "parent" {
				t.Errorf("deadline %v, %v, value %v", got, d.Err(), d.Value(nameKey{}))
			}
		}
		<-waited.Done()
		for name, d := range map[string]*deadline{"waited for": waited, "not waited for": unwatched} {
			if !errors.Is(d.Err(), context.DeadlineExceeded) || time.Now().Before(at) || d.Value(nameKey{}) != "parent" {
				t.Errorf("%s: %v at %v", name, d.Err(), time.Now())
			}
		}
	})
}

func TestDeadlineIsCancelled(t *testing.T) {
	t.Parallel()
	far := time.Now().Add(time.Hour)
	for name, prepare := range map[string]func(*deadline){"started": func(d *deadline) { d.Done() }, "not started": func(*deadline) {}} {
		d := withDeadline(context.WithValue(t.Context(), nameKey{}, "parent"), far)
		prepare(d)
		d.cancel()
		<-d.Done()
		if !errors.Is(d.Err(), context.Canceled) || d.Value(nameKey{}) != "parent" {
			t.Errorf("%s: %v, %v", name, d.Err(), d.Value(nameKey{}))
		}
	}
	parent, cancel := context.WithCancel(t.Context())
	d := withDeadline(parent, far)
	defer d.cancel()
	cancel()
	if !errors.Is(d.Err(), context.Canceled) {
		t.Errorf("the parent is cancelled, the deadline has %v", d.Err())
	}
	<-d.Done()
}

// A context made from a deadline needs no goroutine that follows the parent.
func TestDeadlineIsAnOrdinaryParent(t *testing.T) { //nolint:paralleltest // it counts goroutines
	d := withDeadline(context.Background(), time.Now().Add(time.Hour))
	before := runtime.NumGoroutine()
	child, cancel := context.WithCancel(d)
	defer cancel()
	if got := runtime.NumGoroutine(); got > before {
		t.Errorf("%d goroutines, %d before", got, before)
	}
	d.cancel()
	<-child.Done()
}
