package domain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestEventBodies(t *testing.T) {
	t.Parallel()
	e := domain.Employee{
		CompanyID: 7, ID: 3, ExternalID: "E<1>", Email: "a@x.test", Name: "Anna & Bob", Role: domain.RoleEmployee, JoinedAt: noon,
	}
	a := domain.Assignment{
		CompanyID: 7, ID: 5, ExternalID: "A1", EmployeeID: 3, EmployeeExternalID: "E1", EmployeeEmail: "a@x.test", EmployeeName: "Anna",
		CourseID: 9, CourseName: "Safety", Rule: exam, IsRequired: true, AssignedAt: noon, Deadline: at(60),
		Progress: domain.Progress{Status: domain.StatusAssigned},
	}
	done := a
	done.Apply(exam, started(1))
	done.Apply(exam, ended(2, 92.5))
	for _, c := range []struct {
		name string
		got  domain.Event
		want domain.Event
		body string
	}{
		{"joined", domain.EmployeeJoined(e, at(1)), domain.Event{Kind: "employee.joined", ExternalID: "E<1>"},
			`{"event":"employee.joined","companyId":7,"occurredAt":"2026-11-14T12:01:00+00:00","data":{"id":3,"externalId":"E<1>","email":"a@x.test","name":"Anna & Bob","role":"employee","tags":[],"joinedAt":"2026-11-14T12:00:00+00:00"}}`},
		{"removed", domain.EmployeeRemoved(e, domain.ReasonDeleted, at(1)), domain.Event{Kind: "employee.removed", ExternalID: "E<1>"},
			`{"event":"employee.removed","companyId":7,"occurredAt":"2026-11-14T12:01:00+00:00","data":{"id":3,"externalId":"E<1>","reason":"deleted"}}`},
		{"created", domain.AssignmentEvent(domain.EventAssignmentCreated, a, at(1)), domain.Event{Kind: "assignment.created", ExternalID: "A1", AssignmentID: 5},
			`{"event":"assignment.created","companyId":7,"occurredAt":"2026-11-14T12:01:00+00:00","data":{"id":5,"externalId":"A1","employeeExternalId":"E1","employeeEmail":"a@x.test","courseId":9,"courseName":"Safety","status":"assigned","statusCategory":"not_started","isOverdue":false,"completionPercent":0,"score":null,"numberOfAttempts":0,"isRequired":true,"assignedAt":"2026-11-14T12:00:00+00:00","deadline":"2026-11-14T13:00:00+00:00","startedAt":null,"completedAt":null,"lastActivityAt":"2026-11-14T12:00:00+00:00"}}`},
		{"overdue", domain.AssignmentEvent(domain.EventAssignmentOverdue, a, at(60)), domain.Event{Kind: "assignment.overdue", ExternalID: "A1", AssignmentID: 5},
			`{"event":"assignment.overdue","companyId":7,"occurredAt":"2026-11-14T13:00:00+00:00","data":{"id":5,"externalId":"A1","employeeExternalId":"E1","employeeEmail":"a@x.test","courseId":9,"courseName":"Safety","status":"assigned","statusCategory":"overdue","isOverdue":true,"completionPercent":0,"score":null,"numberOfAttempts":0,"isRequired":true,"assignedAt":"2026-11-14T12:00:00+00:00","deadline":"2026-11-14T13:00:00+00:00","startedAt":null,"completedAt":null,"lastActivityAt":"2026-11-14T12:00:00+00:00"}}`},
		{"completed", domain.AssignmentEvent(domain.EventAssignmentCompleted, done, at(99)), domain.Event{Kind: "assignment.completed", ExternalID: "A1", AssignmentID: 5},
			`{"event":"assignment.completed","companyId":7,"occurredAt":"2026-11-14T13:39:00+00:00","data":{"id":5,"externalId":"A1","employeeExternalId":"E1","employeeEmail":"a@x.test","courseId":9,"courseName":"Safety","status":"completed","statusCategory":"completed","isOverdue":false,"completionPercent":100,"score":92.5,"numberOfAttempts":1,"isRequired":true,"assignedAt":"2026-11-14T12:00:00+00:00","deadline":"2026-11-14T13:00:00+00:00","startedAt":"2026-11-14T12:01:00+00:00","completedAt":"2026-11-14T12:02:00+00:00","lastActivityAt":"2026-11-14T12:02:00+00:00"}}`},
	} {
		if diff := cmp.Diff(c.body, string(c.got.Body)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		c.want.CompanyID, c.want.EmployeeID, c.want.OccurredAt, c.want.Body = 7, 3, c.got.OccurredAt, c.got.Body
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestEventKinds(t *testing.T) {
	t.Parallel()
	if len(domain.EventKinds) != 6 {
		t.Errorf("%d kinds, the contract has 6", len(domain.EventKinds))
	}
	for _, k := range domain.EventKinds {
		if err := domain.CheckEventKind(k); err != nil {
			t.Error(err)
		}
	}
	if domain.CheckEventKind("employee.changed") == nil {
		t.Error("an unknown kind passes")
	}
}
