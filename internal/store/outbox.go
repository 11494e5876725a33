package store

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// outbox turns what happened in a transaction into events, deliveries and audit
// entries of the same transaction.
type outbox struct {
	store     *Store
	endpoints []subscriber         // of the companies that prepare was called for
	eventIDs  []int64              // reserved by prepare
	due       []domain.EndpointKey // to be woken after the commit
	changed   []domain.CacheKind   // whose version was raised
}

// callerTx is a transaction that changes something for a caller: what it changes is
// recorded in the caller's name.
type callerTx struct {
	db.Tx
	box    *outbox
	caller domain.Caller
}

type subscriber struct {
	key     domain.EndpointKey
	kinds   []domain.EventKind
	enabled bool
}

// prepare queues the statements that load the companies' endpoints and reserve n event ids.
// Send the batch before calling events with at most n events. It is called once in a
// transaction.
//
// The subscriptions are locked, shared, before they are read: enabling an endpoint
// waits for the transactions that saw it disabled, so that none of them leaves an
// event held on an endpoint that is enabled.
//
// An event's id is its sequence. It is drawn after the rows of its record are
// locked, so that the sequence of one record is the order of its changes:
//   - a new employee: the record has no other events yet;
//   - somebody who comes back: the update of the former employee's row makes the
//     transaction run again if another one has changed it since it was read;
//   - a patch, an offboarding or an erasure: the employee is locked before;
//   - new assignments, activities and deadlines: their employees are locked before.
func (o *outbox) prepare(b *db.Batch, tx db.Tx, n int, companies ...int64) {
	list, args := o.store.db.ValuesTable(1, db.Ints("company_id", companies))
	if lock := o.store.db.CompanyLock("c.company_id", true); lock != "" {
		b.Query(ignoreRow, `SELECT `+lock+` FROM `+list+` c`, args...)
	}
	b.Query(func(r db.Rows) error {
		var s subscriber
		var kinds string
		err := r.Scan(&s.key.CompanyID, &s.key.ID, &kinds, &s.enabled)
		if err != nil {
			return err
		}
		if s.kinds, err = decodeList[domain.EventKind](kinds); err != nil {
			return err
		}
		o.endpoints = append(o.endpoints, s)
		return nil
	}, `SELECT e.company_id, e.id, e.events, e.disabled_at IS NULL
		FROM endpoints e JOIN `+list+` c ON c.company_id = e.company_id
		WHERE e.removed_at IS NULL ORDER BY e.company_id, e.id`, args...)
	if n > 0 {
		tx.IDs(b, "event_ids", n, &o.eventIDs)
	}
}

// events queues the events and one delivery for each endpoint that wants them.
func (o *outbox) events(b *db.Batch, now time.Time, events ...domain.Event) {
	if len(events) == 0 {
		return
	}
	var deliveries []newDelivery
	woken := map[domain.EndpointKey]bool{}
	for i := range events {
		e := &events[i]
		e.ID = o.eventIDs[i]
		for _, s := range o.endpoints {
			if s.key.CompanyID != e.CompanyID || !slices.Contains(s.kinds, e.Kind) {
				continue
			}
			deliveries = append(deliveries, newDelivery{uuid.Must(uuid.NewV7()).String(), s, e})
			if s.enabled && !woken[s.key] {
				woken[s.key] = true
				o.due = append(o.due, s.key)
			}
		}
	}
	rows, args := o.store.db.ValuesTable(2, db.Columns(events,
		db.IntColumn("company_id", func(e *domain.Event) int64 { return e.CompanyID }),
		db.IntColumn("id", func(e *domain.Event) int64 { return e.ID }),
		db.TextColumn("kind", func(e *domain.Event) domain.EventKind { return e.Kind }),
		db.IntColumn("employee_id", func(e *domain.Event) int64 { return e.EmployeeID }),
		db.IntColumn("assignment_id", func(e *domain.Event) int64 { return e.AssignmentID }),
		db.TextColumn("external_id", func(e *domain.Event) string { return e.ExternalID }),
		db.BytesColumn("body", func(e *domain.Event) []byte { return e.Body }))...)
	b.Exec(`INSERT INTO events (company_id, id, kind, occurred_at, employee_id, assignment_id, external_id, body)
		SELECT company_id, id, kind, $1, employee_id, assignment_id, external_id, body FROM `+rows+` r`,
		append([]any{now}, args...)...)
	o.deliveries(b, now, deliveries)
}

// newDelivery is an event on its way to a subscriber.
type newDelivery struct {
	id    string
	to    subscriber
	event *domain.Event
}

// state is held for an endpoint that is disabled.
func (d *newDelivery) state() domain.DeliveryState {
	if d.to.enabled {
		return domain.DeliveryPending
	}
	return domain.DeliveryHeld
}

func (o *outbox) deliveries(b *db.Batch, now time.Time, list []newDelivery) {
	if len(list) == 0 {
		return
	}
	rows, args := o.store.db.ValuesTable(2, db.Columns(list,
		db.IntColumn("company_id", func(d *newDelivery) int64 { return d.event.CompanyID }),
		db.UUIDColumn("id", func(d *newDelivery) string { return d.id }),
		db.IntColumn("endpoint_id", func(d *newDelivery) int64 { return d.to.key.ID }),
		db.IntColumn("event_id", func(d *newDelivery) int64 { return d.event.ID }),
		db.TextColumn("kind", func(d *newDelivery) domain.EventKind { return d.event.Kind }),
		db.TextColumn("state", (*newDelivery).state))...)
	b.Exec(`INSERT INTO deliveries (company_id, id, endpoint_id, event_id, kind, state, attempts, round_start, due_at,
			created_at, status_code, error_kind, requested_by)
		SELECT company_id, id, endpoint_id, event_id, kind, state, 0, 0, $1, $1, 0, '', '' FROM `+rows+` r ORDER BY event_id, endpoint_id`,
		append([]any{now}, args...)...)
}

// audit queues entries of the audit log.
func (o *outbox) audit(b *db.Batch, now time.Time, entries ...domain.AuditEntry) {
	if len(entries) == 0 {
		return
	}
	rows, args := o.store.db.ValuesTable(2, db.Columns(entries,
		db.IntColumn("company_id", func(e *domain.AuditEntry) int64 { return e.CompanyID }),
		db.TextColumn("actor_kind", func(e *domain.AuditEntry) domain.ActorKind { return e.Actor.Kind }),
		db.IntColumn("actor_id", func(e *domain.AuditEntry) int64 { return e.Actor.ID }),
		db.TextColumn("actor_label", func(e *domain.AuditEntry) string { return auditLabel(e.Actor) }),
		db.TextColumn("action", func(e *domain.AuditEntry) string { return e.Action }),
		db.TextColumn("record_kind", func(e *domain.AuditEntry) string { return e.RecordKind }),
		db.TextColumn("record_id", func(e *domain.AuditEntry) string { return e.RecordID }),
		db.IntColumn("employee_id", func(e *domain.AuditEntry) int64 { return e.EmployeeID }),
		db.TextColumn("request_id", func(e *domain.AuditEntry) string { return e.Actor.RequestID }),
		db.TextColumn("address", func(e *domain.AuditEntry) string { return e.Actor.Address }),
		db.TextColumn("detail", func(e *domain.AuditEntry) string { return e.Detail }))...)
	b.Exec(`INSERT INTO audit_entries (company_id, at, actor_kind, actor_id, actor_label, action, record_kind, record_id,
			employee_id, request_id, address, detail)
		SELECT company_id, $1, actor_kind, actor_id, actor_label, action, record_kind, record_id,
			employee_id, request_id, address, detail FROM `+rows+` r`, append([]any{now}, args...)...)
}
