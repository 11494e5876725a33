package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// expireStep is how many events one transaction removes, with their deliveries
// and attempts: few enough to be a short one.
const expireStep = 100

type eventKey struct{ company, id int64 }

type deliveryKey struct {
	company int64
	id      string
}

// ExpireEvents removes a few events from before the instant with their
// deliveries and attempts, and says whether there may be more. Deliveries that
// are still to be sent stay, and their events with them.
func (s *Store) ExpireEvents(ctx context.Context, before time.Time) (more bool, err error) {
	err = s.write(ctx, func(tx db.Tx, _ *outbox) error {
		var events []eventKey
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			var k eventKey
			err := r.Scan(&k.company, &k.id)
			events = append(events, k)
			return err
		}, `SELECT v.company_id, v.id FROM events v WHERE v.occurred_at < $1 AND NOT EXISTS (SELECT 1 FROM deliveries d
				WHERE d.company_id = v.company_id AND d.event_id = v.id AND d.state = 'pending')
			ORDER BY v.occurred_at LIMIT $2`, before, expireStep)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		more = len(events) == expireStep
		if len(events) == 0 {
			return nil
		}
		return s.removeEvents(ctx, tx, events)
	})
	return more, err
}

// removeEvents leaves what someone put back into the queue since it was picked.
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

// ExpireWebhooks removes what else has had its time: finished redeliveries and
// removed endpoints from before the instant, and secrets that no longer sign.
func (s *Store) ExpireWebhooks(ctx context.Context, before time.Time) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		b := &db.Batch{}
		b.Exec(`DELETE FROM redeliveries WHERE (company_id, id) IN (SELECT company_id, id FROM redeliveries
			WHERE finished_at < $1 LIMIT 500)`, before)
		b.Exec(`DELETE FROM endpoints WHERE (company_id, id) IN (SELECT e.company_id, e.id FROM endpoints e
			WHERE e.removed_at < $1
			AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND d.state <> 'pending')
			AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND d.state = 'pending')
			LIMIT 500)`, before)
		b.Exec(`UPDATE endpoints SET previous_secret = NULL, previous_until = NULL WHERE previous_until <= $1`, s.db.Now())
		tx.SendAndCommit(b)
		return nil
	})
}
