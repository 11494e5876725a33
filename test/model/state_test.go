package model

import (
	"slices"
	"strings"
	"time"
)

// company is a company in the model.
type company struct {
	id          int64
	name, token string
	employees   []*employee   // live and former ones
	assignments []*assignment // live and revoked ones
	courses     []*course     // that it may assign
	events      []*event      // in order, without assignment.overdue
	watermark   string        // of the latest list of changes
	seen        int           // the step of that list
}

// employee is a membership.
type employee struct {
	id                int64
	external, email   string
	name              string
	tags              []string
	joined            *stamp
	left              int // the step in which the person left; 0 for a live employee
	erased            bool
	assignments, gone []*assignment
}

// course is a course of the platform.
type course struct {
	id       int64
	external string
	name     string
	modules  []string
	rule     rule
}

// assignment is an assignment with its progress.
type assignment struct {
	progress
	company            *company
	employee           *employee
	course             *course
	id                 int64
	external           string
	required           bool
	assigned, deadline *stamp
	revoked            bool
	changed            int      // the step of the latest change
	snapshots          []object // what it looked like after each change
}

func (c *company) live() []*employee {
	return slices.DeleteFunc(slices.Clone(c.employees), func(e *employee) bool { return e.left != 0 })
}

func (c *company) byExternal(external string) *employee {
	for _, e := range c.live() {
		if e.external == external {
			return e
		}
	}
	return nil
}

func (c *company) byEmail(email string) *employee {
	for _, e := range c.live() {
		if strings.EqualFold(e.email, email) {
			return e
		}
	}
	return nil
}

// former returns the former employees that fit, the one who left last first.
func (c *company) former(fits func(*employee) bool) []*employee {
	var out []*employee
	for _, e := range c.employees {
		if e.left != 0 && fits(e) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *employee) int { return b.left - a.left })
	return out
}

func (c *company) liveAssignments() []*assignment {
	return slices.DeleteFunc(slices.Clone(c.assignments), func(a *assignment) bool { return a.revoked })
}

func (c *company) assignment(external string) *assignment {
	for _, a := range c.liveAssignments() {
		if a.external == external {
			return a
		}
	}
	return nil
}

func (e *employee) json() object {
	return object{
		"id": e.id, "externalId": e.external, "email": e.email, "name": e.name, "role": "employee", "tags": texts(e.tags), "joinedAt": e.joined.orNull(),
	}
}

// overdueSlack is how long after a deadline the service may still not have noticed it.
const overdueSlack = 300 * time.Millisecond

// overdue reports whether the deadline has passed between two instants; sure is false
// if it may have.
func (a *assignment) overdue(from, to time.Time) (overdue, sure bool) {
	if a.status == "completed" {
		return false, true
	}
	deadline := a.deadline.earliest()
	return !from.Before(deadline), to.Before(deadline) || from.After(deadline.Add(overdueSlack))
}

// category returns statusCategory of an assignment that is overdue or is not.
func (a *assignment) category(overdue bool) string {
	switch {
	case a.status == "completed":
		return "completed"
	case overdue:
		return "overdue"
	case a.status == "assigned":
		return "not_started"
	}
	return "in_progress"
}

func (a *assignment) lastActivity() any {
	if a.activityLatest != nil {
		return a.activityLatest.orNull()
	}
	return a.assigned.orNull()
}

// json returns the full form, without what depends on the time of the request.
func (a *assignment) json() object {
	return object{
		"id": matcher(func(got any) error { return match(got, a.id) }), "externalId": a.external, "employeeExternalId": a.employee.external,
		"employeeEmail": a.employee.email, "courseId": a.course.id, "courseName": a.course.name, "status": a.status,
		"completionPercent": a.percent, "score": number2OrNull(a.score), "numberOfAttempts": a.attempts, "isRequired": a.required,
		"assignedAt": a.assigned.orNull(), "deadline": a.deadline.orNull(), "startedAt": a.started.orNull(),
		"completedAt": a.completed.orNull(), "lastActivityAt": a.lastActivity(),
	}
}

// touch notes that the representation of the assignment changed in a step.
func (a *assignment) touch(step int) {
	a.changed = step
	a.snapshots = append(a.snapshots, a.json())
}
