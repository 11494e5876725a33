package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// AddPastDeliveries adds events that were sent in the past, in the order in which they
// happened, with their deliveries and attempts, and dates the company's endpoints back
// to since. It is for the demo, as AddPastEmployees is.
func (s *Store) AddPastDeliveries(ctx context.Context, c domain.Caller, since time.Time, events []domain.PastEvent) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		var ids []int64
		b := &db.Batch{}
		tx.IDs(b, "event_ids", len(events), &ids)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		var sent []pastDelivery
		var attempts []domain.DeliveryResult
		for i := range events {
			events[i].CompanyID, events[i].ID = c.Company.ID, ids[i]
			for _, d := range events[i].Deliveries {
				row := pastDelivery{PastDelivery: d, id: uuidAt(events[i].OccurredAt).String(), event: &events[i].Event}
				sent = append(sent, row)
				attempts = append(attempts, row.results()...)
			}
		}
		last := &db.Batch{}
		last.Exec(`UPDATE endpoints SET created_at = $1 WHERE company_id = $2`, since, c.Company.ID)
		s.insertPastEvents(last, events)
		s.insertPastDeliveries(last, sent)
		s.logAttempts(last, attempts)
		tx.SendAndCommit(last)
		return nil
	})
}

// uuidAt returns a new UUID that begins with an instant, as if it had been made then:
// attempts are in the partition of the time in their delivery's id.
func uuidAt(at time.Time) uuid.UUID {
	id := uuid.Must(uuid.NewV7())
	for i, ms := 5, at.UnixMilli(); i >= 0; i, ms = i-1, ms>>8 {
		id[i] = byte(ms)
	}
	return id
}

// pastDelivery is a delivery with its keys.
type pastDelivery struct {
	domain.PastDelivery
	id    string
	event *domain.Event
}

func (d *pastDelivery) lastAttempt() domain.Attempt { return d.Attempts[len(d.Attempts)-1] }

// results returns the attempts as a server records them.
func (d *pastDelivery) results() (out []domain.DeliveryResult) {
	for _, attempt := range d.Attempts {
		out = append(out, domain.DeliveryResult{
			Endpoint: domain.EndpointKey{CompanyID: d.event.CompanyID, ID: d.EndpointID},
			Delivery: domain.DueDelivery{ID: d.id, Sequence: d.event.ID}, Attempt: attempt,
		})
	}
	return out
}

func (s *Store) insertPastEvents(b *db.Batch, events []domain.PastEvent) {
	rows, args := s.db.ValuesTable(1, db.Columns(events,
		db.IntColumn("company_id", func(e *domain.PastEvent) int64 { return e.CompanyID }),
		db.IntColumn("id", func(e *domain.PastEvent) int64 { return e.ID }),
		db.TextColumn("kind", func(e *domain.PastEvent) domain.EventKind { return e.Kind }),
		db.TimeColumn("occurred_at", func(e *domain.PastEvent) time.Time { return e.OccurredAt }),
		db.IntColumn("employee_id", func(e *domain.PastEvent) int64 { return e.EmployeeID }),
		db.IntColumn("assignment_id", func(e *domain.PastEvent) int64 { return e.AssignmentID }),
		db.TextColumn("external_id", func(e *domain.PastEvent) string { return e.ExternalID }),
		db.BytesColumn("body", func(e *domain.PastEvent) []byte { return e.Body }))...)
	b.Exec(`INSERT INTO events (company_id, id, kind, occurred_at, employee_id, assignment_id, external_id, body)
		SELECT company_id, id, kind, occurred_at, employee_id, assignment_id, external_id, body FROM `+rows+` r`, args...)
}

func (s *Store) insertPastDeliveries(b *db.Batch, list []pastDelivery) {
	rows, args := s.db.ValuesTable(1, db.Columns(list,
		db.IntColumn("company_id", func(d *pastDelivery) int64 { return d.event.CompanyID }),
		db.UUIDColumn("id", func(d *pastDelivery) string { return d.id }),
		db.IntColumn("endpoint_id", func(d *pastDelivery) int64 { return d.EndpointID }),
		db.IntColumn("event_id", func(d *pastDelivery) int64 { return d.event.ID }),
		db.TextColumn("kind", func(d *pastDelivery) domain.EventKind { return d.event.Kind }),
		db.TextColumn("state", func(d *pastDelivery) domain.DeliveryState { return d.State }),
		db.IntColumn("attempts", func(d *pastDelivery) int { return len(d.Attempts) }),
		db.TimeColumn("due_at", func(d *pastDelivery) time.Time { return d.lastAttempt().StartedAt }),
		db.TimeColumn("created_at", func(d *pastDelivery) time.Time { return d.event.OccurredAt }),
		db.TimeColumn("finished_at", func(d *pastDelivery) time.Time {
			return domain.NormalizeTime(d.lastAttempt().StartedAt.Add(d.lastAttempt().Duration))
		}),
		db.IntColumn("status_code", func(d *pastDelivery) int { return d.lastAttempt().StatusCode }),
		db.TextColumn("error_kind", func(d *pastDelivery) string { return d.lastAttempt().ErrorKind }))...)
	b.Exec(`INSERT INTO deliveries (company_id, id, endpoint_id, event_id, kind, state, attempts, round_start, due_at,
			created_at, finished_at, status_code, error_kind, requested_by)
		SELECT company_id, id, endpoint_id, event_id, kind, state, attempts, 0, due_at,
			created_at, finished_at, status_code, error_kind, '' FROM `+rows+` r`, args...)
}
