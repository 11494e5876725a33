package service

import (
	"context"
	"errors"
	"log/slog"
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
		err := WithLease(t.Context(), lease, "work", "a", func(ctx context.Context) error {
			for range 10 {
				time.Sleep(leaseTime)
				if err := WithLease(ctx, lease, "work", "b", func(context.Context) error { others++; return nil }); !errors.Is(err, errLeaseHeld) {
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
		err := WithLease(t.Context(), lease, "work", "a", func(ctx context.Context) error {
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
		err := WithLease(t.Context(), lease, "work", "a", func(ctx context.Context) error {
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

// When a replica dies while it does periodic work, another one does the work soon after the
// lease has expired, however long the interval is.
func TestPeriodicWorkOfADeadReplicaIsTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lease := &oneLease{}
		if _, err := lease.TakeLease(t.Context(), "work", "dead", leaseTime); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		began, rounds := time.Now(), 0
		Periodic{Every: 100 * time.Hour, Log: slog.New(slog.DiscardHandler), Do: func(ctx context.Context) error {
			return WithLease(ctx, lease, "work", "b", func(context.Context) error {
				if rounds++; rounds == 2 {
					cancel()
				}
				if took := time.Since(began); rounds == 1 && took > leaseTime {
					t.Errorf("the work was taken over after %s", took)
				}
				return nil
			})
		}}.Run(ctx)
		if took := time.Since(began); took != leaseTime+100*time.Hour {
			t.Errorf("the second round came after %s", took)
		}
	})
}
