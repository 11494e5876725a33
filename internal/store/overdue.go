package store

import (
	"context"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// MarkOverdue marks up to limit assignments whose deadline has passed before they
// were completed, writes their events and returns how many there were. Several
// replicas may call it at once: each passes over the rows that another holds.
func (s *Store) MarkOverdue(ctx context.Context, limit int) (int, error) {
	due, err := s.hasDue(ctx)
	if err != nil || !due {
		return 0, err
	}
	marked := 0
	err = s.write(ctx, func(tx db.Tx, box *outbox) error {
		marked = 0
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		var due []domain.Assignment // keys only
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			var a domain.Assignment
			err := r.Scan(&a.CompanyID, &a.ID)
			due = append(due, a)
			return err
		}, `SELECT a.company_id, a.id FROM assignments a JOIN employees e ON e.company_id = a.company_id AND e.id = a.employee_id
			WHERE a.overdue_at IS NULL AND a.revoked_at IS NULL
			AND a.status <> 'completed' AND a.deadline <= $1 ORDER BY a.deadline LIMIT `+strconv.Itoa(limit)+s.db.ForUpdate("a, e")+s.db.SkipLocked(), tx.Now())
		tx.Restamp(b)
		if err := tx.Send(ctx, b); err != nil || len(due) == 0 {
			return err
		}
		marked = len(due)
		return s.markOverdue(ctx, tx, box, due)
	})
	return marked, err
}

// hasDue reports whether there is anything to mark. It only reads, so that an idle
// sweep costs one lookup in an index.
func (s *Store) hasDue(ctx context.Context) (bool, error) {
	due := false
	b := &db.Batch{}
	b.Query(func(db.Rows) error { due = true; return nil },
		`SELECT 1 FROM assignments WHERE overdue_at IS NULL AND revoked_at IS NULL AND status <> 'completed' AND deadline <= $1 ORDER BY deadline LIMIT 1`, s.Now())
	err := s.read(ctx, b)
	return due, err
}

// markOverdue marks assignments that the transaction has locked. They are read
// here, in a statement after the locks: see locks.go.
func (s *Store) markOverdue(ctx context.Context, tx db.Tx, box *outbox, due []domain.Assignment) error {
	now := tx.Now()
	companies := make([]int64, len(due))
	for i := range due {
		companies[i] = due[i].CompanyID
	}
	var events []domain.Event
	rows, args := s.db.ValuesTable(1, assignmentKeys(due)...)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var a domain.Assignment
		err := scanAssignment(r, &a)
		events = append(events, domain.AssignmentEvent(domain.EventAssignmentOverdue, a, now))
		return err
	}, `SELECT `+assignmentColumns+assignmentFrom+` WHERE (a.company_id, a.id) IN (SELECT k.company_id, k.id FROM `+rows+` k)
		ORDER BY a.deadline, a.id`, args...)
	box.prepare(b, tx, len(due), sortedUnique(companies)...)
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	rows, args = s.db.ValuesTable(2, assignmentKeys(due)...)
	last := &db.Batch{}
	last.Exec(`UPDATE assignments SET overdue_at = $1, updated_at = $1 FROM `+rows+` r
		WHERE assignments.company_id = r.company_id AND assignments.id = r.id`, append([]any{now}, args...)...)
	box.events(last, now, events...)
	tx.SendAndCommit(last)
	return nil
}

// assignmentKeys returns the columns company_id and id.
func assignmentKeys(list []domain.Assignment) []db.Column {
	return db.Columns(list,
		db.IntColumn("company_id", func(a *domain.Assignment) int64 { return a.CompanyID }),
		db.IntColumn("id", func(a *domain.Assignment) int64 { return a.ID }))
}
