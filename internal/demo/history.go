package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// batchSize is how many employees or assignments are written in one transaction. A
// batch of assignments ends with a whole employee, so it may have a few more.
const batchSize = 5000

// Progress is how much of a company is written.
type Progress struct {
	Done, Total int // employees and assignments
	Rows        int // of all tables
}

// Populate adds courses, employees and their assignments to the company: everybody
// joined within the last fourteen months, was assigned courses after that, and
// learned after each assignment. It calls progress after each transaction.
func (w *World) Populate(ctx context.Context, progress func(Progress)) error {
	if err := w.addCourses(ctx); err != nil {
		return err
	}
	state := Progress{Total: w.options.records()}
	wrote := func(records, rows int) {
		state.Done += records
		state.Rows += rows
		progress(state)
	}
	for w.hired < w.options.Employees {
		first := w.hired
		people := w.pastEmployees(min(batchSize, w.options.Employees-first))
		rows, err := w.past.AddPastEmployees(ctx, w.caller, people)
		if err != nil {
			return fmt.Errorf("add employees from %s: %w", employeeExternalID(first), err)
		}
		wrote(len(people), rows)
		if err := w.addAssignments(ctx, people, first, wrote); err != nil {
			return err
		}
	}
	return nil
}

// addAssignments adds the assignments of people, of whom the first is employee number
// first.
func (w *World) addAssignments(ctx context.Context, people []domain.Employee, first int, wrote func(records, rows int)) error {
	var batch []domain.PastAssignment
	for i, e := range people {
		for index := range w.options.assignmentsOf(first + i) {
			batch = append(batch, w.pastAssignment(e, first+i, index))
		}
		isLast := i == len(people)-1
		if len(batch) == 0 || len(batch) < batchSize && !isLast {
			continue
		}
		rows, err := w.past.AddPastAssignments(ctx, w.caller, batch)
		if err != nil {
			return fmt.Errorf("add assignments up to %s: %w", e.ExternalID, err)
		}
		wrote(len(batch), rows)
		for _, item := range batch {
			w.remember(item)
		}
		batch = batch[:0]
	}
	return nil
}

func (w *World) addCourses(ctx context.Context) error {
	for _, c := range catalogue {
		id, err := w.learning.AddCourse(ctx, w.caller, c)
		if err != nil {
			return fmt.Errorf("add the course %s: %w", c.Name, err)
		}
		c.ID = id
		w.courses = append(w.courses, c)
	}
	for _, slice := range courseSlices {
		source := w.courses[slice.course]
		id, err := w.learning.CutSlice(ctx, w.caller, source.ID, slice.input)
		if err != nil {
			return fmt.Errorf("cut the slice %s: %w", slice.input.Name, err)
		}
		source.ID, source.Name = id, slice.input.Name
		w.courses = append(w.courses, source)
	}
	return nil
}

// pastEmployees returns the next employees.
func (w *World) pastEmployees(count int) []domain.Employee {
	out := make([]domain.Employee, count)
	for i := range out {
		in, tags := person(w.rand, w.hired)
		w.hired++
		out[i] = domain.Employee{
			ExternalID: in.ExternalID, Email: in.Email, Name: in.Name, Role: domain.RoleEmployee, Tags: tags,
			JoinedAt: w.between(w.now.Add(-420*day), w.now.Add(-3*day)),
		}
	}
	return out
}

// pastAssignment returns an assignment of employee number n, and what came of it. The
// first, whose index is 0, is the welcome course, an hour after joining.
func (w *World) pastAssignment(e domain.Employee, n, index int) domain.PastAssignment {
	course, at := w.courses[0], domain.NormalizeTime(e.JoinedAt.Add(time.Hour))
	if index > 0 {
		course = w.courses[1+(n+index)%(len(w.courses)-1)]
		at = w.between(e.JoinedAt, w.now.Add(-day))
		if n < busyEmployees && index == w.options.assignmentsOf(n)-1 {
			at = w.withinLastDay()
		}
	}
	deadline := at.Add(time.Duration(20+w.rand.IntN(5)*10) * day).Truncate(day).Add(17 * time.Hour)
	a := domain.Assignment{
		ExternalID: fmt.Sprintf("A-%04d-%d", 1001+n, index+1), EmployeeID: e.ID, CourseID: course.ID, Rule: course.Rule(),
		EmployeeExternalID: e.ExternalID, EmployeeEmail: e.Email, CourseName: course.Name, IsRequired: w.rand.IntN(2) == 0, AssignedAt: at, Deadline: deadline,
	}
	a.Status = domain.StatusAssigned
	item := domain.PastAssignment{Assignment: a, Activities: w.learn(a)}
	if w.isRecent(a) && n%6 == 5 {
		w.forget(&item)
	}
	return item
}

// learn returns what a learner has done with an assignment. One in eight never
// begins, one in eight stops halfway, and the others go on until they pass, have no
// attempt left, or now is reached.
func (w *World) learn(a domain.Assignment) []domain.Activity {
	behaviour := w.rand.IntN(8)
	if behaviour == 0 {
		return nil
	}
	var out []domain.Activity
	at, unit := a.AssignedAt.Add(time.Duration(2+w.rand.IntN(14*24))*time.Hour), time.Hour
	if w.isRecent(a) {
		at, unit = a.AssignedAt.Add(time.Duration(5+w.rand.IntN(300))*time.Minute), time.Minute
	}
	for percent, attempt := 0, 1; at.Before(w.now); attempt++ {
		percent = min(100, percent+15+w.rand.IntN(40))
		act := w.newActivity(a, domain.NormalizeTime(at), percent)
		out = append(out, act)
		done := percent == 100
		if a.Rule.IsAssessment {
			done = *act.Score >= a.Rule.PassMark || attempt == a.Rule.AllowedAttempts
		}
		if done || behaviour == 1 && len(out) == 2 {
			break
		}
		at = at.Add(time.Duration(1+w.rand.IntN(72)) * unit)
	}
	return out
}

// between returns a random instant from from on and before to, or from if to is not
// after it.
func (w *World) between(from, to time.Time) time.Time {
	return domain.NormalizeTime(from.Add(time.Duration(w.rand.Int64N(max(1, int64(to.Sub(from)))))))
}
