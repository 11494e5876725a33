package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// recordRows is how many assignments and how many entries of the history an
// employee's page shows.
const recordRows = 100

// EmployeeRecord returns an employee, live or former, with the newest assignments
// and the latest history. Codes: employee_not_found.
func (s *Store) EmployeeRecord(ctx context.Context, company, id int64) (domain.EmployeeRecord, error) {
	var out domain.EmployeeRecord
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return scanEmployee(r, &out.Employee) },
		`SELECT `+employeeColumns+` FROM employees e WHERE e.company_id = $1 AND e.id = $2`, company, id)
	b.Query(func(r db.Rows) error {
		return r.Scan(&out.Assigned, &out.Completed, &out.Open, &out.Overdue, &out.LastActivityAt)
	}, `SELECT count(*), count(*) FILTER (WHERE a.status = 'completed'), count(*) FILTER (WHERE a.status <> 'completed'),
			count(*) FILTER (WHERE a.status <> 'completed' AND a.deadline <= $3), max(a.last_activity_at)
		FROM assignments a WHERE a.company_id = $1 AND a.employee_id = $2 AND a.revoked_at IS NULL`, company, id, s.db.Now())
	b.Query(func(r db.Rows) error {
		var a domain.Assignment
		err := scanAssignment(r, &a)
		out.Assignments = append(out.Assignments, a)
		return err
	}, `SELECT `+assignmentColumns+assignmentFrom+` WHERE a.company_id = $1 AND a.employee_id = $2 AND a.revoked_at IS NULL
		ORDER BY a.id DESC LIMIT $3`, company, id, recordRows)
	b.Query(func(r db.Rows) error { return r.Scan(&out.Leaving) },
		`SELECT p.at FROM planned_offboardings p WHERE p.company_id = $1 AND p.employee_id = $2`, company, id)
	queueAttributes(b, company, id, &out.Attributes)
	s.queueHistory(b, company, id, &out.History)
	if err := s.read(ctx, b); err != nil {
		return out, err
	}
	if out.ID == 0 {
		return out, domain.ErrEmployeeNotFound
	}
	out.History = withoutTwins(out.History)
	slices.SortStableFunc(out.History, func(x, y domain.HistoryEntry) int {
		return cmp.Or(y.At.Compare(x.At), cmp.Compare(y.AssignmentID, x.AssignmentID))
	})
	out.History = out.History[:min(len(out.History), recordRows)]
	return out, nil
}

// queueHistory queues the reading of the latest history of an employee. Nothing is
// written for it: it comes from the audit log, from the assignments, which name who
// assigned them, and from their own history. What somebody did to an assignment is in
// both that and the audit log, unless it was done to several at once, or by an older
// program: see withoutTwins.
func (s *Store) queueHistory(b *db.Batch, company, employee int64, into *[]domain.HistoryEntry) {
	each := func(r db.Rows) error {
		var h domain.HistoryEntry
		err := r.Scan(&h.At, &h.Via, &h.Actor, &h.Action, &h.AssignmentID, &h.CourseName, &h.Detail)
		*into = append(*into, h)
		return err
	}
	const (
		via = `CASE WHEN e.request_id LIKE 'import-%' THEN 'import' ELSE e.actor_kind END`
		who = `CASE WHEN e.actor_kind = 'person' THEN coalesce((SELECT p.email FROM administrators p WHERE p.id = e.actor_id),
			(SELECT f.email FROM former_administrators f WHERE f.administrator_id = e.actor_id), '` + domain.FormerAdministrator + `') ELSE e.actor_label END`
	)
	b.Query(each, `SELECT e.at, `+via+`, `+who+`, e.action, 0, '', e.detail FROM audit_entries e
		WHERE e.company_id = $1 AND e.record_id = $2 AND e.record_kind = 'employee' ORDER BY e.at DESC, e.id DESC LIMIT $3`,
		company, strconv.FormatInt(employee, 10), recordRows)
	b.Query(each, `SELECT a.assigned_at, a.assigned_via, `+actorLabelSQL("a.assigned_by")+`, 'assignment.created', a.id, c.name, ''
		FROM assignments a JOIN courses c ON c.id = a.course_id
		WHERE a.company_id = $1 AND a.employee_id = $2 AND a.assigned_by IS NOT NULL ORDER BY a.id DESC LIMIT $3`, company, employee, recordRows)
	theirs := `(SELECT a.id, a.company_id, a.course_id, a.assigned_by FROM assignments a WHERE a.company_id = $1 AND a.employee_id = $2) a`
	b.Query(each, `SELECT e.at, `+via+`, `+who+`, e.action, a.id, c.name, e.detail FROM `+theirs+
		s.db.Join("audit_entries", "e", `e.company_id = a.company_id AND e.record_id = CAST(a.id AS text) AND e.record_kind = 'assignment'
			AND (e.action <> 'assignment.created' OR a.assigned_by IS NULL)`)+`
		JOIN courses c ON c.id = a.course_id ORDER BY e.at DESC, e.id DESC LIMIT $3`, company, employee, recordRows)
	b.Query(each, `SELECT h.at, coalesce(h.actor_kind, 'platform'), `+actorLabelSQL("coalesce(h.actor, '')")+`, `+historyActionSQL+`,
			a.id, c.name, coalesce(h.detail, '') FROM `+theirs+
		s.db.Join("assignment_history", "h", `h.company_id = a.company_id AND h.assignment_id = a.id`)+`
		JOIN courses c ON c.id = a.course_id ORDER BY h.at DESC, h.id DESC LIMIT $3`, company, employee, recordRows)
}

// historyActionSQL returns what an entry of an assignment's history is called in the
// audit log.
var historyActionSQL = func() string {
	text := `CASE WHEN h.actor_kind IS NULL THEN 'assignment.' || h.to_status`
	for _, kind := range slices.Sorted(maps.Keys(actActions)) {
		text += ` WHEN h.cause = '` + string(kind) + `' THEN '` + actActions[kind] + `'`
	}
	return text + ` ELSE 'assignment.' || h.cause END`
}()

// withoutTwins leaves out entries of an assignment's history that the audit log has too.
func withoutTwins(list []domain.HistoryEntry) []domain.HistoryEntry {
	type key struct {
		at         int64
		assignment int64
		action     string
	}
	seen := map[key]bool{}
	return slices.DeleteFunc(list, func(h domain.HistoryEntry) bool {
		k := key{h.At.UnixMilli(), h.AssignmentID, h.Action}
		isTwin := h.AssignmentID != 0 && seen[k]
		seen[k] = true
		return isTwin
	})
}

// releaseHistory queues that the audit entries about an employee who is erased are
// no longer kept as a history.
func releaseHistory(b *db.Batch, e domain.Employee) {
	b.Exec(`UPDATE audit_entries SET employee_id = $4 WHERE company_id = $1 AND employee_id = $2 AND record_id IN
		(SELECT CAST(a.id AS text) FROM assignments a WHERE a.company_id = $1 AND a.employee_id = $2 UNION ALL SELECT $3)`,
		e.CompanyID, e.ID, strconv.FormatInt(e.ID, 10), domain.ErasedEmployeeID)
}

// ErasureEffects counts what erasing an employee would remove. Codes:
// employee_not_found.
func (s *Store) ErasureEffects(ctx context.Context, company, id int64) (domain.ErasureEffects, error) {
	var out domain.ErasureEffects
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&out.Assignments, &out.Results) }, `SELECT count(*), count(a.ended_at)
		FROM assignments a WHERE a.company_id = $1 AND a.employee_id = $2`, company, id)
	b.Query(func(r db.Rows) error { return r.Scan(&out.Events) }, `SELECT count(*) FROM events v
		WHERE v.company_id = $1 AND v.employee_id = $2 AND v.kind <> 'employee.removed'`, company, id)
	err := s.read(ctx, b)
	return out, err
}
