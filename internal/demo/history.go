package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// batchRows is how many employees or assignments are written in one transaction.
const batchRows = 5000

// Progress is how much of a company is written.
type Progress struct {
	Done, Total int // employees and assignments
	Rows        int // of all tables
}

// Seed adds courses, employees and their assignments to the company: everybody
// joined within the last fourteen months, was assigned courses after that, and
// learned after each assignment. It calls progress after each transaction.
func (w *World) Seed(ctx context.Context, progress func(Progress)) error {
	if err := w.addCourses(ctx); err != nil {
		return err
	}
	state := Progress{Total: w.size.records()}
	wrote := func(records, rows int) {
		state.Done += records
		state.Rows += rows
		progress(state)
	}
	for w.hired < w.size.Employees {
		first := w.hired
		people := w.pastEmployees(min(batchRows, w.size.Employees-first))
		rows, err := w.past.AddPastEmployees(ctx, w.caller, people)
		if err != nil {
			return fmt.Errorf("add employees from %s: %w", employeeExternalID(first), err)
		}
		wrote(len(people), rows)
		var batch []domain.PastAssignment
		for i, e := range people {
			for k := range w.size.assignmentsOf(first + i) {
				batch = append(batch, w.pastAssignment(e, first+i, k))
			}
			if len(batch) < batchRows && i < len(people)-1 || len(batch) == 0 {
				continue
			}
			rows, err := w.past.AddPastAssignments(ctx, w.caller, batch)
			if err != nil {
				return fmt.Errorf("add assignments up to %s: %w", e.ExternalID, err)
			}
			wrote(len(batch), rows)
			batch = batch[:0]
		}
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
	slice := domain.SliceInput{Name: "Workplace safety: office staff", Modules: []int{1, 3}}
	id, err := w.learning.CutSlice(ctx, w.caller, w.courses[1].ID, slice)
	if err != nil {
		return fmt.Errorf("cut a slice: %w", err)
	}
	w.courses = append(w.courses, domain.Course{ID: id, Name: slice.Name, PassMark: 80_00, AllowedAttempts: 3})
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

// pastAssignment returns assignment k of employee n, and what came of it. Everybody
// is welcomed first.
func (w *World) pastAssignment(e domain.Employee, n, k int) domain.PastAssignment {
	course, at := w.courses[0], domain.NormalizeTime(e.JoinedAt.Add(time.Hour))
	if k > 0 {
		course = w.courses[1+(n+k)%(len(w.courses)-1)]
		at = w.between(e.JoinedAt, w.now.Add(-day))
	}
	deadline := at.Add(time.Duration(20+w.rand.IntN(5)*10) * day).Truncate(day).Add(17 * time.Hour)
	required := w.rand.IntN(2) == 0
	a := domain.Assignment{
		ExternalID: fmt.Sprintf("A-%04d-%d", 1001+n, k+1), EmployeeID: e.ID, CourseID: course.ID, Rule: course.Rule(),
		IsRequired: required, AskedRequired: required, AssignedAt: at, Deadline: deadline, AskedDeadline: deadline,
	}
	a.Status = domain.StatusAssigned
	return domain.PastAssignment{Assignment: a, Activities: w.learn(a)}
}

// learn returns what a learner has done with an assignment. One in eight never
// begins, one in eight stops halfway, and the others go on until they pass or have
// no attempt left.
func (w *World) learn(a domain.Assignment) []domain.Activity {
	temper := w.rand.IntN(8)
	if temper == 0 {
		return nil
	}
	var out []domain.Activity
	at := a.AssignedAt.Add(time.Duration(2+w.rand.IntN(14*24)) * time.Hour)
	for percent, attempt := 0, 1; at.Before(w.now); attempt++ {
		percent = min(100, percent+15+w.rand.IntN(40))
		act := w.newActivity(a, domain.NormalizeTime(at), percent)
		out = append(out, act)
		done := percent == 100
		if a.Rule.IsAssessment {
			done = *act.Score >= a.Rule.PassMark || attempt == a.Rule.AllowedAttempts
		}
		if done || temper == 1 && len(out) == 2 {
			break
		}
		at = at.Add(time.Duration(1+w.rand.IntN(72)) * time.Hour)
	}
	return out
}

// between returns a random instant after from and before to.
func (w *World) between(from, to time.Time) time.Time {
	return domain.NormalizeTime(from.Add(time.Duration(w.rand.Int64N(max(1, int64(to.Sub(from)))))))
}
