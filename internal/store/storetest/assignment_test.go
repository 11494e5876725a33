package storetest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestAssign(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1")
		e, exam := f.employee("E1"), f.addAssessment()
		change(t, s, `UPDATE companies SET default_deadline_days = 10 WHERE id = $1`, f.c.Company.ID)
		a := f.assign("A1", "E1", exam)
		want := domain.Assignment{
			CompanyID: f.c.Company.ID, ID: a.ID, ExternalID: "A1", EmployeeID: e.ID, EmployeeExternalID: "E1", EmployeeEmail: "e1@x.test",
			EmployeeName: "Name of E1", CourseID: exam, CourseName: "Exam",
			Rule:       domain.CourseRule{IsAssessment: true, PassMark: 80_00, AllowedAttempts: 2},
			AssignedAt: a.AssignedAt, UpdatedAt: a.AssignedAt, Deadline: a.AssignedAt.AddDate(0, 0, 10), AskedDeadline: a.AssignedAt.AddDate(0, 0, 10),
			Progress: domain.Progress{Status: domain.StatusAssigned},
		}
		equal(t, "the answer", a, want)
		equal(t, "by id", f.assignment(a.ID), want)
		byKey, err := s.AssignmentByExternalID(t.Context(), f.c.Company.ID, "A1")
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "by externalId", byKey, want)
		_, list, err := s.Employee(t.Context(), f.c.Company.ID, "E1")
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "with the employee", list, []domain.Assignment{want})

		past := before(s, 24*time.Hour)
		late, err := f.tryAssign(domain.NewAssignment{ExternalID: "A2", EmployeeExternalID: "E1", CourseID: exam, Deadline: &past, IsRequired: ptr(true)})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.assignment(late.ID); got.Deadline != past || !got.IsRequired || got.Category(s.Now()) != domain.CategoryOverdue {
			t.Errorf("an assignment with a past deadline: %+v", got)
		}
		equal(t, "events", f.events(), []string{"employee.joined E1", "assignment.created A1", "assignment.created A2"})
		equal(t, "entries", f.audit(), []string{"employee.provisioned", "course.added", "assignment.created", "assignment.created"})
	})
}

func TestAssignAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1", "E2")
		exam, deadline := f.addAssessment(), before(s, -48*time.Hour)
		first := domain.NewAssignment{ExternalID: "A1", EmployeeExternalID: "E1", CourseID: exam, Deadline: &deadline, IsRequired: ptr(true)}
		made, err := f.tryAssign(first)
		if err != nil {
			t.Fatal(err)
		}
		f.report(progress("x", made.ID, s.Now(), 30_00))
		// A deadline that was moved in the cabinet does not change what was asked for.
		change(t, s, `UPDATE assignments SET deadline = $1 WHERE id = $2`, deadline.Add(time.Hour), made.ID)
		now, before := f.assignment(made.ID), dump(t, s)
		with := func(change func(in *domain.NewAssignment)) domain.NewAssignment {
			in := first
			change(&in)
			return in
		}
		for name, in := range map[string]domain.NewAssignment{
			"the same": first, "absent fields": {ExternalID: "A1", EmployeeExternalID: "E1", CourseID: exam},
			"the instant in another offset": with(func(in *domain.NewAssignment) { in.Deadline = ptr(deadline.In(time.FixedZone("", 5*60*60+45*60))) }),
		} {
			again, err := f.tryAssign(in)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			equal(t, name, again, now)
		}
		other := f.addCourse(domain.Course{Name: "Other"})
		for field, in := range map[string]domain.NewAssignment{
			"deadline":           with(func(in *domain.NewAssignment) { in.Deadline = ptr(deadline.Add(time.Hour)) }),
			"isRequired":         with(func(in *domain.NewAssignment) { in.IsRequired = ptr(false) }),
			"courseId":           with(func(in *domain.NewAssignment) { in.CourseID = other }),
			"employeeExternalId": with(func(in *domain.NewAssignment) { in.EmployeeExternalID = "E2" }),
		} {
			_, err := f.tryAssign(in)
			var conflict *domain.Error
			if !errors.As(err, &conflict) || conflict.Code != domain.CodeConflict || len(conflict.Fields) != 1 || conflict.Fields[0].Field != field {
				t.Errorf("a repeated request with another %s: %+v", field, err)
			}
		}
		equal(t, "what repeating wrote", mentions(dump(t, s), "assignments:", "events:"), mentions(before, "assignments:", "events:"))
		recertified := f.assign("A2", "E1", exam)
		if recertified.ID == made.ID {
			t.Error("the same course under another externalId returned the same assignment")
		}
	})
}

func TestAssignRefuses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E1", "gone")
		f.offboard("gone")
		other.join("E2", "e2")
		exam, theirs := f.addAssessment(), other.addAssessment()
		for name, c := range map[string]struct {
			employee string
			course   int64
			code     domain.Code
		}{
			"no employee":          {"nobody", exam, domain.CodeEmployeeNotFound},
			"another company's":    {"E2", exam, domain.CodeEmployeeNotFound},
			"another case":         {"e1", exam, domain.CodeEmployeeNotFound},
			"a former employee":    {"gone", exam, domain.CodeEmployeeOffboarded},
			"no course":            {"E1", 1 << 40, domain.CodeCourseNotFound},
			"a course of another":  {"E1", theirs, domain.CodeWrongCompany},
			"neither":              {"nobody", 1 << 40, domain.CodeEmployeeNotFound},
			"a course of number 0": {"E1", 0, domain.CodeCourseNotFound},
		} {
			_, err := f.tryAssign(domain.NewAssignment{ExternalID: "A1", EmployeeExternalID: c.employee, CourseID: c.course})
			wantCode(t, name, err, c.code)
		}
		equal(t, "assignments", number(t, s, `SELECT count(*) FROM assignments`), 0)
	})
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.provisionAll("E1")
		exam := f.addAssessment()
		a := f.assign("A1", "E1", exam)
		ctx, company := t.Context(), f.c.Company.ID
		wantCode(t, "another company's", s.Revoke(ctx, other.c, a.ID), domain.CodeWrongCompany)
		_, err := s.Assignment(ctx, other.c.Company.ID, a.ID)
		wantCode(t, "read by another company", err, domain.CodeWrongCompany)
		_, err = s.AssignmentByExternalID(ctx, other.c.Company.ID, "A1")
		wantCode(t, "read by another company, by externalId", err, domain.CodeAssignmentNotFound)
		wantCode(t, "none", s.Revoke(ctx, f.c, 1<<40), domain.CodeAssignmentNotFound)
		_, err = s.Assignment(ctx, company, 1<<40)
		wantCode(t, "read none", err, domain.CodeAssignmentNotFound)
		for range 2 {
			if err := s.Revoke(ctx, f.c, a.ID); err != nil {
				t.Fatal(err)
			}
		}
		_, err = s.Assignment(ctx, company, a.ID)
		wantCode(t, "a revoked one", err, domain.CodeAssignmentRevoked)
		_, err = s.AssignmentByExternalID(ctx, company, "A1")
		wantCode(t, "a revoked one by externalId", err, domain.CodeAssignmentRevoked)
		wantCode(t, "a revoked one of another company", s.Revoke(ctx, other.c, a.ID), domain.CodeWrongCompany)
		next := f.assign("A1", "E1", exam)
		if next.ID == a.ID {
			t.Error("the externalId of a revoked assignment returned the revoked one")
		}
		if err := s.Revoke(ctx, f.c, a.ID); err != nil {
			t.Error("revoke the old assignment again:", err)
		}
		equal(t, "the new one", f.assignment(next.ID).ExternalID, "A1")
		equal(t, "events", f.events(), []string{"employee.joined E1", "assignment.created A1", "assignment.created A1"})
		equal(t, "entries", f.audit(), []string{"employee.provisioned", "course.added", "assignment.created", "assignment.revoked", "assignment.created"})
	})
}

func TestAssignRaces(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		f.provisionAll("E1", "E2")
		exam := f.addAssessment()
		var same, rival resultCounts
		race(16, func(int) {
			_, err := f.tryAssign(domain.NewAssignment{ExternalID: "A1", EmployeeExternalID: "E1", CourseID: exam})
			same.add("ok", err)
		})
		equal(t, "16 times one externalId", same.counts, map[string]int{"ok": 16})
		race(16, func(i int) {
			_, err := f.tryAssign(domain.NewAssignment{ExternalID: "A2", EmployeeExternalID: []string{"E1", "E2"}[i%2], CourseID: exam})
			rival.add("ok", err)
		})
		equal(t, "16 times one externalId for two", rival.counts, map[string]int{"ok": 8, "idempotency_conflict": 8})
		equal(t, "events", f.events()[2:], []string{"assignment.created A1", "assignment.created A2"})
		id := number(t, s, `SELECT id FROM assignments WHERE external_id = 'A1'`)
		race(8, func(int) {
			if err := s.Revoke(t.Context(), f.c, id); err != nil {
				t.Error(err)
			}
		})
		equal(t, "revoked", len(mentions(f.audit(), "assignment.revoked")), 1)
	})
}
