package service

import (
	"context"
	"errors"
	"time"
)

// LeaseStore lets one replica at a time do a piece of work.
type LeaseStore interface {
	TakeLease(ctx context.Context, name, owner string, hold time.Duration) (bool, error)
	DropLease(ctx context.Context, name, owner string) error
}

// A lease is renewed while the work goes on, and so lasts as long as the work does. A
// replica that died keeps it for leaseTime.
const (
	leaseTime  = 30 * time.Second
	leaseRenew = leaseTime / 3
)

var (
	errLeaseLost = errors.New("another replica may have taken the work over")
	// errLeaseHeld makes Periodic try again when the lease has expired, if it is not renewed.
	errLeaseHeld = errors.New("another replica is doing the work")
)

// WithLease calls do while this replica holds the named lease, or returns errLeaseHeld at once
// if another one does. The context of do ends when the lease could not be renewed.
func WithLease(ctx context.Context, store LeaseStore, name, owner string, do func(context.Context) error) error {
	mine, err := store.TakeLease(ctx, name, owner, leaseTime)
	if err != nil {
		return err
	}
	if !mine {
		return errLeaseHeld
	}
	working, stop := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		tick := time.NewTicker(leaseRenew)
		defer tick.Stop()
		for {
			select {
			case <-working.Done():
				return
			case <-tick.C:
			}
			if err := renewLease(working, store, name, owner); err != nil {
				stop(err)
			}
		}
	}()
	err = do(working)
	stop(nil)
	<-renewed
	return errors.Join(err, store.DropLease(context.WithoutCancel(ctx), name, owner))
}

// renewLease renews the lease within leaseRenew, so that work that loses its lease ends before
// another replica may take it: the store repeats a failing write for longer than that.
func renewLease(ctx context.Context, store LeaseStore, name, owner string) error {
	ctx, cancel := context.WithTimeout(ctx, leaseRenew)
	defer cancel()
	if mine, err := store.TakeLease(ctx, name, owner, leaseTime); err != nil || !mine {
		return errors.Join(errLeaseLost, err)
	}
	return nil
}

// roundRobin describes work that is listed and done in small steps, such as background jobs.
type roundRobin[T any] struct {
	store LeaseStore
	lease string
	owner string
	list  func(ctx context.Context) ([]T, error)
	step  func(ctx context.Context, item T) (advanced bool)
}

// runRoundRobin does one step of every listed item in turn, so that neither a long one nor one
// that fails keeps the others waiting, until none is listed or none advances. It does
// nothing while another replica holds the lease. It lists the items before it takes the lease
// too: mostly there are none, and then it writes nothing to the database.
func runRoundRobin[T any](ctx context.Context, r roundRobin[T]) error {
	if items, err := r.list(ctx); err != nil || len(items) == 0 {
		return err
	}
	err := WithLease(ctx, r.store, r.lease, r.owner, func(ctx context.Context) error {
		for {
			items, err := r.list(ctx)
			if err != nil {
				return err
			}
			advanced := false
			for _, item := range items {
				advanced = r.step(ctx, item) || advanced
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !advanced { // nothing is left, or the next call tries again
				return nil
			}
		}
	})
	if errors.Is(err, errLeaseHeld) {
		return nil
	}
	return err
}
