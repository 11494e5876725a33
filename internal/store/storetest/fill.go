package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Size is how much a company is filled with.
type Size struct{ Employees, Courses, Assignments int }

// Filled are the ids of what a company was filled with.
type Filled struct{ Employees, Courses, Assignments []int64 }

// FilledFrom is when Fill's first assignment was made; each next one came a
// second later.
var FilledFrom = time.Date(2026, 1, 5, 6, 0, 0, 0, time.UTC)

// fillNames are what makes files hard to write.
var fillNames = []string{
	"Анна Шевченко", "Jürgen Müller", `María "Mia" García, Jr.`, "=cmd|' /C calc'!A0", "John O'Brien", "王小明 🦊",
	"-1+1 Smith", "Łukasz <b>&amp;", "@SUM(A1)", "Chloé Dubois", "+380 Олексій",
}

const fillBatch = 5000

// Fill gives a company employees, courses and assignments in every status, with
// plain statements and no events. Employee i has the external id "emp-i",
// assignment i "asg-i", counted from 0; every third employee is tagged "third".
// What is overdue is marked, so that a server finds nothing to sweep.
func Fill(tb testing.TB, s *store.Store, company int64, n Size) Filled {
	tb.Helper()
	f := &filler{ctx: tb.Context(), s: s, company: company}
	for _, step := range []struct {
		n    int
		fill func(tx db.Tx, from, to int) error
	}{{n.Courses, f.courses}, {n.Employees, f.employees}, {n.Assignments, f.assignments}} {
		for from := 0; from < step.n; from += fillBatch {
			to := min(from+fillBatch, step.n)
			if err := s.Engine().Write(tb.Context(), func(tx db.Tx) error { return step.fill(tx, from, to) }); err != nil {
				tb.Fatalf("fill the company: %v", err)
			}
		}
	}
	return f.Filled
}

type filler struct {
	Filled
	ctx     context.Context
	s       *store.Store
	company int64
}

func (f *filler) courses(tx db.Tx, from, to int) error {
	for i := from; i < to; i++ {
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			f.Courses = append(f.Courses, 0)
			return r.Scan(&f.Courses[len(f.Courses)-1])
		}, `INSERT INTO courses (owner_company_id, name, is_assessment, pass_mark, allowed_attempts, created_at, updated_at)
			VALUES ($1, $2, true, 8000, 3, $3, $3) RETURNING id`, f.company, fmt.Sprintf("Курс %d, part \"%d\"", i, i), f.s.Now())
		if err := tx.Send(f.ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) employees(tx db.Tx, from, to int) error {
	var ids []int64
	b := &db.Batch{}
	tx.IDs(b, "employee_ids", to-from, &ids)
	if err := tx.Send(f.ctx, b); err != nil {
		return err
	}
	var externalIDs, emails, names, tags []string
	for i := from; i < to; i++ {
		externalIDs = append(externalIDs, fmt.Sprintf("emp-%d", i))
		emails = append(emails, fmt.Sprintf("person%d.%d@example.com", i, f.company))
		names = append(names, fillNames[i%len(fillNames)])
		tags = append(tags, `[]`)
		if i%3 == 0 {
			tags[len(tags)-1] = `["third","Склад"]`
		}
	}
	rows, args := f.s.Engine().ValuesTable(3,
		db.Column{Name: "id", Type: db.Int, Values: ids}, db.Column{Name: "external_id", Type: db.Text, Values: externalIDs},
		db.Column{Name: "email", Type: db.Text, Values: emails}, db.Column{Name: "name", Type: db.Text, Values: names},
		db.Column{Name: "tags", Type: db.Text, Values: tags})
	joined := FilledFrom.AddDate(-1, 0, 0)
	b = &db.Batch{}
	b.Exec(`INSERT INTO accounts (email_folded, created_at) SELECT r.email, $2 FROM `+rows+` r WHERE $1 > 0`,
		append([]any{f.company, joined}, args...)...)
	b.Exec(`INSERT INTO employees (company_id, id, external_id, email, email_folded, name, role, tags, joined_at, updated_at)
		SELECT $1, r.id, r.external_id, r.email, r.email, r.name, 'employee', r.tags, $2, $2 FROM `+rows+` r`,
		append([]any{f.company, joined}, args...)...)
	b.Exec(`INSERT INTO employee_tags (company_id, tag, employee_id) SELECT e.company_id, 'third', e.id FROM employees e
		WHERE e.company_id = $1 AND e.id >= $2 AND e.tags <> '[]'`, f.company, ids[0])
	if err := tx.Send(f.ctx, b); err != nil {
		return err
	}
	f.Employees = append(f.Employees[:from], ids...)
	return nil
}

// filled are the columns of the assignments.
type filled struct {
	externalIDs, statuses                  []string
	employees, courses, percents, attempts []int64
	scores                                 []*int64
	assigned, deadlines                    []time.Time
	started, completed, active             []*time.Time
}

func (f *filler) assignments(tx db.Tx, from, to int) error {
	var ids []int64
	b := &db.Batch{}
	tx.IDs(b, "assignment_ids", to-from, &ids)
	if err := tx.Send(f.ctx, b); err != nil {
		return err
	}
	var a filled
	for i := from; i < to; i++ {
		a.add(i, f.Employees[i*7919%len(f.Employees)], f.Courses[i%len(f.Courses)])
	}
	rows, args := f.s.Engine().ValuesTable(2,
		db.Column{Name: "id", Type: db.Int, Values: ids}, db.Column{Name: "external_id", Type: db.Text, Values: a.externalIDs},
		db.Column{Name: "employee_id", Type: db.Int, Values: a.employees}, db.Column{Name: "course_id", Type: db.Int, Values: a.courses},
		db.Column{Name: "status", Type: db.Text, Values: a.statuses}, db.Column{Name: "percent", Type: db.Int, Values: a.percents},
		db.Column{Name: "score", Type: db.Int, Values: a.scores}, db.Column{Name: "attempts", Type: db.Int, Values: a.attempts},
		db.Column{Name: "assigned_at", Type: db.Time, Values: a.assigned}, db.Column{Name: "deadline", Type: db.Time, Values: a.deadlines},
		db.Column{Name: "started_at", Type: db.Time, Values: a.started}, db.Column{Name: "completed_at", Type: db.Time, Values: a.completed},
		db.Column{Name: "active_at", Type: db.Time, Values: a.active})
	_, err := tx.Exec(f.ctx, `INSERT INTO assignments (company_id, id, external_id, employee_id, course_id, status, percent, score, attempts,
			granted_attempts, is_required, assigned_at, deadline, asked_deadline, asked_required, started_at, attempt_at, ended_at,
			completed_at, last_activity_at, overdue_at, updated_at)
		SELECT $1, r.id, r.external_id, r.employee_id, r.course_id, r.status, r.percent, r.score, r.attempts,
			0, r.id % 2 = 0, r.assigned_at, r.deadline, r.deadline, r.id % 2 = 0, r.started_at, r.started_at, r.completed_at,
			r.completed_at, r.active_at, CASE WHEN r.status <> 'completed' THEN r.deadline END, coalesce(r.active_at, r.assigned_at) FROM `+rows+` r`, append([]any{f.company}, args...)...)
	f.Assignments = append(f.Assignments[:from], ids...)
	return err
}

func (a *filled) add(i int, employee, course int64) {
	status := domain.Statuses[i*31%len(domain.Statuses)]
	at := FilledFrom.Add(time.Duration(i) * time.Second).Add(time.Duration(i%1000) * time.Millisecond)
	a.externalIDs = append(a.externalIDs, fmt.Sprintf("asg-%d", i))
	a.statuses = append(a.statuses, string(status))
	a.employees, a.courses = append(a.employees, employee), append(a.courses, course)
	a.assigned, a.deadlines = append(a.assigned, at), append(a.deadlines, at.AddDate(0, 0, 30))
	percent, attempts := int64(i*37%10_000), int64(1+i%3)
	var score *int64
	var started, completed, active *time.Time
	if status == domain.StatusAssigned {
		percent, attempts = 0, 0
	} else {
		begun, last := at.Add(5*time.Hour), at.Add(9*time.Hour)
		started, active = &begun, &last
		if status != domain.StatusStarted {
			points := int64(i * 13 % 10_001)
			score = &points
		}
		if status == domain.StatusCompleted || status == domain.StatusFailed {
			completed = &last
		}
	}
	a.percents, a.attempts, a.scores = append(a.percents, percent), append(a.attempts, attempts), append(a.scores, score)
	a.started, a.completed, a.active = append(a.started, started), append(a.completed, completed), append(a.active, active)
}
