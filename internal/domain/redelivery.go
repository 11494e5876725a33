package domain

import (
	"errors"
	"slices"
	"time"
)

// RedeliveryFilter picks the deliveries of a period to send again: failed ones
// and held ones, unless States names others. Delivered ones are for receivers that
// lost what they had accepted.
type RedeliveryFilter struct {
	EndpointID int64 // 0: every enabled endpoint
	States     []DeliveryState
	Kind       EventKind // empty: every kind
	From, To   *time.Time
}

// Normalize fills in what was left out and reports every field that is wrong.
func (f *RedeliveryFilter) Normalize(now time.Time) error {
	var c Checks
	if len(f.States) == 0 {
		f.States = []DeliveryState{DeliveryFailed, DeliveryHeld}
	}
	slices.Sort(f.States)
	f.States = slices.Compact(f.States)
	for _, s := range f.States {
		if s != DeliveryFailed && s != DeliveryHeld && s != DeliveryDelivered {
			c.Add("state", errors.New("must be failed, held or delivered"))
		}
	}
	if f.Kind != "" {
		c.Add("event", CheckEventKind(f.Kind))
	}
	if f.From == nil {
		f.From = &time.Time{}
		*f.From = time.UnixMilli(0).UTC()
	}
	if f.To == nil {
		f.To = &now
	}
	if f.To.Before(*f.From) {
		c.Add("to", errors.New("must not lie before from"))
	}
	return c.Err()
}

// Redelivery is the sending again of a period's deliveries, as background work.
type Redelivery struct {
	CompanyID   int64
	ID          int64
	Filter      RedeliveryFilter
	Total       int64 // counted when it was asked for
	Done        int64 // put back into the queue so far
	RequestedBy string
	CreatedAt   time.Time
	FinishedAt  *time.Time
	Problem     string // why it ended before all were queued; empty if it did not
}

// ErrRedeliveryNotFound is returned when the company has no such redelivery.
var ErrRedeliveryNotFound = Errorf(CodeNotFound, "There is no such redelivery. Redeliveries are kept for 30 days.")
