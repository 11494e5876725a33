package model

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// event is an event that a company must have.
type event struct {
	kind     string
	employee *employee
	of       *assignment // nil for events of employees
	at       *stamp
	data     object
}

func (c *company) emit(kind string, e *employee, a *answer, data object) {
	c.events = append(c.events, &event{kind: kind, employee: e, at: a.now(), data: data})
}

func (c *company) emitAssignment(kind string, x *assignment, a *answer) {
	data := a.timed(x, x.json())
	c.events = append(c.events, &event{kind: kind, employee: x.employee, of: x, at: a.now(), data: data})
}

// stored is an event in the database.
type stored struct {
	sequence int64
	kind     string
	subject  int64 // the assignment, or 0
	body     string
}

// finish compares the events of both companies with those that the model expects, once
// all deadlines that passed have been noticed.
func (s *sequence) finish() {
	if wait := time.Until(s.soon.Add(overdueSlack)); wait > 0 {
		time.Sleep(wait)
	}
	for {
		n, err := s.world.store.MarkOverdue(s.Context(), 100)
		if err != nil {
			s.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
	for _, c := range s.companies {
		if err := s.checkEvents(c); err != nil {
			s.Fatalf("events of %s on %s: %v", c.name, s.world.engine, err)
		}
	}
}

// storedEvents reads the events of a company in their order.
func (w *world) storedEvents(c *company) []stored {
	var out []stored
	for _, row := range storetest.Texts(w.t, w.store, `SELECT CAST(id AS text) || ' ' || kind || ' ' || CAST(assignment_id AS text) || ' ' || `+w.bodyText()+
		` FROM events WHERE company_id = $1 ORDER BY id`, c.id) {
		parts := strings.SplitN(row, " ", 4)
		sequence, _ := strconv.ParseInt(parts[0], 10, 64)
		subject, _ := strconv.ParseInt(parts[2], 10, 64)
		out = append(out, stored{sequence, parts[1], subject, parts[3]})
	}
	return out
}

// bodyText is the expression of an event's body as text.
func (w *world) bodyText() string {
	if w.engine == "postgres" {
		return `convert_from(body, 'UTF8')`
	}
	return `CAST(body AS text)`
}

func (s *sequence) checkEvents(c *company) error {
	expected := c.events
	overdue := map[int64]bool{}
	for _, got := range s.world.storedEvents(c) {
		if got.kind == "assignment.overdue" {
			if err := c.checkOverdue(got, expected, overdue); err != nil {
				return err
			}
			continue
		}
		if len(expected) == 0 {
			return fmt.Errorf("an event too many: %v", got)
		}
		want := expected[0]
		expected = expected[1:]
		if err := c.checkEvent(got, want); err != nil {
			return fmt.Errorf("sequence %d is %s %s, want %s: %w", got.sequence, got.kind, got.body, want.kind, err)
		}
	}
	if len(expected) > 0 {
		return fmt.Errorf("%d events are missing, the first is %s of %s", len(expected), expected[0].kind, expected[0].employee.external)
	}
	for _, x := range c.liveAssignments() {
		late := x.deadline.earliest()
		if x.completed != nil && x.status == "completed" {
			continue // whether it was late is checked with its event
		}
		if is := !time.Now().Before(late); is != overdue[x.id] {
			return fmt.Errorf("assignment %d is overdue: %v; its event was sent: %v", x.id, is, overdue[x.id])
		}
	}
	return nil
}

func (c *company) checkEvent(got stored, want *event) error {
	if got.kind != want.kind {
		return fmt.Errorf("another kind")
	}
	if want.employee.erased && want.kind != "employee.removed" {
		return match(got.body, "")
	}
	var body any
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		return err
	}
	return match(body, object{"event": want.kind, "companyId": c.id, "occurredAt": want.at.orNull(), "data": want.data})
}

// checkOverdue checks an event that may come at any time after the deadline, but once,
// after the assignment was created and before it was completed.
func (c *company) checkOverdue(got stored, later []*event, seen map[int64]bool) error {
	if seen[got.subject] {
		return fmt.Errorf("assignment %d became overdue twice", got.subject)
	}
	seen[got.subject] = true
	for _, e := range later {
		if e.kind == "assignment.created" && e.of.id == got.subject {
			return fmt.Errorf("assignment %d became overdue before it was created", got.subject)
		}
	}
	for i, e := range c.events {
		if e.of == nil || e.of.id != got.subject {
			continue
		}
		if e.kind == "assignment.completed" && i < len(c.events)-len(later) {
			return fmt.Errorf("assignment %d became overdue after it was completed", got.subject)
		}
		if e.kind == "assignment.created" && !e.employee.erased {
			return c.checkOverdueBody(got, e.of)
		}
	}
	return nil
}

// checkOverdueBody compares the event with what the assignment looked like at some time.
func (c *company) checkOverdueBody(got stored, x *assignment) error {
	var body any
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		return err
	}
	var err error
	for _, data := range x.snapshots {
		data["isOverdue"], data["statusCategory"] = true, "overdue"
		at := &stamp{from: x.deadline.earliest(), to: time.Now()}
		if err = resembles(body, object{"event": got.kind, "companyId": c.id, "occurredAt": at.orNull(), "data": data}); err == nil {
			return nil
		}
	}
	return fmt.Errorf("assignment %d never looked like %s: %w", x.id, got.body, err)
}

// checkWebhooks waits until every event has arrived as it is stored. What was erased
// may have arrived before.
func (w *world) checkWebhooks(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for _, c := range w.companies {
		for _, e := range w.storedEvents(c) {
			for e.body != "" {
				body, ok := w.inbox.body(eventKey{c.id, e.sequence})
				if ok && body != e.body {
					t.Errorf("event %d of %s on %s arrived as\n%s\nwant\n%s", e.sequence, c.name, w.engine, body, e.body)
				}
				if ok {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("event %d of %s on %s has not arrived: %s", e.sequence, c.name, w.engine, e.body)
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
}
