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

// Size is the number of records that Fill creates.
type Size struct{ Employees, Courses, Assignments int }

// Filled holds the ids of the records that Fill has created.
type Filled struct{ Employees, Courses, Assignments []int64 }

// FilledFrom is when Fill's first assignment was made. Each following one was made a
// second later.
var FilledFrom = time.Date(2026, 1, 5, 6, 0, 0, 0, time.UTC)

// fillNames are names that are hard to write into files.
var fillNames = []string{
	"Анна Шевченко", "Jürgen Müller", `María "Mia" García, Jr.`, "=cmd|' /C calc'!A0", "John O'Brien", "王小明 🦊",
	"-1+1 Smith", "Łukasz <b>&amp;", "@SUM(A1)", "Chloé Dubois", "+380 Олексій",
}

const fillBatch = 5000

// Fill creates employees, courses and assignments in every status, without events.
// Employee i has the external id "emp-i" and assignment i has "asg-i", counted from
// 0. Every third employee has the tag "third". Overdue assignments are marked, so
// that a server finds nothing to sweep.
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
	people := make([]filledEmployee, to-from)
	for i := range people {
		people[i] = filledEmployee{number: from + i, id: ids[i]}
	}
	rows, args := f.s.Engine().ValuesTable(3, db.Columns(people,
		db.IntColumn("id", func(e *filledEmployee) int64 { return e.id }),
		db.TextColumn("external_id", func(e *filledEmployee) string { return fmt.Sprintf("emp-%d", e.number) }),
		db.TextColumn("email", func(e *filledEmployee) string { return fmt.Sprintf("person%d.%d@example.com", e.number, f.company) }),
		db.TextColumn("name", func(e *filledEmployee) string { return fillNames[e.number%len(fillNames)] }),
		db.TextColumn("tags", (*filledEmployee).tags))...)
	joined := FilledFrom.AddDate(-1, 0, 0)
	b = &db.Batch{}
	b.Exec(`INSERT INTO accounts (email_folded, created_at) SELECT r.email, $2 FROM `+rows+` r WHERE $1 > 0`,
		append([]any{f.company, joined}, args...)...)
	b.Exec(`INSERT INTO employees (company_id, id, external_id, email, email_folded, name, role, tags, joined_at, updated_at)
		SELECT $1, r.id, r.external_id, r.email, r.email, r.name, 'employee', r.tags, $2, $2 FROM `+rows+` r`,
		append([]any{f.company, joined}, args...)...)
	for _, tag := range []string{"third", "Склад"} {
		b.Exec(`INSERT INTO employee_tags (company_id, tag, employee_id) SELECT e.company_id, $3, e.id FROM employees e
			WHERE e.company_id = $1 AND e.id >= $2 AND e.tags <> '[]'`, f.company, ids[0], tag)
	}
	if err := tx.Send(f.ctx, b); err != nil {
		return err
	}
	f.Employees = append(f.Employees[:from], ids...)
	return nil
}

type filledEmployee struct {
	number int
	id     int64
}

func (e *filledEmployee) tags() string {
	if e.number%3 == 0 {
		return `["third","Склад"]`
	}
	return `[]`
}

type filledAssignment struct {
	number                     int
	id, employee, course       int64
	status                     domain.Status
	percent, attempts          int64
	score                      *int64
	assigned                   time.Time
	started, completed, active *time.Time
}

func (f *filler) assignments(tx db.Tx, from, to int) error {
	var ids []int64
	b := &db.Batch{}
	tx.IDs(b, "assignment_ids", to-from, &ids)
	if err := tx.Send(f.ctx, b); err != nil {
		return err
	}
	made := make([]filledAssignment, to-from)
	for i := range made {
		n := from + i
		made[i] = newFilledAssignment(n)
		made[i].id, made[i].employee, made[i].course = ids[i], f.Employees[n*7919%len(f.Employees)], f.Courses[n%len(f.Courses)]
	}
	rows, args := f.s.Engine().ValuesTable(2, db.Columns(made,
		db.IntColumn("id", func(a *filledAssignment) int64 { return a.id }),
		db.TextColumn("external_id", func(a *filledAssignment) string { return fmt.Sprintf("asg-%d", a.number) }),
		db.IntColumn("employee_id", func(a *filledAssignment) int64 { return a.employee }),
		db.IntColumn("course_id", func(a *filledAssignment) int64 { return a.course }),
		db.TextColumn("status", func(a *filledAssignment) domain.Status { return a.status }),
		db.IntColumn("percent", func(a *filledAssignment) int64 { return a.percent }),
		db.OptionalIntColumn("score", func(a *filledAssignment) *int64 { return a.score }),
		db.IntColumn("attempts", func(a *filledAssignment) int64 { return a.attempts }),
		db.TimeColumn("assigned_at", func(a *filledAssignment) time.Time { return a.assigned }),
		db.TimeColumn("deadline", func(a *filledAssignment) time.Time { return a.assigned.AddDate(0, 0, 30) }),
		db.OptionalTimeColumn("started_at", func(a *filledAssignment) *time.Time { return a.started }),
		db.OptionalTimeColumn("completed_at", func(a *filledAssignment) *time.Time { return a.completed }),
		db.OptionalTimeColumn("active_at", func(a *filledAssignment) *time.Time { return a.active }))...)
	_, err := tx.Exec(f.ctx, `INSERT INTO assignments (company_id, id, external_id, employee_id, course_id, status, percent, score, attempts,
			granted_attempts, is_required, assigned_at, deadline, asked_deadline, asked_required, started_at, attempt_at, ended_at,
			completed_at, last_activity_at, overdue_at, updated_at)
		SELECT $1, r.id, r.external_id, r.employee_id, r.course_id, r.status, r.percent, r.score, r.attempts,
			0, r.id % 2 = 0, r.assigned_at, r.deadline, r.deadline, r.id % 2 = 0, r.started_at, r.started_at,
			CASE WHEN r.status IN ('completed', 'failed', 'needs_retry') THEN r.active_at END,
			r.completed_at, r.active_at, CASE WHEN r.status <> 'completed' THEN r.deadline END, coalesce(r.active_at, r.assigned_at) FROM `+rows+` r`, append([]any{f.company}, args...)...)
	f.Assignments = append(f.Assignments[:from], ids...)
	return err
}

func newFilledAssignment(n int) filledAssignment {
	at := FilledFrom.Add(time.Duration(n) * time.Second).Add(time.Duration(n%1000) * time.Millisecond)
	a := filledAssignment{number: n, status: domain.Statuses[n*31%len(domain.Statuses)], assigned: at}
	if a.status == domain.StatusAssigned {
		return a
	}
	begun, last := at.Add(5*time.Hour), at.Add(9*time.Hour)
	a.percent, a.attempts = int64(n*37%10_000), int64(1+n%3)
	a.started, a.active = &begun, &last
	if a.status != domain.StatusStarted {
		points := int64(n * 13 % 10_001)
		a.score = &points
	}
	if a.status == domain.StatusCompleted || a.status == domain.StatusFailed {
		a.completed = &last
	}
	return a
}
