package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// pickConditions returns the conditions of the live assignments that are picked.
func (s *Store) pickConditions(company int64, pick domain.AssignmentPick) *conditions {
	if pick.All {
		return s.queryConditions(company, pick.Query)
	}
	cond := s.queryConditions(company, domain.AssignmentQuery{})
	ids := sortedUnique(append([]int64{}, pick.IDs...))
	isNamed, keys := s.db.In("a.id", len(cond.args)+1, db.Ints("id", ids))
	cond.args = append(cond.args, keys)
	cond.parts = append(cond.parts, isNamed)
	return cond
}

// actable returns the condition that an act can change an assignment.
func actable(act domain.AssignmentAction) string {
	switch act.Kind {
	case domain.ActDeadline, domain.ActExtend:
		return "a.status <> 'completed'"
	case domain.ActGrant:
		return "a.status = 'failed'"
	case domain.ActRequired:
		if act.Required {
			return "NOT a.is_required"
		}
		return "a.is_required"
	}
	return "1 = 1"
}

// CountMatching counts the assignments that are picked for an act, those among them
// that it can change, and their employees, up to domain.MaxActCount.
func (s *Store) CountMatching(ctx context.Context, company int64, pick domain.AssignmentPick, act domain.AssignmentAction) (domain.ActCount, error) {
	var out domain.ActCount
	can := actable(act)
	cond := s.pickConditions(company, pick)
	limit := cond.limit(domain.PageRequest{Limit: domain.MaxActCount})
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&out.Matching, &out.Affected, &out.Employees) },
		`SELECT count(*), coalesce(sum(CASE WHEN `+can+` THEN 1 ELSE 0 END), 0), count(DISTINCT CASE WHEN `+can+` THEN a.employee_id END)
		FROM (SELECT a.employee_id, a.status, a.is_required FROM assignments a`+cond.where()+limit+`) a`, cond.args...)
	err := s.read(ctx, b)
	out.More = out.Matching > domain.MaxActCount
	return out, err
}

// AddActJob starts an act on the assignments that are picked now: the job works on
// exactly these, whatever matches later.
func (s *Store) AddActJob(ctx context.Context, c domain.Caller, in domain.NewJob, pick domain.AssignmentPick) (domain.Job, error) {
	return s.addPickedJob(ctx, c, in, func(job int64) (string, []any) {
		cond := s.pickConditions(c.Company.ID, pick)
		items := `SELECT $1, CAST(` + cond.arg(job) + ` AS bigint), a.id FROM assignments a` + cond.where()
		return items, cond.args
	})
}

// AddUndoJob starts an act on the assignments that an earlier job has changed.
func (s *Store) AddUndoJob(ctx context.Context, c domain.Caller, in domain.NewJob, earlier domain.Job) (domain.Job, error) {
	return s.addPickedJob(ctx, c, in, func(job int64) (string, []any) {
		return `SELECT $1, CAST($4 AS bigint), i.record_id FROM job_items i
			WHERE i.company_id = $1 AND i.job_id = $2 AND i.outcome = $3`, []any{c.Company.ID, earlier.ID, domain.OutcomeDone, job}
	})
}

// addPickedJob adds a job. Given its id, selectItems returns a query for its items, as
// company, job and record.
func (s *Store) addPickedJob(ctx context.Context, c domain.Caller, in domain.NewJob, selectItems func(job int64) (string, []any)) (domain.Job, error) {
	var out domain.Job
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		var err error
		if out, err = s.insertJob(ctx, tx, c, in); err != nil {
			return err
		}
		items, args := selectItems(out.ID)
		if out.Total, err = tx.Exec(ctx, `INSERT INTO job_items (company_id, job_id, record_id) `+items, args...); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE jobs SET total = $3 WHERE company_id = $1 AND id = $2`, c.Company.ID, out.ID, out.Total)
		return err
	})
	return out, err
}
