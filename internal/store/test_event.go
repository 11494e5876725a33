package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// RecordTest writes a test event that was sent into the delivery log, where it is
// marked as a test, and the outcome into the audit log. The event is about nobody:
// its sample has the ids of people and assignments that may exist.
func (s *Store) RecordTest(ctx context.Context, c domain.Caller, t domain.TestEvent, a domain.Attempt, detail string) error {
	state := domain.DeliveryDelivered
	if a.ErrorKind != "" {
		state = domain.DeliveryFailed
	}
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		var ids []int64
		b := &db.Batch{}
		tx.IDs(b, "event_ids", 1, &ids)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		b = &db.Batch{}
		b.Exec(`INSERT INTO events (company_id, id, kind, occurred_at, employee_id, assignment_id, external_id, body)
			VALUES ($1, $2, $3, $4, 0, 0, $5, $6)`,
			c.Company.ID, ids[0], string(t.Event.Kind), tx.Now(), t.Event.ExternalID, t.Event.Body)
		b.Exec(`INSERT INTO deliveries (company_id, id, endpoint_id, event_id, kind, state, attempts, round_start, due_at,
				created_at, finished_at, status_code, error_kind, requested_by, is_test)
			VALUES ($1, $2, $3, $4, $5, $6, 1, 0, $7, $7, $7, $8, $9, $10, true)`,
			c.Company.ID, t.ID, t.Endpoint.ID, ids[0], string(t.Event.Kind), string(state), tx.Now(), a.StatusCode, a.ErrorKind, c.Actor.Ref())
		b.Exec(`INSERT INTO delivery_attempts (company_id, delivery_id, number, url, started_at, duration_us, status_code,
				error_kind, error, request_headers, response_headers, response_body, requested_by)
			VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
			c.Company.ID, t.ID, a.URL, a.StartedAt, a.Duration.Microseconds(), a.StatusCode, a.ErrorKind, a.Error,
			encodeHeaders(a.RequestHeaders), encodeHeaders(a.ResponseHeaders), append([]byte{}, a.ResponseBody...), c.Actor.Ref())
		box.audit(b, tx.Now(), endpointEntry(c, t.Endpoint.ID, "webhook.tested", detail))
		tx.SendAndCommit(b)
		return nil
	})
}
