package service

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Periodic is background work that is done at once and then again at an interval. The
// first interval has a random length, so that work which starts together does not run
// together ever after: at the same moment of each second it would take a connection each.
// Work that another replica holds the lease of is tried again after leaseTime if the interval
// is longer: if that replica has died, the work is not left undone for the whole interval.
type Periodic struct {
	Name  string // what a failure is logged as
	Every time.Duration
	Wake  <-chan struct{} // starts the next round early; may be nil
	Log   *slog.Logger
	Do    func(ctx context.Context) error
}

// Run repeats the work until ctx ends. A failed round is logged and the next one
// comes in its time.
func (p Periodic) Run(ctx context.Context) {
	next := time.NewTimer(rand.N(p.Every)) //nolint:gosec // When is no secret.
	defer next.Stop()
	for {
		switch err := p.Do(ctx); {
		case errors.Is(err, errLeaseHeld):
			if p.Every > leaseTime {
				next.Reset(leaseTime)
			}
		case err != nil && ctx.Err() == nil:
			p.Log.Warn(p.Name, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			next.Reset(p.Every)
		case <-p.Wake:
		}
	}
}
