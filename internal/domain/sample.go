package domain

import "time"

// SampleEvent is an event of the kind as a receiver would get it, about a person
// and a course that do not exist.
func SampleEvent(kind EventKind, companyID int64, now time.Time) Event {
	now = NormalizeTime(now)
	employee := Employee{
		CompanyID: companyID, ID: 1001, ExternalID: "sample-employee", Email: "sample.person@example.com",
		Name: "Sample Person", Role: RoleEmployee, Tags: []string{"sample"}, JoinedAt: now.AddDate(0, -1, 0),
	}
	switch kind {
	case EventEmployeeJoined:
		return EmployeeJoined(employee, now)
	case EventEmployeeRemoved:
		return EmployeeRemoved(employee, ReasonOffboarded, now)
	}
	return AssignmentEvent(kind, sampleAssignment(kind, employee, now), now)
}

func sampleAssignment(kind EventKind, e Employee, now time.Time) Assignment {
	assigned, started := now.AddDate(0, 0, -7), now.AddDate(0, 0, -1)
	a := Assignment{
		CompanyID: e.CompanyID, ID: 5001, ExternalID: "sample-assignment", EmployeeID: e.ID,
		EmployeeExternalID: e.ExternalID, EmployeeEmail: e.Email, EmployeeName: e.Name,
		CourseID: 301, CourseName: "Sample course", IsRequired: true, AssignedAt: assigned,
		Deadline: now.AddDate(0, 0, 23), Progress: Progress{Status: StatusAssigned},
	}
	finish := func(status Status, score Points) {
		a.Status, a.Percent, a.Score, a.Attempts = status, FullPoints, &score, 1
		a.StartedAt, a.CompletedAt, a.LastActivityAt = &started, &now, &now
	}
	switch kind {
	case EventAssignmentCreated:
		a.AssignedAt, a.Deadline = now, now.AddDate(0, 0, DefaultDeadlineDays)
	case EventAssignmentCompleted:
		finish(StatusCompleted, 92_00)
	case EventAssignmentFailed:
		finish(StatusFailed, 54_00)
	case EventAssignmentOverdue:
		a.Deadline = now
	}
	return a
}
