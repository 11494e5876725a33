package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// assignPlan holds what a transaction that assigns has to look up, what it found and what
// it decided.
type assignPlan struct {
	assignKeys
	defaultDays int
	employees   map[string]domain.Employee   // by external id
	former      map[string]bool              // the external ids of employees who have left
	courses     map[int64]companyCourse      // by id
	existing    map[string]domain.Assignment // by external id, also those of this request
	liveAtMost  map[int64]int                // by employee id: at most so many live assignments
	ids         []int64                      // drawn for the new assignments
	created     []domain.Assignment
}

// assignKeys are the keys that the valid items of requests name, each once.
type assignKeys struct {
	validItems                       int // how many items are valid
	employeeExternalIDs, externalIDs []string
	courseIDs                        []int64
}

// companyCourse is a course, and whether the company may assign it.
type companyCourse struct {
	domain.Course
	isGranted bool
}

func newAssignPlan(requests []assignRequest) *assignPlan {
	p := &assignPlan{
		defaultDays: domain.DefaultDeadlineDays,
		employees:   map[string]domain.Employee{}, former: map[string]bool{},
		courses: map[int64]companyCourse{}, existing: map[string]domain.Assignment{}, liveAtMost: map[int64]int{},
	}
	for _, r := range requests {
		for _, it := range r.items {
			if it.Err != nil {
				continue
			}
			p.validItems++
			p.employeeExternalIDs = append(p.employeeExternalIDs, it.New.EmployeeExternalID)
			p.externalIDs = append(p.externalIDs, it.New.ExternalID)
			p.courseIDs = append(p.courseIDs, it.New.CourseID)
		}
	}
	p.created = make([]domain.Assignment, 0, p.validItems)
	p.employeeExternalIDs, p.externalIDs, p.courseIDs = sortedUnique(p.employeeExternalIDs), sortedUnique(p.externalIDs), sortedUnique(p.courseIDs)
	return p
}

func sortedUnique[T ~string | ~int64](in []T) []T {
	slices.Sort(in)
	return slices.Compact(in)
}

// load queues what the decisions need. It locks employees and courses, each in
// the order of their ids: nobody is offboarded and no course is renamed between
// the decision and the commit.
func (p *assignPlan) load(b *db.Batch, d db.Dialect, company int64) {
	b.Query(func(r db.Rows) error { return r.Scan(&p.defaultDays) }, `SELECT default_deadline_days FROM companies WHERE id = $1`, company)
	names, args := d.ValuesTable(2, db.Texts("external_id", p.employeeExternalIDs))
	args = append([]any{company}, args...)
	// With a table of values the planner can hash the keys; with Dialect.In it would compare each row of a small
	// company with each key. "+e.id" keeps SQLite from reading all employees in the order of their ids to avoid a sort.
	named := ` FROM employees e WHERE e.company_id = $1 AND e.external_id IN (SELECT k.external_id FROM ` + names + ` k) AND e.left_at IS NULL`
	b.Query(func(r db.Rows) error {
		var e domain.Employee
		err := scanEmployee(r, &e)
		p.employees[e.ExternalID] = e
		return err
	}, `SELECT `+employeeColumns+named+` ORDER BY +e.id`+d.ForUpdate("e"), args...)
	p.loadLiveAtMost(b, named, args...)
	isNamedCourse, courseIDs := d.In("c.id", 2, db.Ints("id", p.courseIDs))
	b.Query(func(r db.Rows) error {
		var c companyCourse
		err := scanCourse(r, &c.Course, &c.isGranted)
		p.courses[c.ID] = c
		return err
	}, `SELECT `+courseColumns+`, g.company_id IS NOT NULL FROM courses c
		LEFT JOIN course_grants g ON g.company_id = $1 AND g.course_id = c.id WHERE `+isNamedCourse+`
		ORDER BY c.id`+d.ForShare("c"), company, courseIDs)
	hasKey, externalIDs := d.In("a.external_id", 2, db.Texts("external_id", p.externalIDs))
	b.Query(func(r db.Rows) error {
		var a domain.Assignment
		err := scanAssignment(r, &a)
		p.existing[a.ExternalID] = a
		return err
	}, `SELECT `+assignmentColumns+assignmentsFirst(d)+`
		WHERE a.company_id = $1 AND `+hasKey+` AND a.revoked_at IS NULL`, company, externalIDs)
}

// findFormer reads which of the employees who were not found have left. Most requests
// have none, so load does not query for them.
func (p *assignPlan) findFormer(ctx context.Context, tx db.Tx, d db.Dialect, company int64) error {
	missing := slices.DeleteFunc(slices.Clone(p.employeeExternalIDs), func(key string) bool { _, found := p.employees[key]; return found })
	if len(missing) == 0 {
		return nil
	}
	names, args := d.ValuesTable(2, db.Texts("external_id", missing))
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var id string
		err := r.Scan(&id)
		p.former[id] = true
		return err
	}, `SELECT DISTINCT e.external_id FROM employees e WHERE e.company_id = $1
		AND e.external_id IN (SELECT k.external_id FROM `+names+` k) AND e.left_at IS NOT NULL`, append([]any{company}, args...)...)
	return tx.Send(ctx, b)
}

// loadLiveAtMost queues the reading of an upper bound of each employee's live assignments,
// which is stored in live_at_most of their newest assignment. Counting them all
// halved bulk throughput. If that is null, because an older program made the row or the
// assignment was restored, they are counted. It is a statement of its own: after the employees are locked, it sees the
// assignments of a request that held the lock before.
//
// It takes the last assignment up to the employee's id and checks that it is theirs: only
// the index on employees has that order. With employee_id = e.id a planner might walk all
// assignments of the company backwards by id. The employees are given as a FROM clause.
func (p *assignPlan) loadLiveAtMost(b *db.Batch, employees string, args ...any) {
	b.Query(func(r db.Rows) error {
		var employee int64
		var atMost int
		err := r.Scan(&employee, &atMost)
		p.liveAtMost[employee] = atMost
		return err
	}, `SELECT e.id, COALESCE((SELECT CASE WHEN a.employee_id = e.id THEN COALESCE(a.live_at_most, `+strconv.Itoa(domain.MaxLiveAssignments)+`) END
			FROM assignments a WHERE a.company_id = e.company_id AND a.employee_id <= e.id
			ORDER BY a.employee_id DESC, a.id DESC LIMIT 1), 0)`+employees, args...)
}

// countNearLimit counts the live assignments of the employees who may have too
// many of them after the request. They are locked, so nobody adds any meanwhile.
func (p *assignPlan) countNearLimit(ctx context.Context, tx db.Tx, d db.Dialect, company int64) error {
	var near []int64
	for employee, atMost := range p.liveAtMost {
		if atMost+p.validItems > domain.MaxLiveAssignments {
			near = append(near, employee)
			p.liveAtMost[employee] = 0 // unless some are counted below
		}
	}
	if len(near) == 0 {
		return nil
	}
	isNear, employees := d.In("a.employee_id", 2, db.Ints("id", near))
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var employee int64
		var count int
		err := r.Scan(&employee, &count)
		p.liveAtMost[employee] = count
		return err
	}, `SELECT a.employee_id, COUNT(*) FROM assignments a
		WHERE a.company_id = $1 AND `+isNear+` AND a.revoked_at IS NULL
		GROUP BY a.employee_id`, company, employees)
	return tx.Send(ctx, b)
}

// decide returns the results of a request's items, in their order.
func (p *assignPlan) decide(items []domain.BulkItem, now time.Time) []domain.BulkResult {
	out := make([]domain.BulkResult, len(items))
	for i, it := range items {
		if it.Err != nil {
			out[i].Err = it.Err
			continue
		}
		out[i] = p.decideItem(it.New, now)
	}
	return out
}

// decideItem returns a new assignment, the existing one if the item repeats it, or the
// item's error. Errors of the employee and the course come before a conflict of identifiers.
func (p *assignPlan) decideItem(in domain.NewAssignment, now time.Time) domain.BulkResult {
	existing, repeated := p.existing[in.ExternalID]
	var conflict error
	if repeated {
		if conflict = in.CheckRepeat(existing); conflict == nil {
			return domain.BulkResult{Assignment: existing}
		}
	}
	e, ok := p.employees[in.EmployeeExternalID]
	if !ok {
		if p.former[in.EmployeeExternalID] {
			return domain.BulkResult{Err: domain.ErrEmployeeOffboarded}
		}
		return domain.BulkResult{Err: domain.ErrEmployeeNotFound}
	}
	course, ok := p.courses[in.CourseID]
	switch {
	case !ok:
		return domain.BulkResult{Err: domain.ErrCourseNotFound}
	case !course.isGranted:
		return domain.BulkResult{Err: domain.ErrCourseWrongCompany}
	case course.Archived():
		return domain.BulkResult{Err: domain.ErrCourseArchived}
	case conflict != nil:
		return domain.BulkResult{Err: conflict}
	case p.liveAtMost[e.ID] >= domain.MaxLiveAssignments:
		return domain.BulkResult{Err: domain.ErrTooManyAssignments}
	}
	p.liveAtMost[e.ID]++
	a := in.Make(e, course.Course, now, p.defaultDays)
	a.ID = p.ids[len(p.created)]
	p.existing[in.ExternalID] = a
	p.created = append(p.created, a)
	return domain.BulkResult{Assignment: a}
}

func (p *assignPlan) events(now time.Time) []domain.Event {
	out := make([]domain.Event, len(p.created))
	for i, a := range p.created {
		out[i] = domain.AssignmentEvent(domain.EventAssignmentCreated, a, now)
	}
	return out
}

// assignEntry returns the one audit entry of a request that made these assignments,
// however many.
func assignEntry(c domain.Caller, created []domain.Assignment) domain.AuditEntry {
	e := domain.AuditEntry{CompanyID: c.Company.ID, Actor: c.Actor, Action: "assignment.created", RecordKind: "assignment"}
	if len(created) == 1 {
		e.RecordID, e.EmployeeID = strconv.FormatInt(created[0].ID, 10), created[0].EmployeeID
		return e
	}
	e.RecordID = fmt.Sprintf("%d–%d", created[0].ID, created[len(created)-1].ID)
	e.Detail = fmt.Sprintf("%d assignments in one request.", len(created))
	return e
}

// insertAssignments queues the rows in the order of their external ids. Two requests
// for the same keys then wait for each other instead of deadlocking; the later one
// runs again and finds what the first has created.
func (s *Store) insertAssignments(b *db.Batch, p *assignPlan, by domain.Actor) {
	sorted := make([]*domain.Assignment, len(p.created)) // an assignment is large, so that moving it is slow
	for i := range p.created {
		sorted[i] = &p.created[i]
	}
	slices.SortFunc(sorted, func(x, y *domain.Assignment) int { return strings.Compare(x.ExternalID, y.ExternalID) })
	rows, args := s.db.ValuesTable(5, db.Columns(sorted,
		db.IntColumn("id", func(a **domain.Assignment) int64 { return (*a).ID }),
		db.TextColumn("external_id", func(a **domain.Assignment) string { return (*a).ExternalID }),
		db.IntColumn("employee_id", func(a **domain.Assignment) int64 { return (*a).EmployeeID }),
		db.IntColumn("course_id", func(a **domain.Assignment) int64 { return (*a).CourseID }),
		db.TimeColumn("deadline", func(a **domain.Assignment) time.Time { return (*a).Deadline }),
		db.BoolColumn("required", func(a **domain.Assignment) bool { return (*a).IsRequired }),
		db.IntColumn("live_at_most", func(a **domain.Assignment) int64 { return int64(p.liveAtMost[(*a).EmployeeID]) }))...)
	company := p.created[0].CompanyID
	// The ids of p.created ascend and were drawn for this transaction, so no other row lies
	// between the first and the last: CountTogether counts that range.
	before, after := s.db.CountTogether()
	together := before != "" && len(sorted) > 1
	if together {
		b.Exec(before, company, p.created[0].ID, p.created[len(p.created)-1].ID)
	}
	b.Exec(`INSERT INTO assignments (company_id, id, external_id, employee_id, course_id, status, percent, attempts, granted_attempts,
			is_required, assigned_at, deadline, asked_deadline, asked_required, updated_at, live_at_most, assigned_by, assigned_via)
		SELECT $1, r.id, r.external_id, r.employee_id, r.course_id, 'assigned', 0, 0, 0,
			r.required, $2, r.deadline, r.deadline, r.required, $2, r.live_at_most, $3, $4
		FROM `+rows+` r`, append([]any{company, p.created[0].AssignedAt, by.Ref(), by.Via()}, args...)...)
	if together {
		b.Exec(after, company)
	}
}
