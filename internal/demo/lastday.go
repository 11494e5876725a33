package demo

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// busyEmployees is how many employees are assigned their last course within the last
// day, so that the charts of webhooks, which show one day, have a shape when the demo
// starts.
const busyEmployees = 60

// retryDelays are the waits after each attempt, as serve has them by default. After the
// last attempt a delivery has failed.
var retryDelays = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 0}

// allAttempts is longer than all retryDelays take.
const allAttempts = 8 * time.Hour

// forget makes an assignment of the last day one that nobody has begun and whose
// deadline passed long enough ago for all attempts to report it.
func (w *World) forget(item *domain.PastAssignment) {
	if deadline := item.AssignedAt.Add(2 * time.Hour); deadline.Before(w.now.Add(-allAttempts)) {
		item.Deadline, item.Activities = deadline, nil
	}
}

// Endpoint is an endpoint of the demo, with the answers of its receiver.
type Endpoint struct {
	EndpointID int64
	URL        string
	Events     []domain.EventKind
	Answer     func(n int64) int // the status with which request n is answered
}

// withinLastDay returns a random instant of the last day, most likely half a day ago.
func (w *World) withinLastDay() time.Time {
	from, span := w.now.Add(-23*time.Hour), int64(22*time.Hour)
	return domain.NormalizeTime(from.Add(time.Duration((w.rand.Int64N(span) + w.rand.Int64N(span)) / 2)))
}

// isRecent reports whether an assignment was made within the last day.
func (w *World) isRecent(a domain.Assignment) bool { return a.AssignedAt.After(w.now.Add(-day)) }

// remember keeps the events of an assignment that was made within the last day.
func (w *World) remember(item domain.PastAssignment) {
	if !w.isRecent(item.Assignment) {
		return
	}
	a := item.Assignment
	w.lastDay = append(w.lastDay, domain.AssignmentEvent(domain.EventAssignmentCreated, a, a.AssignedAt))
	for _, act := range item.Activities {
		a.Apply(a.Rule, act)
	}
	kinds := map[domain.Status]domain.EventKind{
		domain.StatusCompleted: domain.EventAssignmentCompleted, domain.StatusFailed: domain.EventAssignmentFailed,
	}
	if kind, ended := kinds[a.Status]; ended {
		w.lastDay = append(w.lastDay, domain.AssignmentEvent(kind, a, *a.CompletedAt))
	}
	if a.Overdue(w.now) {
		w.lastDay = append(w.lastDay, domain.AssignmentEvent(domain.EventAssignmentOverdue, a, a.Deadline))
	}
}

// AddLastDay adds the deliveries of the last day to the endpoints.
func (w *World) AddLastDay(ctx context.Context, endpoints []Endpoint) error {
	slices.SortStableFunc(w.lastDay, func(a, b domain.Event) int { return a.OccurredAt.Compare(b.OccurredAt) })
	requests := make([]int64, len(endpoints))
	var past []domain.PastEvent
	for _, event := range w.lastDay {
		sent := domain.PastEvent{Event: event}
		for i, endpoint := range endpoints {
			if slices.Contains(endpoint.Events, event.Kind) {
				sent.Deliveries = append(sent.Deliveries, w.deliver(endpoint, event, &requests[i]))
			}
		}
		past = append(past, sent)
	}
	if len(past) == 0 {
		return nil
	}
	return w.past.AddPastDeliveries(ctx, w.caller, domain.NormalizeTime(w.now.Add(-400*day)), past)
}

// deliver returns the delivery of an event, with the attempts that were made until now.
func (w *World) deliver(endpoint Endpoint, event domain.Event, requests *int64) domain.PastDelivery {
	out := domain.PastDelivery{EndpointID: endpoint.EndpointID}
	at := event.OccurredAt
	for _, wait := range retryDelays {
		*requests++
		attempt := domain.Attempt{
			Number: len(out.Attempts) + 1, URL: endpoint.URL, StartedAt: at, StatusCode: endpoint.Answer(*requests),
			Duration:       time.Duration(8+w.rand.IntN(60)) * time.Millisecond,
			RequestHeaders: domain.Headers{{Name: "Content-Type", Value: "application/json"}},
		}
		if attempt.StatusCode == http.StatusOK {
			out.State, out.Attempts = domain.DeliveryDelivered, append(out.Attempts, attempt)
			break
		}
		out.State, attempt.ErrorKind, attempt.Error = domain.DeliveryFailed, "status", http.StatusText(attempt.StatusCode)
		out.Attempts = append(out.Attempts, attempt)
		at = at.Add(wait)
	}
	return out
}
