package storetest_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// storedEvent is an event as the table has it.
type storedEvent struct {
	sequence, employee int64
	kind               domain.EventKind
	at                 time.Time
}

func storedEvents(t *testing.T, s *store.Store, company int64) []storedEvent {
	t.Helper()
	var out []storedEvent
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var e storedEvent
		err := r.Scan(&e.sequence, &e.employee, &e.kind, &e.at)
		out = append(out, e)
		return err
	}, `SELECT id, employee_id, kind, occurred_at FROM events WHERE company_id = $1 ORDER BY id`, company)
	if err := s.Engine().Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
		t.Fatal(err)
	}
	return out
}

// Concurrent changes of the same people make events whose sequence is the order of
// the changes: nobody joins twice without leaving, and occurredAt never falls.
func TestSequenceIsTheOrderOfARecord(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, t.Name())
		course, err := s.AddCourse(t.Context(), c, domain.Course{Name: "Course", Modules: []string{"One"}})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for worker := range 8 {
			wg.Go(func() {
				for i := range 12 {
					name := fmt.Sprintf("e%d", (worker+i)%2)
					changeSomething(t, s, c, domain.NewAssignment{EmployeeExternalID: name, CourseID: course, ExternalID: fmt.Sprintf("%d-%d", worker, i)})
				}
			})
		}
		wg.Wait()
		last := map[int64]storedEvent{}
		isMember := map[int64]bool{}
		events := storedEvents(t, s, c.Company.ID)
		for _, e := range events {
			if before := last[e.employee]; e.at.Before(before.at) {
				t.Errorf("event %d happened at %s, before event %d at %s", e.sequence, e.at, before.sequence, before.at)
			}
			last[e.employee] = e
			switch joined := e.kind == domain.EventEmployeeJoined; {
			case strings.HasPrefix(string(e.kind), "employee."):
				if isMember[e.employee] == joined {
					t.Errorf("event %d is %s of somebody whose membership was %v", e.sequence, e.kind, isMember[e.employee])
				}
				isMember[e.employee] = joined
			case !isMember[e.employee]:
				t.Errorf("event %d is %s of somebody who is no member", e.sequence, e.kind)
			}
		}
		if len(events) < 20 {
			t.Errorf("only %d events were made", len(events))
		}
	})
}

// changeSomething joins, assigns, reports progress and offboards. Most of it fails
// with a conflict or because somebody else was faster.
func changeSomething(t *testing.T, s *store.Store, c domain.Caller, n domain.NewAssignment) {
	name, unique := n.EmployeeExternalID, n.ExternalID
	_, _, _ = s.Provision(t.Context(), c, domain.Provision{ExternalID: name, Email: address(name), Name: name})
	deadline := s.Now().Add(time.Hour)
	n.Deadline = &deadline
	results, err := s.Assign(t.Context(), c, []domain.BulkItem{{New: n}})
	if err != nil {
		t.Errorf("assign: %v", err)
		return
	}
	if results[0].Err == nil {
		full := domain.Points(100_00)
		_, err := s.RecordActivities(t.Context(), []domain.ActivityItem{{Activity: domain.Activity{
			ID: unique, AssignmentID: results[0].Assignment.ID, Type: domain.ActivityProgress, Percent: &full, OccurredAt: s.Now(),
		}}})
		if err != nil {
			t.Errorf("record activities: %v", err)
		}
	}
	if slices.Contains([]byte("369"), unique[len(unique)-1]) {
		no := false
		_, _ = s.PatchEmployee(t.Context(), c, name, domain.EmployeePatch{Active: &no})
	}
}

// Enabling an endpoint waits for transactions that saw it disabled, so that none
// leaves an event held on an endpoint that is enabled.
func TestEnablingWaitsForEventsThatSawTheEndpointDisabled(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	if address == "" {
		return // SQLite has one writer
	}
	s := storetest.Open(t, address)
	h := newHook(t, s)
	h.hire("e", 1)
	change(t, s, `UPDATE employees SET left_at = $1`, s.Now())
	if _, err := s.DisableEndpoint(t.Context(), h.c, h.e.ID); err != nil {
		t.Fatal(err)
	}
	release := storetest.HoldLocks(t, s, `SELECT id FROM employees FOR UPDATE`)
	defer release()
	var back, enabled = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(back)
		h.hire("e", 1) // reads who listens, then waits for the row
	}()
	storetest.WaitForLocks(t, s, 1)
	go func() {
		defer close(enabled)
		if _, err := s.EnableEndpoint(t.Context(), h.c, h.e.ID, ""); err != nil {
			t.Errorf("enable: %v", err)
		}
	}()
	storetest.WaitForLocks(t, s, 2)
	select {
	case <-enabled:
		t.Error("the endpoint was enabled while a transaction was about to hold an event for it")
	default:
	}
	release()
	<-back
	<-enabled
	h.wantHeld(1) // before the endpoint was enabled, and visible to whoever enabled it
	h.hire("later", 1)
	h.wantHeld(1)
}

func (h hook) wantHeld(want int) {
	h.t.Helper()
	page, err := h.s.Deliveries(h.t.Context(), h.c.Company.ID, domain.DeliveryFilter{State: domain.DeliveryHeld}, nil, 10)
	if err != nil || len(page.Items) != want {
		h.t.Errorf("%d deliveries are held, %v; want %d", len(page.Items), err, want)
	}
}

// Enabling an endpoint waits for a transaction that holds its deliveries, and the other way
// round: none is held after the endpoint was enabled.
func TestEnablingWaitsForDeliveriesThatAreBeingHeld(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	if address == "" {
		return // SQLite has one writer
	}
	s := storetest.Open(t, address)
	h := newHook(t, s)
	h.hire("e", 1)
	if _, err := s.DisableEndpoint(t.Context(), h.c, h.e.ID); err != nil {
		t.Fatal(err)
	}
	release := storetest.HoldLocks(t, s, `SELECT id FROM deliveries FOR UPDATE`)
	defer release()
	held, enabled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(held)
		if n, err := s.HoldDeliveries(t.Context(), h.e.Key(), 10); n != 1 || err != nil {
			t.Errorf("held %d, %v", n, err)
		}
	}()
	storetest.WaitForLocks(t, s, 1) // it has seen that the endpoint is disabled
	go func() {
		defer close(enabled)
		if _, err := s.EnableEndpoint(t.Context(), h.c, h.e.ID, ""); err != nil {
			t.Errorf("enable: %v", err)
		}
	}()
	waits := make(chan struct{})
	go func() { storetest.WaitForLocks(t, s, 2); close(waits) }()
	select {
	case <-enabled:
		t.Fatal("the endpoint was enabled while a transaction was about to hold a delivery")
	case <-waits:
	}
	release()
	<-held
	<-enabled
	h.wantHeld(1)
	if n, err := s.HoldDeliveries(t.Context(), h.e.Key(), 10); n != 0 || err != nil {
		t.Errorf("held %d of the enabled endpoint, %v", n, err)
	}
}

// However many requests race, a company gets no more endpoints than the limit.
func TestEndpointsAreLimitedUnderRaces(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, t.Name())
		for range domain.MaxEndpoints - 3 {
			addHook(t, s, c)
		}
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				in := domain.EndpointInput{URL: "https://hooks.test/", Events: []domain.EventKind{domain.EventEmployeeJoined}}
				_, _ = s.AddEndpoint(t.Context(), c, in, domain.SealedSecret("sealed"))
			})
		}
		wg.Wait()
		list, err := s.Endpoints(t.Context(), c.Company.ID)
		if err != nil || len(list) != domain.MaxEndpoints {
			t.Errorf("the company has %d endpoints, %v; want %d", len(list), err, domain.MaxEndpoints)
		}
	})
}
