package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// SetAttributes replaces the attributes of a live employee. Attributes that stay the
// same leave no trace. Codes: employee_not_found, employee_offboarded.
func (s *Store) SetAttributes(ctx context.Context, c domain.Caller, id int64, a domain.Attributes) error {
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
		var before domain.Attributes
		b := &db.Batch{}
		queueAttributes(b, c.Company.ID, id, &before)
		if err := tx.Send(ctx, b); err != nil || maps.Equal(before, a) {
			return err
		}
		text, err := json.Marshal(a)
		if err != nil {
			return fmt.Errorf("encode attributes: %w", err)
		}
		b = &db.Batch{}
		b.One(errStale, `UPDATE employees SET attributes = $3, updated_at = $4 WHERE company_id = $1 AND id = $2 AND left_at IS NULL`,
			c.Company.ID, id, string(text), tx.Now())
		box.audit(b, tx.Now(), employeeEntry(c, "employee.changed", id, "Changed: attributes."))
		return tx.Send(ctx, b)
	})
}

// queueAttributes queues the reading of an employee's attributes.
func queueAttributes(b *db.Batch, company, employee int64, into *domain.Attributes) {
	b.Query(func(r db.Rows) error {
		var text string
		if err := r.Scan(&text); err != nil {
			return err
		}
		*into = domain.Attributes{}
		return json.Unmarshal([]byte(text), into)
	}, `SELECT e.attributes FROM employees e WHERE e.company_id = $1 AND e.id = $2 AND e.attributes IS NOT NULL`, company, employee)
}
