package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// PlanOffboarding sets the instant at which a live employee is offboarded, or
// cancels the plan if it is nil. Codes: employee_not_found, employee_offboarded.
func (s *Store) PlanOffboarding(ctx context.Context, c domain.Caller, id int64, at *time.Time) error {
	return s.write(ctx, func(dbTx db.Tx, box *outbox) error {
		tx := callerTx{dbTx, box, c}
		found, err := s.loadForPatch(ctx, tx, withID(id), domain.EmployeePatch{})
		switch {
		case err != nil:
			return err
		case found.live == nil && found.former == nil:
			return s.confirmNotFound(ctx, tx, c.Company.ID, withID(id))
		case found.live == nil:
			return domain.ErrEmployeeOffboarded
		}
		b := &db.Batch{}
		cancelPlan(b, *found.live)
		action := "employee.offboarding_canceled"
		if at != nil {
			action = "employee.offboarding_planned"
			b.Exec(`INSERT INTO planned_offboardings (company_id, employee_id, at, actor_kind, actor_id, actor_label)
				VALUES ($1, $2, $3, $4, $5, $6)`, c.Company.ID, id, *at, string(c.Actor.Kind), c.Actor.ID, auditLabel(c.Actor))
		}
		box.audit(b, tx.Now(), employeeEntry(c, action, id, ""))
		return tx.Send(ctx, b)
	})
}

func cancelPlan(b *db.Batch, e domain.Employee) {
	b.Exec(`DELETE FROM planned_offboardings WHERE company_id = $1 AND employee_id = $2`, e.CompanyID, e.ID)
}

type plannedOffboarding struct {
	company, employee int64
	by                domain.Actor
}

// OffboardDue offboards employees whose planned instant has come, each in a
// transaction of its own and in the name of the person who planned it, and returns
// how many plans it looked at. The employee's lock makes sure that several replicas
// carry a plan out once. Plans of suspended companies wait.
func (s *Store) OffboardDue(ctx context.Context, limit int) (int, error) {
	var due []plannedOffboarding
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var p plannedOffboarding
		err := r.Scan(&p.company, &p.employee, &p.by.Kind, &p.by.ID, &p.by.Label)
		due = append(due, p)
		return err
	}, `SELECT p.company_id, p.employee_id, p.actor_kind, p.actor_id, p.actor_label FROM planned_offboardings p
		JOIN companies c ON c.id = p.company_id AND c.suspended_at IS NULL
		WHERE p.at <= $1 ORDER BY p.at LIMIT $2`, s.db.Now(), limit)
	if err := s.read(ctx, b); err != nil {
		return 0, err
	}
	for _, p := range due {
		if err := s.offboardPlanned(ctx, p); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

func (s *Store) offboardPlanned(ctx context.Context, p plannedOffboarding) error {
	c := domain.Caller{Company: domain.Company{ID: p.company}, Actor: p.by}
	leave := false
	return s.write(ctx, func(dbTx db.Tx, box *outbox) error {
		tx := callerTx{dbTx, box, c}
		found, err := s.loadForPatch(ctx, tx, withID(p.employee), domain.EmployeePatch{Active: &leave})
		if err != nil || found.live == nil {
			return err
		}
		planned := false
		b := &db.Batch{}
		b.Query(func(db.Rows) error { planned = true; return nil }, `SELECT 1 FROM planned_offboardings p
			WHERE p.company_id = $1 AND p.employee_id = $2 AND p.at <= $3`, p.company, p.employee, tx.Now())
		if err := tx.Send(ctx, b); err != nil || !planned {
			return err
		}
		return s.offboard(ctx, tx, *found.live)
	})
}
