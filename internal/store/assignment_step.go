package store

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// outcomeAlready is the outcome of a person and a course that were assigned before.
const outcomeAlready = "already"

// StepAssign assigns courses to the next people of a job, up to limit, and saves the
// job's progress in the same transaction, so that each is assigned exactly once.
func (s *Store) StepAssign(ctx context.Context, c domain.Caller, in domain.AssignCourses, job domain.Job, limit int) error {
	next, err := s.nextStep(ctx, job, limit)
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		step := &assignStep{in: in, job: job, people: next.records, has: map[[2]int64]bool{}, employees: map[int64]domain.Employee{}}
		step.plan = newAssignPlan(nil)
		step.plan.validItems = len(step.people) * len(in.CourseIDs)
		b := &db.Batch{}
		s.loadStep(b, c.Company.ID, step)
		if step.plan.validItems > 0 {
			tx.IDs(b, "assignment_ids", step.plan.validItems, &step.plan.ids)
			box.prepare(b, tx, step.plan.validItems, c.Company.ID)
		}
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if err := step.plan.countNearLimit(ctx, tx, s.db, c.Company.ID); err != nil {
			return err
		}
		progress := next.progress
		progress.Result = step.decide(tx)
		last := &db.Batch{}
		if len(step.plan.created) > 0 {
			s.insertAssignments(last, step.plan, c.Actor)
			box.audit(last, tx.Now(), step.entry(c))
			box.events(last, tx.Now(), step.plan.events(tx.Now())...)
		}
		if err := queueJobProgress(last, tx.Now(), job, progress); err != nil {
			return err
		}
		return tx.Send(ctx, last)
	})
}

// assignStep holds what one step of assigning has read and decided.
type assignStep struct {
	in        domain.AssignCourses
	job       domain.Job
	people    []int64
	plan      *assignPlan
	employees map[int64]domain.Employee
	has       map[[2]int64]bool // pairs of employee and course
}

// loadStep queues what the decisions need, with the locks of assignPlan.load.
func (s *Store) loadStep(b *db.Batch, company int64, step *assignStep) {
	p := step.plan
	b.Query(func(r db.Rows) error { return r.Scan(&p.defaultDays) }, `SELECT default_deadline_days FROM companies WHERE id = $1`, company)
	isPerson, people := s.db.In("e.id", 2, db.Ints("id", step.people))
	condition := `e.company_id = $1 AND ` + isPerson + ` AND e.left_at IS NULL`
	b.Query(func(r db.Rows) error {
		var e domain.Employee
		err := scanEmployee(r, &e)
		step.employees[e.ID] = e
		return err
	}, `SELECT `+employeeColumns+` FROM employees e WHERE `+condition+` ORDER BY e.id`+s.db.ForUpdate("e"), company, people)
	p.loadLiveAtMost(b, ` FROM employees e WHERE `+condition, company, people)
	courseIDs := sortedUnique(append([]int64(nil), step.in.CourseIDs...))
	isCourse, courses := s.db.In("c.id", 2, db.Ints("id", courseIDs))
	b.Query(func(r db.Rows) error {
		var c companyCourse
		err := scanCourse(r, &c.Course, &c.isGranted)
		p.courses[c.ID] = c
		return err
	}, `SELECT `+courseColumns+`, g.company_id IS NOT NULL FROM courses c
		LEFT JOIN course_grants g ON g.company_id = $1 AND g.course_id = c.id WHERE `+isCourse+`
		ORDER BY c.id`+s.db.ForShare("c"), company, courses)
	isHolder, holders := s.db.In("a.employee_id", 2, db.Ints("id", step.people))
	isHeld, held := s.db.In("a.course_id", 3, db.Ints("id", courseIDs))
	b.Query(func(r db.Rows) error {
		var pair [2]int64
		err := r.Scan(&pair[0], &pair[1])
		step.has[pair] = true
		return err
	}, `SELECT a.employee_id, a.course_id FROM assignments a
		WHERE a.company_id = $1 AND `+isHolder+` AND `+isHeld+` AND a.revoked_at IS NULL`+unlessAgain(step.in), company, holders, held)
}

// unlessAgain is the condition that an assignment keeps its course from being assigned
// once more.
func unlessAgain(in domain.AssignCourses) string {
	if in.Again {
		return ` AND a.status <> 'completed'`
	}
	return ""
}

// decide makes the assignments and counts the outcomes.
func (step *assignStep) decide(tx db.Tx) domain.Tally {
	tally := decodeTally(step.job.Result)
	p := step.plan
	p.created = nil
	for _, id := range step.people {
		e, ok := step.employees[id]
		for _, courseID := range step.in.CourseIDs {
			course, known := p.courses[courseID]
			switch {
			case !ok:
				tally[string(domain.CodeEmployeeOffboarded)]++
			case !known || !course.isGranted:
				tally[string(domain.CodeCourseNotFound)]++
			case course.Archived():
				tally[string(domain.CodeCourseArchived)]++
			case step.has[[2]int64{id, courseID}]:
				tally[outcomeAlready]++
			case p.liveAtMost[id] >= domain.MaxLiveAssignments:
				tally[string(domain.CodeTooManyAssignments)]++
			default:
				p.liveAtMost[id]++
				name := fmt.Sprintf("cabinet-%d-%d-%d", step.job.ID, id, courseID)
				a := step.in.Request(name, e, courseID).Make(e, course.Course, tx.Now(), cmp.Or(step.in.Days, p.defaultDays))
				a.ID = p.ids[len(p.created)]
				p.created = append(p.created, a)
				tally[domain.OutcomeDone]++
			}
		}
	}
	return tally
}

// entry returns the audit entry of a step.
func (step *assignStep) entry(c domain.Caller) domain.AuditEntry {
	e := assignEntry(c, step.plan.created)
	if len(step.plan.created) > 1 {
		e.RecordKind, e.RecordID = "job", strconv.FormatInt(step.job.ID, 10)
		e.Detail = fmt.Sprintf("%d assignments.", len(step.plan.created))
	}
	return e
}
