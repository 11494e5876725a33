package store

import (
	"context"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// AddPastEmployees adds employees who joined in the past, with their tags and an
// audit entry each, sets their ids and returns how many rows it wrote. It writes no
// events. It is for the demo: it assumes that no employee of the company has one of
// the identifiers or addresses.
func (s *Store) AddPastEmployees(ctx context.Context, c domain.Caller, people []domain.Employee) (rows int, err error) {
	rows = 3 * len(people) // accounts, employees and audit entries
	for _, e := range people {
		rows += len(e.Tags)
	}
	err = s.write(ctx, func(tx db.Tx, _ *outbox) error {
		var ids []int64
		b := &db.Batch{}
		tx.IDs(b, "employee_ids", len(people), &ids)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		for i := range people {
			people[i].CompanyID, people[i].ID = c.Company.ID, ids[i]
		}
		last := &db.Batch{}
		s.insertPastEmployees(last, people, tx.Now())
		insertTags(last, s.db, people)
		s.insertPastEntries(last, c.Actor, people)
		tx.SendAndCommit(last)
		return nil
	})
	return rows, err
}

func (s *Store) insertPastEmployees(b *db.Batch, people []domain.Employee, now time.Time) {
	rows, args := s.db.ValuesTable(3, db.Columns(people,
		db.IntColumn("company_id", func(e *domain.Employee) int64 { return e.CompanyID }),
		db.IntColumn("id", func(e *domain.Employee) int64 { return e.ID }),
		db.TextColumn("external_id", func(e *domain.Employee) string { return e.ExternalID }),
		db.TextColumn("email", func(e *domain.Employee) string { return e.Email }),
		db.TextColumn("folded", func(e *domain.Employee) string { return domain.FoldEmail(e.Email) }),
		db.TextColumn("name", func(e *domain.Employee) string { return e.Name }),
		db.TextColumn("name_folded", func(e *domain.Employee) string { return domain.FoldName(e.Name) }),
		db.TextColumn("last_name_folded", func(e *domain.Employee) string { return domain.FoldLastName(e.Name) }),
		db.TextColumn("tags", func(e *domain.Employee) string { return encodeList(e.Tags) }),
		db.TimeColumn("joined_at", func(e *domain.Employee) time.Time { return e.JoinedAt }))...)
	accounts, emails := s.db.ValuesTable(1, db.Columns(people,
		db.TextColumn("folded", func(e *domain.Employee) string { return domain.FoldEmail(e.Email) }),
		db.TimeColumn("joined_at", func(e *domain.Employee) time.Time { return e.JoinedAt }))...)
	b.Exec(`INSERT INTO accounts (email_folded, created_at) SELECT r.folded, r.joined_at FROM `+accounts+` r WHERE true
		ON CONFLICT DO NOTHING`, emails...)
	b.Exec(`INSERT INTO employees (company_id, id, external_id, email, email_folded, name, name_folded, last_name_folded, role, tags,
			joined_at, updated_at)
		SELECT r.company_id, r.id, r.external_id, r.email, r.folded, r.name, r.name_folded, r.last_name_folded, $2, r.tags,
			r.joined_at, $1 FROM `+rows+` r`, append([]any{now, string(domain.RoleEmployee)}, args...)...)
}

// insertPastEntries queues the audit entries of the people's first day.
func (s *Store) insertPastEntries(b *db.Batch, by domain.Actor, people []domain.Employee) {
	rows, args := s.db.ValuesTable(3, db.Columns(people,
		db.IntColumn("company_id", func(e *domain.Employee) int64 { return e.CompanyID }),
		db.IntColumn("employee_id", func(e *domain.Employee) int64 { return e.ID }),
		db.TextColumn("record_id", func(e *domain.Employee) string { return strconv.FormatInt(e.ID, 10) }),
		db.TimeColumn("at", func(e *domain.Employee) time.Time { return e.JoinedAt }))...)
	b.Exec(`INSERT INTO audit_entries (company_id, at, actor_kind, actor_id, actor_label, action, record_kind, record_id,
			employee_id, request_id, address, detail)
		SELECT r.company_id, r.at, $1, 0, $2, 'employee.provisioned', 'employee', r.record_id, r.employee_id, '', '', ''
		FROM `+rows+` r`, append([]any{string(by.Kind), auditLabel(by)}, args...)...)
}

// AddPastAssignments adds assignments that were made in the past and applies what
// their learners have done, with attempts and history. It returns how many rows it
// wrote. It writes no events. Those whose deadline has passed are marked as overdue
// since then, so that no server reports them. It is for the demo, as
// AddPastEmployees is.
func (s *Store) AddPastAssignments(ctx context.Context, c domain.Caller, items []domain.PastAssignment) (rows int, err error) {
	err = s.write(ctx, func(tx db.Tx, _ *outbox) error {
		var ids []int64
		b := &db.Batch{}
		tx.IDs(b, "assignment_ids", len(items), &ids)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		past := pastAssignments{made: make([]domain.Assignment, 0, len(items))}
		for i, id := range ids {
			items[i].CompanyID, items[i].ID = c.Company.ID, id
			past.replay(items[i], tx.Now())
		}
		rows = len(past.made) + len(past.attempts) + len(past.moves)
		last := &db.Batch{}
		s.insertPastAssignments(last, past.made, c.Actor, tx.Now())
		s.insertAttempts(last, past.attempts)
		s.insertMoves(last, past.moves)
		tx.SendAndCommit(last)
		return nil
	})
	return rows, err
}

// pastAssignments are the rows of assignments that were made in the past.
type pastAssignments struct {
	made     []domain.Assignment
	attempts []attemptRow
	moves    []statusMove
}

// replay adds an assignment as it is after its activities, each reported when it
// happened.
func (p *pastAssignments) replay(item domain.PastAssignment, now time.Time) {
	a := item.Assignment
	var attempts []attemptRow
	for _, act := range item.Activities {
		if a.OverdueAt == nil && a.Overdue(act.OccurredAt) {
			a.OverdueAt = &item.Deadline
		}
		before := a
		if a.Apply(a.Rule, act) {
			p.moves = append(p.moves, movesOf(before, a, act, act.OccurredAt)...)
			attempts = upsertAttempt(attempts, a)
		}
	}
	if a.OverdueAt == nil && a.Overdue(now) {
		a.OverdueAt = &item.Deadline
	}
	p.made, p.attempts = append(p.made, a), append(p.attempts, attempts...)
}

func (s *Store) insertPastAssignments(b *db.Batch, made []domain.Assignment, by domain.Actor, now time.Time) {
	rows, args := s.db.ValuesTable(4, append(assignmentKeys(made), db.Columns(made,
		db.TextColumn("external_id", func(a *domain.Assignment) string { return a.ExternalID }),
		db.IntColumn("employee_id", func(a *domain.Assignment) int64 { return a.EmployeeID }),
		db.IntColumn("course_id", func(a *domain.Assignment) int64 { return a.CourseID }),
		db.TextColumn("status", func(a *domain.Assignment) domain.Status { return a.Status }),
		db.IntColumn("percent", func(a *domain.Assignment) domain.Points { return a.Percent }),
		db.OptionalIntColumn("score", func(a *domain.Assignment) *int64 { return (*int64)(a.Score) }),
		db.IntColumn("attempts", func(a *domain.Assignment) int { return a.Attempts }),
		db.BoolColumn("required", func(a *domain.Assignment) bool { return a.IsRequired }),
		db.TimeColumn("assigned_at", func(a *domain.Assignment) time.Time { return a.AssignedAt }),
		db.TimeColumn("deadline", func(a *domain.Assignment) time.Time { return a.Deadline }),
		db.OptionalTimeColumn("started_at", func(a *domain.Assignment) *time.Time { return a.StartedAt }),
		db.OptionalTimeColumn("attempt_at", func(a *domain.Assignment) *time.Time { return a.AttemptAt }),
		db.OptionalTimeColumn("ended_at", func(a *domain.Assignment) *time.Time { return a.EndedAt }),
		db.OptionalTimeColumn("completed_at", func(a *domain.Assignment) *time.Time { return a.CompletedAt }),
		db.OptionalTimeColumn("active_at", func(a *domain.Assignment) *time.Time { return a.LastActivityAt }),
		db.OptionalTimeColumn("overdue_at", func(a *domain.Assignment) *time.Time { return a.OverdueAt }))...)...)
	b.Exec(`INSERT INTO assignments (company_id, id, external_id, employee_id, course_id, status, percent, score, attempts,
			granted_attempts, is_required, assigned_at, deadline, asked_deadline, asked_required, started_at, attempt_at, ended_at,
			completed_at, last_activity_at, overdue_at, updated_at, assigned_by, assigned_via)
		SELECT r.company_id, r.id, r.external_id, r.employee_id, r.course_id, r.status, r.percent, r.score, r.attempts,
			0, r.required, r.assigned_at, r.deadline, r.deadline, r.required, r.started_at, r.attempt_at, r.ended_at,
			r.completed_at, r.active_at, r.overdue_at, $1, $2, $3 FROM `+rows+` r`, append([]any{now, by.Ref(), by.Via()}, args...)...)
}
