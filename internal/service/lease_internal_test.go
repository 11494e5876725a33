package service

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// oneLease is a lease that ends when it is not renewed.
type oneLease struct {
	mu    sync.Mutex
	owner string
	until time.Time
	fails bool
	hangs bool // every call from now on ends with its context
}

func (l *oneLease) TakeLease(ctx context.Context, _, owner string, hold time.Duration) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hangs {
		<-ctx.Done()
		return false, ctx.Err()
	}
	if l.fails {
		return false, errors.New("the database is away")
	}
	if l.owner != owner && time.Now().Before(l.until) {
		return false, nil
	}
	l.owner, l.until = owner, time.Now().Add(hold)
	return true, nil
}

func (l *oneLease) DropLease(_ context.Context, _, owner string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner == owner {
		l.owner, l.until = "", time.Time{}
	}
	return nil
}

// breakDown makes renewals fail from now on, and returns when the lease ends.
func (l *oneLease) breakDown() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fails = true
	return l.until
}

// Work that takes longer than a lease stays one replica's.
func TestLeaseIsRenewedWhileTheWorkGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lease, others := &oneLease{}, 0
		err := withLease(t.Context(), lease, "work", "a", func(ctx context.Context) error {
			for range 10 {
				time.Sleep(leaseTime)
				if err := withLease(ctx, lease, "work", "b", func(context.Context) error { others++; return nil }); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
		if err != nil || others > 0 || lease.owner != "" {
			t.Errorf("%v; another replica worked %d times, and %q has the lease in the end", err, others, lease.owner)
		}
	})
}

// Work ends when its lease can't be renewed, before another replica may begin.
func TestWorkEndsWithItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lease := &oneLease{}
		err := withLease(t.Context(), lease, "work", "a", func(ctx context.Context) error {
			end := lease.breakDown()
			<-ctx.Done()
			if !time.Now().Before(end) {
				t.Error("the work went on after its lease")
			}
			return context.Cause(ctx)
		})
		if !errors.Is(err, errLeaseLost) {
			t.Errorf("the work ended with %v", err)
		}
	})
}

// A renewal that gets no answer, such as one that is tried again and again, ends the work
// before another replica may begin.
func TestWorkEndsWhenTheRenewalOfItsLeaseHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lease := &oneLease{}
		err := withLease(t.Context(), lease, "work", "a", func(ctx context.Context) error {
			lease.mu.Lock()
			lease.hangs = true
			end := lease.until
			lease.mu.Unlock()
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(time.Until(end)):
				return errors.New("the work went on after its lease")
			}
		})
		if !errors.Is(err, errLeaseLost) {
			t.Errorf("the work ended with %v", err)
		}
	})
}
