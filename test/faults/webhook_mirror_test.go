package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// webhookMirror is a copy of a company's employees and assignments that a client
// builds from webhooks alone.
type webhookMirror struct {
	employees   map[int64]record
	assignments map[int64]record
	problems    []string
}

// newWebhookMirror applies the events in the order of X-Service-Sequence.
func newWebhookMirror(arrivals []arrival) *webhookMirror {
	m := &webhookMirror{employees: map[int64]record{}, assignments: map[int64]record{}}
	events := slices.Clone(arrivals)
	slices.SortStableFunc(events, func(a, b arrival) int { return int(a.sequence - b.sequence) })
	latest := map[int64]occurrence{} // by employee: their assignments are the same record
	employees := map[string]int64{}  // by externalId, which can be given to another employee later
	for i, a := range events {
		if i > 0 && a.sequence == events[i-1].sequence {
			if a.delivery != events[i-1].delivery {
				m.problem("deliveries %s and %s have the same sequence %d", a.delivery, events[i-1].delivery, a.sequence)
			}
			continue // another attempt
		}
		var payload struct {
			Event      string
			OccurredAt time.Time
			Data       record
		}
		if err := json.Unmarshal([]byte(a.body), &payload); err != nil {
			m.problem("sequence %d: %v", a.sequence, err)
			continue
		}
		who := payload.Data.text("employeeExternalId")
		if strings.HasPrefix(payload.Event, "employee.") {
			who = payload.Data.text("externalId")
			employees[who] = payload.Data.id()
		}
		current, employee := occurrence{a.sequence, payload.Event, payload.OccurredAt}, employees[who]
		if previous := latest[employee]; current.at.Before(previous.at) {
			m.problem("events of employee %d contradict their order: %v after %v", employee, current, previous)
		}
		latest[employee] = current
		m.apply(payload.Event, who, payload.Data)
	}
	return m
}

// occurrence is an event without its data.
type occurrence struct {
	sequence int64
	event    string
	at       time.Time
}

func (m *webhookMirror) problem(format string, args ...any) {
	m.problems = append(m.problems, fmt.Sprintf(format, args...))
}

func (m *webhookMirror) apply(event, who string, data record) {
	switch event {
	case "employee.joined":
		m.employees[data.id()] = data
	case "employee.removed":
		delete(m.employees, data.id())
		for id, a := range m.assignments {
			if a.text("employeeExternalId") == who {
				delete(m.assignments, id)
			}
		}
	default:
		m.assignments[data.id()] = data
	}
}

// checkWebhooks compares a webhook mirror with the truth: the employees, and the
// fields of assignments that events report.
func (c company) checkWebhooks(ctx context.Context, base string, m *webhookMirror, want truth) error {
	wrong := m.problems
	for id, e := range want.employees {
		if m.employees[id] == nil {
			wrong = append(wrong, fmt.Sprintf("employee %d (%s) never joined", id, e.text("externalId")))
		}
	}
	for id := range extra(m.employees, want.employees) {
		wrong = append(wrong, fmt.Sprintf("employee %d was never removed", id))
	}
	for id, a := range want.assignments {
		got := m.assignments[id]
		if got == nil {
			wrong = append(wrong, fmt.Sprintf("assignment %d was never created", id))
			continue
		}
		ended := a.text("status") == "completed" || a.text("status") == "failed"
		if ended && (got["status"] != a["status"] || got["score"] != a["score"]) || got["isOverdue"] != a["isOverdue"] {
			wrong = append(wrong, fmt.Sprintf("assignment %d:\n%s", id, cmp.Diff(a, got)))
		}
	}
	return c.report(ctx, base, wrong, extra(m.assignments, want.assignments))
}
