package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

const (
	// eventsPerStep is how many events one transaction removes, with their deliveries
	// and attempts: few enough for a short transaction.
	eventsPerStep = 100
	// rowsPerStep is the same for tables whose rows stand alone.
	rowsPerStep = 500
)

type eventKey struct{ company, id int64 }

type deliveryKey struct {
	company int64
	id      string
}

// ExpireEvents removes some events that happened before the instant, with their
// deliveries and attempts, and reports whether there may be more. Deliveries that
// are still to be sent stay, and so do their events: each event is looked up among them.
// With NOT EXISTS PostgreSQL read all that are to be sent instead.
func (s *Store) ExpireEvents(ctx context.Context, before time.Time) (more bool, err error) {
	return s.expireEvents(ctx, before, `1 = 1`)
}

// ExpireRemovals is ExpireEvents for the events of people who left. After an erasure only
// this event still identifies the person, so it must not outlive the retention.
func (s *Store) ExpireRemovals(ctx context.Context, before time.Time) (more bool, err error) {
	return s.expireEvents(ctx, before, `v.kind = 'employee.removed'`)
}

func (s *Store) expireEvents(ctx context.Context, before time.Time, condition string) (more bool, err error) {
	err = s.write(ctx, func(tx db.Tx, _ *outbox) error {
		var events []eventKey
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			var k eventKey
			err := r.Scan(&k.company, &k.id)
			events = append(events, k)
			return err
		}, `SELECT v.company_id, v.id FROM events v WHERE v.occurred_at < $1 AND `+condition+` AND (SELECT d.event_id FROM deliveries d
				WHERE d.company_id = v.company_id AND d.event_id = v.id AND d.state = 'pending' LIMIT 1) IS NULL
			ORDER BY v.occurred_at LIMIT $2`, before, eventsPerStep)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		more = len(events) == eventsPerStep
		if len(events) == 0 {
			return nil
		}
		return s.removeEvents(ctx, tx, events)
	})
	return more, err
}

// removeEvents deletes the events with their deliveries and attempts, except those that
// were put back into the queue since they were chosen.
func (s *Store) removeEvents(ctx context.Context, tx db.Tx, events []eventKey) error {
	var deliveries []deliveryKey
	b := &db.Batch{}
	rows, args := s.db.ValuesTable(1, db.Columns(events,
		db.IntColumn("key_company", func(k *eventKey) int64 { return k.company }),
		db.IntColumn("key_id", func(k *eventKey) int64 { return k.id }))...)
	b.Query(func(r db.Rows) error {
		var k deliveryKey
		err := r.Scan(&k.company, &k.id)
		deliveries = append(deliveries, k)
		return err
	}, `DELETE FROM deliveries WHERE state <> 'pending'
		AND (company_id, event_id) IN (SELECT k.key_company, k.key_id FROM `+rows+` k)
		RETURNING company_id, CAST(id AS text)`, args...)
	if err := tx.Send(ctx, b); err != nil {
		return err
	}
	b = &db.Batch{}
	if len(deliveries) > 0 {
		gone, args := s.db.ValuesTable(1, db.Columns(deliveries,
			db.IntColumn("key_company", func(k *deliveryKey) int64 { return k.company }),
			db.UUIDColumn("key_id", func(k *deliveryKey) string { return k.id }))...)
		b.Exec(`DELETE FROM delivery_attempts WHERE (company_id, delivery_id) IN (SELECT k.key_company, k.key_id FROM `+gone+` k)`, args...)
	}
	b.Exec(`DELETE FROM events WHERE (company_id, id) IN (SELECT k.key_company, k.key_id FROM `+rows+` k)
		AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.company_id = events.company_id AND d.event_id = events.id)`, args...)
	tx.SendAndCommit(b)
	return nil
}

// ExpireEndpoints removes redeliveries that finished and endpoints that were removed
// before the instant, and previous secrets that no longer sign. It looks for a pending
// delivery of each endpoint and for another one apart, because each has an index of its own.
func (s *Store) ExpireEndpoints(ctx context.Context, before time.Time) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		b := &db.Batch{}
		b.Exec(`DELETE FROM redeliveries WHERE (company_id, id) IN (SELECT company_id, id FROM redeliveries
			WHERE finished_at < $1 LIMIT 500)`, before)
		b.Exec(`DELETE FROM endpoints WHERE (company_id, id) IN (SELECT e.company_id, e.id FROM endpoints e
			WHERE e.removed_at < $1
			AND (SELECT 1 FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND d.state <> 'pending' LIMIT 1) IS NULL
			AND (SELECT 1 FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND d.state = 'pending' LIMIT 1) IS NULL
			LIMIT 500)`, before)
		b.Exec(`UPDATE endpoints SET previous_secret = NULL, previous_until = NULL WHERE previous_until <= $1`, s.db.Now())
		tx.SendAndCommit(b)
		return nil
	})
}

// ExpireAudit removes the entries of all audit logs from before the instant, in
// small transactions, except those that are the history of an employee: they stay as
// long as the employee. Several replicas may call it at once.
func (s *Store) ExpireAudit(ctx context.Context, before time.Time) error {
	if _, err := s.execStep(ctx, `DELETE FROM former_administrators WHERE removed_at < $1`, before); err != nil {
		return err
	}
	for company := int64(0); ; {
		next := int64(0)
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&next) }, `SELECT c.id FROM companies c WHERE c.id >= $1 AND EXISTS
			(SELECT 1 FROM audit_entries e WHERE e.company_id = c.id AND e.at < $2 AND e.employee_id <= 0) ORDER BY c.id LIMIT 1`, company, before)
		if err := s.read(ctx, b); err != nil || next == 0 {
			return err
		}
		n, err := s.execStep(ctx, `DELETE FROM audit_entries WHERE company_id = $2 AND id IN (SELECT e.id FROM audit_entries e
			WHERE e.company_id = $2 AND e.at < $1 AND e.employee_id <= 0 ORDER BY e.at, e.id LIMIT $3`+s.db.ForUpdate("e")+s.db.SkipLocked()+`)`, before, next, rowsPerStep)
		if err != nil {
			return err
		}
		if company = next; n < rowsPerStep {
			company++ // done, or the rest is being removed by another replica
		}
	}
}

// ExpireActivities forgets the ids of activities that were received before the
// instant, in small transactions: an activity that is reported again after that is
// a new one. Several replicas may call it at once.
func (s *Store) ExpireActivities(ctx context.Context, before time.Time) error {
	for {
		n, err := s.execStep(ctx, `DELETE FROM activities WHERE id IN (SELECT x.id FROM activities x
			WHERE x.received_at < $1 ORDER BY x.received_at LIMIT $2`+s.db.ForUpdate("x")+s.db.SkipLocked()+`)`, before, rowsPerStep)
		if err != nil || n < rowsPerStep {
			return err
		}
	}
}

func (s *Store) execStep(ctx context.Context, sql string, args ...any) (n int64, err error) {
	err = s.write(ctx, func(tx db.Tx, _ *outbox) error {
		n, err = tx.Exec(ctx, sql, args...)
		return err
	})
	return n, err
}
