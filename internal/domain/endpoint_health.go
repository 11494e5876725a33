package domain

import "time"

// HealthWindow is how far back the health of endpoints looks.
const HealthWindow = 24 * time.Hour

// EndpointHealth counts the deliveries of an endpoint that were created within the
// health window, by what has become of them so far.
type EndpointHealth struct {
	EndpointID    int64
	Removed       bool // the endpoint is gone; its deliveries are still in the log
	Delivered     int64
	Retrying      int64 // tried at least once, and to be tried again
	Failed        int64 // given up
	Held          int64
	Hours         []HealthHour // ascending, without gaps; nil if nothing was delivered, retried or failed
	LastSent      *time.Time   // nil: never
	LastDelivered *time.Time   // nil: never
}

// HealthHour counts the deliveries that were created within one hour.
type HealthHour struct {
	Start                       time.Time
	Delivered, Retrying, Failed int64
}

// HealthState is how well an endpoint accepts its deliveries.
type HealthState string

// The states, by the share of deliveries that did not arrive.
const (
	HealthUnknown  HealthState = ""         // nothing was tried
	HealthGood     HealthState = "healthy"  // under 1 % have not arrived
	HealthDegraded HealthState = "degraded" // under half have not arrived
	HealthFailing  HealthState = "failing"
)

const (
	degradedFrom = 0.01
	failingFrom  = 0.5
)

// FailureRate returns the share of the tried deliveries that have not arrived, from
// 0 to 1. It is 0 if nothing was tried.
func (h EndpointHealth) FailureRate() float64 {
	tried := h.Delivered + h.Retrying + h.Failed
	if tried == 0 {
		return 0
	}
	return float64(h.Retrying+h.Failed) / float64(tried)
}

// State returns the state that follows from the failure rate.
func (h EndpointHealth) State() HealthState {
	rate := h.FailureRate()
	switch {
	case h.Delivered+h.Retrying+h.Failed == 0:
		return HealthUnknown
	case rate < degradedFrom:
		return HealthGood
	case rate < failingFrom:
		return HealthDegraded
	default:
		return HealthFailing
	}
}
