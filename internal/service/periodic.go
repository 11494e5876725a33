package service

import (
	"context"
	"log/slog"
	"time"
)

// Periodic is background work that is done at once and then again at an interval.
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
	tick := time.NewTicker(p.Every)
	defer tick.Stop()
	for {
		if err := p.Do(ctx); err != nil && ctx.Err() == nil {
			p.Log.Warn(p.Name, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-p.Wake:
		}
	}
}
