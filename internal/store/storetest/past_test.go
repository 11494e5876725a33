package storetest_test

import (
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestPastOfTheDemo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		t.Run("people", func(t *testing.T) { testPastOfACompany(t, s) })
		t.Run("deliveries", func(t *testing.T) { testPastDeliveries(t, s) })
	})
}

// testPastOfACompany adds people who joined long ago, and what they have learned since,
// without a single event.
func testPastOfACompany(t *testing.T, s *store.Store) {
	f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
	joined, rule := before(s, 300*24*time.Hour), domain.CourseRule{IsAssessment: true, PassMark: 80_00, AllowedAttempts: 2}
	exam := f.addAssessment()
	people := []domain.Employee{
		{ExternalID: "E1", Email: "Ann@x.test", Name: "Ann Éclair", Tags: []string{"night", "day"}, JoinedAt: joined},
		{ExternalID: "E2", Email: "bob@x.test", Name: "Bob", Tags: []string{}, JoinedAt: joined},
	}
	storetest.Endpoint(t, s, f.c.Company.ID)
	rows, err := s.AddPastEmployees(ctx, f.c, people)
	wantNoError(t, "add employees", err)
	equal(t, "rows: accounts, employees, audit entries and tags", rows, 2+2+2+2)
	ann := f.employee("E1")
	equal(t, "an employee", fmt.Sprintln(ann.ID == people[0].ID, ann.Name, ann.Email, ann.Tags, ann.Role, ann.JoinedAt.Equal(joined)), "true Ann Éclair Ann@x.test [night day] employee true\n")
	equal(t, "employees with a tag", externalIDs(f.employees(domain.EmployeeFilter{Tag: "day"}, firstTen).Items), []string{"E1"})
	found, _, err := s.FindPeople(ctx, f.c.Company.ID, "écl", nil, 10)
	if err != nil || len(found) != 1 {
		t.Errorf("found by the family name: %v, %v", found, err)
	}
	equal(t, "audit entries of that day", number(t, s, `SELECT count(*) FROM audit_entries WHERE action = 'employee.provisioned' AND at = $1`, joined), 2)

	made := joined.Add(24 * time.Hour)
	past := func(externalID string, e domain.Employee, acts ...domain.Activity) domain.PastAssignment {
		return domain.PastAssignment{Activities: acts, Assignment: domain.Assignment{
			ExternalID: externalID, EmployeeID: e.ID, CourseID: exam, Rule: rule, IsRequired: true, AssignedAt: made, Deadline: made.Add(30 * 24 * time.Hour),
			Progress: domain.Progress{Status: domain.StatusAssigned},
		}}
	}
	day := func(n int) time.Time { return made.Add(time.Duration(n) * 24 * time.Hour) }
	items := []domain.PastAssignment{
		past("passed", people[0], started("1", 0, day(1)), ended("2", 0, day(2), 50_00), started("3", 0, day(3)), ended("4", 0, day(4), 90_00)),
		past("untouched", people[1]),
		past("late", people[1], started("5", 0, day(40))),
	}
	rows, err = s.AddPastAssignments(ctx, f.c, items)
	wantNoError(t, "add assignments", err)
	list := f.assignments(domain.AssignmentFilter{}, firstTen).Items
	var got []string
	attempts, moves := 0, 0
	for _, a := range list {
		got = append(got, fmt.Sprint(a.ExternalID, " ", a.Status, " ", a.Attempts, " ", a.OverdueAt != nil && a.OverdueAt.Equal(a.Deadline)))
		attempts, moves = attempts+len(f.attempts(a.ID)), moves+len(f.history(a.ID))
	}
	equal(t, "assignments, their attempts and who is overdue since the deadline", got, []string{"passed completed 2 false", "untouched assigned 0 true", "late started 1 true"})
	equal(t, "attempts", f.attempts(list[0].ID), []string{"1 5000 not passed", "2 9000 passed"})
	equal(t, "when it was passed", *list[0].CompletedAt, day(4))
	equal(t, "rows", rows, len(list)+attempts+moves)
	if n, err := s.MarkOverdue(ctx, 10); err != nil || n != 0 {
		t.Errorf("%d became overdue again, %v", n, err)
	}
	equal(t, "events", f.events(), []string{})
	equal(t, "employees of another company", other.employees(domain.EmployeeFilter{}, firstTen).Total, 0)
}

func testPastDeliveries(t *testing.T, s *store.Store) {
	h, other, ctx := newEndpointFixture(t, s), newEndpointFixture(t, s), t.Context()
	since, at := before(s, 300*24*time.Hour), before(s, 3*time.Hour)
	try := func(number, code int, kind string) domain.Attempt {
		return domain.Attempt{Number: number, URL: h.e.URL, StartedAt: at.Add(time.Duration(number) * time.Minute), Duration: 20 * time.Millisecond, StatusCode: code, ErrorKind: kind}
	}
	event := func(externalID string, d ...domain.PastDelivery) domain.PastEvent {
		return domain.PastEvent{Deliveries: d, Event: domain.Event{Kind: domain.EventEmployeeJoined, OccurredAt: at, ExternalID: externalID, Body: []byte(`{}`)}}
	}
	wantNoError(t, "add", s.AddPastDeliveries(ctx, h.c, since, []domain.PastEvent{
		event("sent", domain.PastDelivery{EndpointID: h.e.ID, State: domain.DeliveryDelivered, Attempts: []domain.Attempt{try(1, 503, "status"), try(2, 200, "")}}),
		event("failed", domain.PastDelivery{EndpointID: h.e.ID, State: domain.DeliveryFailed, Attempts: []domain.Attempt{try(1, 500, "status")}}),
		event("nobody asked for it"),
	}))
	page, err := s.Deliveries(ctx, h.c.Company.ID, domain.DeliveryFilter{}, nil, 10)
	wantNoError(t, "read the log", err)
	got := map[string]string{}
	for _, d := range page.Items {
		if id := uuid.MustParse(d.ID); !uuidTime(t, hex.EncodeToString(id[:])).Equal(at) {
			t.Errorf("the id %s does not begin with the time of its event, %s", d.ID, at)
		}
		got[d.ExternalID] = fmt.Sprint(d.State, " ", d.Attempts, " ", d.StatusCode, d.ErrorKind, " ", d.CreatedAt.Equal(at), " ", len(h.delivery(d.ID).Tries))
	}
	equal(t, "the log", got, map[string]string{"sent": "delivered 2 200 true 2", "failed": "failed 1 500status true 1"})
	equal(t, "events in the order in which they happened", testCompany{t, s, h.c}.events(),
		[]string{"employee.joined sent", "employee.joined failed", "employee.joined nobody asked for it"})
	equal(t, "the endpoint is as old", h.endpoint().CreatedAt, since)
	equal(t, "that of another company is not", other.endpoint().CreatedAt, other.e.CreatedAt)
	if due := h.claim("server", 10).Due; len(due) != 0 {
		t.Errorf("%d deliveries are to be sent", len(due))
	}
}
