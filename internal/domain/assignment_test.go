package domain_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestOverdueAndCategory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status        domain.Status
		before, after domain.Category
	}{
		{domain.StatusAssigned, domain.CategoryNotStarted, domain.CategoryOverdue},
		{domain.StatusStarted, domain.CategoryInProgress, domain.CategoryOverdue},
		{domain.StatusNeedsRetry, domain.CategoryInProgress, domain.CategoryOverdue},
		{domain.StatusFailed, domain.CategoryInProgress, domain.CategoryOverdue},
		{domain.StatusCompleted, domain.CategoryCompleted, domain.CategoryCompleted},
	} {
		a := domain.Assignment{Deadline: noon, Progress: domain.Progress{Status: c.status}}
		early := noon.Add(-time.Millisecond)
		if got := a.Category(early); got != c.before || a.Overdue(early) {
			t.Errorf("%s a millisecond before the deadline: %s, overdue %v", c.status, got, a.Overdue(early))
		}
		late := c.status != domain.StatusCompleted
		if got := a.Category(noon); got != c.after || a.Overdue(noon) != late {
			t.Errorf("%s at the deadline: %s, overdue %v", c.status, got, a.Overdue(noon))
		}
	}
}

func TestParseStatus(t *testing.T) {
	t.Parallel()
	for _, s := range domain.Statuses {
		if got, err := domain.ParseStatus(string(s)); got != s || err != nil {
			t.Errorf("ParseStatus(%q) = %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "Assigned", "done", "overdue", "assigned "} {
		if _, err := domain.ParseStatus(s); domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("ParseStatus(%q): %v", s, err)
		}
	}
}

func TestLastActivity(t *testing.T) {
	t.Parallel()
	a := domain.Assignment{AssignedAt: noon}
	if !a.LastActivity().Equal(noon) {
		t.Error("before any activity it is the assignment itself")
	}
	a.Apply(exam, started(7))
	if !a.LastActivity().Equal(at(7)) {
		t.Errorf("last activity %v", a.LastActivity())
	}
}

func TestMake(t *testing.T) {
	t.Parallel()
	e := domain.Employee{CompanyID: 3, ID: 4, ExternalID: "E1", Email: "a@x.test", Name: "Anna"}
	c := domain.Course{ID: 5, Name: "Safety", IsAssessment: true, PassMark: 70_00, AllowedAttempts: 1}
	in := domain.NewAssignment{EmployeeExternalID: "E1", CourseID: 5, ExternalID: "A1"}
	want := domain.Assignment{
		CompanyID: 3, ExternalID: "A1", EmployeeID: 4, EmployeeExternalID: "E1", EmployeeEmail: "a@x.test", EmployeeName: "Anna",
		CourseID: 5, CourseName: "Safety", Rule: domain.CourseRule{IsAssessment: true, PassMark: 70_00, AllowedAttempts: 1},
		AssignedAt: noon, UpdatedAt: noon, Deadline: noon.AddDate(0, 0, 14), AskedDeadline: noon.AddDate(0, 0, 14),
		Progress: domain.Progress{Status: domain.StatusAssigned},
	}
	if diff := cmp.Diff(want, in.Make(e, c, noon, 14)); diff != "" {
		t.Error("the company's default:", diff)
	}
	in.Deadline, in.IsRequired = ptr(at(1)), ptr(true)
	want.Deadline, want.AskedDeadline, want.IsRequired, want.AskedRequired = at(1), at(1), true, true
	if diff := cmp.Diff(want, in.Make(e, c, noon, 14)); diff != "" {
		t.Error("as asked:", diff)
	}
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	first := domain.Assignment{
		ExternalID: "A1", EmployeeExternalID: "E1", CourseID: 5, Deadline: at(9), AskedDeadline: noon, AskedRequired: true,
	}
	same := domain.NewAssignment{ExternalID: "A1", EmployeeExternalID: "E1", CourseID: 5}
	with := func(change func(n *domain.NewAssignment)) domain.NewAssignment {
		n := same
		change(&n)
		return n
	}
	for _, c := range []struct {
		name    string
		in      domain.NewAssignment
		differs []string
	}{
		{"absent fields", same, nil},
		{"as first asked", with(func(n *domain.NewAssignment) { n.Deadline, n.IsRequired = ptr(noon), ptr(true) }), nil},
		{"the same instant elsewhere", with(func(n *domain.NewAssignment) {
			n.Deadline = ptr(noon.In(time.FixedZone("", 3*60*60)))
		}), nil},
		{"the deadline as it was moved since", with(func(n *domain.NewAssignment) { n.Deadline = ptr(at(9)) }), []string{"deadline"}},
		{"another requirement", with(func(n *domain.NewAssignment) { n.IsRequired = ptr(false) }), []string{"isRequired"}},
		{"everything", domain.NewAssignment{ExternalID: "A1", EmployeeExternalID: "e1", CourseID: 6, Deadline: ptr(at(1)), IsRequired: ptr(false)},
			[]string{"employeeExternalId", "courseId", "deadline", "isRequired"}},
	} {
		err := c.in.CheckRepeat(first)
		if c.differs == nil {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var conflict *domain.Error
		if !errors.As(err, &conflict) || conflict.Code != domain.CodeConflict {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var fields []string
		for _, f := range conflict.Fields {
			fields = append(fields, f.Field)
		}
		if diff := cmp.Diff(c.differs, fields); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestNewAssignmentCheck(t *testing.T) {
	t.Parallel()
	good := domain.NewAssignment{EmployeeExternalID: "E1", ExternalID: "A1"}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	wantFields(t, domain.NewAssignment{EmployeeExternalID: " E1", ExternalID: ".."}.Check(), "employeeExternalId", "externalId")
	wantFields(t, domain.NewAssignment{ExternalID: "A1"}.Check(), "employeeExternalId")
}

// wantFields holds that err is a validation error of exactly these fields.
func wantFields(t *testing.T, err error, fields ...string) {
	t.Helper()
	var e *domain.Error
	if !errors.As(err, &e) || e.Code != domain.CodeInvalid {
		t.Errorf("want a validation error of %v, got %v", fields, err)
		return
	}
	var got []string
	for _, f := range e.Fields {
		got = append(got, f.Field)
		if f.Message == "" {
			t.Errorf("%s: no message", f.Field)
		}
	}
	if diff := cmp.Diff(fields, got); diff != "" {
		t.Error(diff)
	}
}
