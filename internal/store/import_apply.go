package store

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// SetImportCells replaces the cells of rows of an import that is not started. Codes:
// conflict.
func (s *Store) SetImportCells(ctx context.Context, i domain.Import, rows []domain.ImportRow) error {
	if len(rows) == 0 {
		return nil
	}
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		values, args := s.db.ValuesTable(3, db.Columns(rows,
			db.IntColumn("number", func(r *domain.ImportRow) int64 { return r.Number }),
			db.TextColumn("cells", func(r *domain.ImportRow) string { return encodeList(r.Cells) }))...)
		b := &db.Batch{}
		b.One(domain.ErrImportStarted, `UPDATE imports SET fields = fields WHERE company_id = $1 AND id = $2 AND job_id = 0`, i.CompanyID, i.ID)
		b.Exec(`UPDATE import_rows SET cells = r.cells FROM `+values+` r
			WHERE import_rows.company_id = $1 AND import_rows.import_id = $2 AND import_rows.number = r.number`,
			append([]any{i.CompanyID, i.ID}, args...)...)
		return tx.Send(ctx, b)
	})
}

// EachEmployee calls yield with the id, name, e-mail and external id of each live
// employee, by ascending id.
func (s *Store) EachEmployee(ctx context.Context, company int64, yield func(domain.Employee)) error {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var e domain.Employee
		err := r.Scan(&e.ID, &e.Name, &e.Email, &e.ExternalID)
		yield(e)
		return err
	}, `SELECT e.id, e.name, e.email, coalesce(e.external_id, '') FROM employees e WHERE e.company_id = $1 AND e.left_at IS NULL ORDER BY e.id`, company)
	return s.read(ctx, b)
}

// HeldCourses returns the pairs of employee and course, among the given ones, of which
// a live assignment exists.
func (s *Store) HeldCourses(ctx context.Context, company int64, employees, courses []int64) (map[[2]int64]bool, error) {
	out := map[[2]int64]bool{}
	b := &db.Batch{}
	isHolder, holders := s.db.In("a.employee_id", 2, db.Ints("id", sortedUnique(slices.Clone(employees))))
	isHeld, held := s.db.In("a.course_id", 3, db.Ints("id", sortedUnique(slices.Clone(courses))))
	b.Query(func(r db.Rows) error {
		var pair [2]int64
		err := r.Scan(&pair[0], &pair[1])
		out[pair] = true
		return err
	}, `SELECT a.employee_id, a.course_id FROM assignments a
		WHERE a.company_id = $1 AND `+isHolder+` AND `+isHeld+` AND a.revoked_at IS NULL`, company, holders, held)
	err := s.read(ctx, b)
	return out, err
}

// PatchNames changes the names and tags of employees, by their ids, in one
// transaction. Those who have left meanwhile stay as they are.
func (s *Store) PatchNames(ctx context.Context, c domain.Caller, patches map[int64]domain.EmployeePatch) error {
	ids := slices.Sorted(maps.Keys(patches))
	return s.write(ctx, func(dbTx db.Tx, box *outbox) error {
		tx := callerTx{dbTx, box, c}
		found, err := s.loadPeople(ctx, tx, domain.PeopleAction{}, ids)
		if err != nil {
			return err
		}
		var changed []domain.Employee
		var entries []domain.AuditEntry
		for _, id := range ids {
			before, live := found[id]
			if !live || !patches[id].Changes(before) {
				continue
			}
			after := patches[id].Apply(before)
			changed = append(changed, after)
			entries = append(entries, employeeEntry(c, "employee.changed", id, changedFields(before, after)))
		}
		if len(changed) == 0 {
			return nil
		}
		b := &db.Batch{}
		s.updateNames(b, tx, changed)
		s.storeTags(b, tx, changed)
		box.audit(b, tx.Now(), entries...)
		return tx.Send(ctx, b)
	})
}

// updateNames queues the new names of employees.
func (s *Store) updateNames(b *db.Batch, tx callerTx, changed []domain.Employee) {
	rows, args := s.db.ValuesTable(2, db.Columns(changed,
		db.IntColumn("key_id", func(e *domain.Employee) int64 { return e.ID }),
		db.TextColumn("new_name", func(e *domain.Employee) string { return e.Name }),
		db.TextColumn("folded", func(e *domain.Employee) string { return domain.FoldName(e.Name) }),
		db.TextColumn("last", func(e *domain.Employee) string { return domain.FoldLastName(e.Name) }))...)
	b.Exec(`UPDATE employees SET name = r.new_name, name_folded = r.folded, last_name_folded = r.last FROM `+rows+` r
		WHERE employees.company_id = $1 AND employees.id = r.key_id`, append([]any{tx.caller.Company.ID}, args...)...)
}

// AssignImported assigns courses to employees who do not have them, in one
// transaction, and returns for each what became of it.
func (s *Store) AssignImported(ctx context.Context, c domain.Caller, list []domain.PersonCourse) ([]domain.PersonCourseOutcome, error) {
	var out []domain.PersonCourseOutcome
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		step := &assignStep{has: map[[2]int64]bool{}, employees: map[int64]domain.Employee{}, plan: newAssignPlan(nil)}
		for _, p := range list {
			step.people, step.in.CourseIDs = append(step.people, p.EmployeeID), append(step.in.CourseIDs, p.CourseID)
		}
		step.people, step.in.CourseIDs = sortedUnique(step.people), sortedUnique(step.in.CourseIDs)
		plan := step.plan
		plan.validItems = len(list)
		b := &db.Batch{}
		s.loadStep(b, c.Company.ID, step)
		tx.IDs(b, "assignment_ids", plan.validItems, &plan.ids)
		box.prepare(b, tx, plan.validItems, c.Company.ID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if err := plan.countNearLimit(ctx, tx, s.db, c.Company.ID); err != nil {
			return err
		}
		plan.created, out = nil, make([]domain.PersonCourseOutcome, len(list))
		for i, p := range list {
			out[i] = step.assignOne(p, tx)
		}
		if len(plan.created) == 0 {
			return nil
		}
		last := &db.Batch{}
		s.insertAssignments(last, plan, c.Actor)
		box.audit(last, tx.Now(), assignEntry(c, plan.created))
		box.events(last, tx.Now(), plan.events(tx.Now())...)
		return tx.Send(ctx, last)
	})
	return out, err
}

// assignOne decides about one course of one employee.
func (step *assignStep) assignOne(p domain.PersonCourse, tx db.Tx) domain.PersonCourseOutcome {
	plan, pair := step.plan, [2]int64{p.EmployeeID, p.CourseID}
	e, live := step.employees[p.EmployeeID]
	course, known := plan.courses[p.CourseID]
	switch {
	case !live:
		return domain.PersonCourseOutcome{Refused: domain.CodeEmployeeOffboarded}
	case !known || !course.isGranted:
		return domain.PersonCourseOutcome{Refused: domain.CodeCourseNotFound}
	case course.Archived():
		return domain.PersonCourseOutcome{Refused: domain.CodeCourseArchived}
	case step.has[pair]:
		return domain.PersonCourseOutcome{IsHeld: true}
	case plan.liveAtMost[e.ID] >= domain.MaxLiveAssignments:
		return domain.PersonCourseOutcome{Refused: domain.CodeTooManyAssignments}
	}
	plan.liveAtMost[e.ID]++
	step.has[pair] = true
	in := domain.NewAssignment{EmployeeExternalID: e.ExternalID, CourseID: p.CourseID, ExternalID: p.AssignmentExternalID, Deadline: p.Deadline, IsRequired: &p.Required}
	a := in.Make(e, course.Course, tx.Now(), cmp.Or(plan.defaultDays, domain.DefaultDeadlineDays))
	a.ID = plan.ids[len(plan.created)]
	plan.created = append(plan.created, a)
	return domain.PersonCourseOutcome{}
}
