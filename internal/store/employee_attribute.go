package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// replaceAttributes stores the attributes of a live employee who is locked. Attributes
// that stay the same leave no trace.
func (s *Store) replaceAttributes(ctx context.Context, tx callerTx, id int64, a domain.Attributes) error {
	company := tx.caller.Company.ID
	var before domain.Attributes
	b := &db.Batch{}
	queueAttributes(b, company, id, &before)
	if err := tx.Send(ctx, b); err != nil || maps.Equal(before, a) {
		return err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode attributes: %w", err)
	}
	b = &db.Batch{}
	b.One(errStale, `UPDATE employees SET attributes = $3, updated_at = $4 WHERE company_id = $1 AND id = $2 AND left_at IS NULL`,
		company, id, string(text), tx.Now())
	tx.box.audit(b, tx.Now(), employeeEntry(tx.caller, "employee.changed", id, "Changed: attributes."))
	return tx.Send(ctx, b)
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
