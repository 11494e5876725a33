package store

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

var endpointColumns = `company_id, id, url, description, events, secret, previous_secret, previous_until,
	created_at, ` + actorLabelSQL("created_by") + `, disabled_at, disabled_reason, failing_since, removed_at, strict_order, headers, rate_per_minute`

func scanEndpoint(r db.Rows, e *domain.Endpoint, more ...any) error {
	var kinds, reason string
	var secret, previous, headers []byte
	err := r.Scan(append([]any{
		&e.CompanyID, &e.ID, &e.URL, &e.Description, &kinds, &secret, &previous, &e.PreviousUntil,
		&e.CreatedAt, &e.CreatedBy, &e.DisabledAt, &reason, &e.FailingSince, &e.RemovedAt, &e.StrictOrder, &headers, &e.RatePerMinute,
	}, more...)...)
	if err != nil {
		return err
	}
	e.Secret, e.Previous, e.Headers, e.DisabledReason = secret, previous, headers, domain.DisabledReason(reason)
	e.Events, err = decodeList[domain.EventKind](kinds)
	return err
}

// AddEndpoint makes an endpoint. Codes: invalid_request when the company has as
// many as it can have.
func (s *Store) AddEndpoint(ctx context.Context, c domain.Caller, in domain.EndpointInput, secret domain.SealedSecret) (domain.Endpoint, error) {
	var e domain.Endpoint
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		count := 0
		b := &db.Batch{}
		s.lockSubscriptions(b, c.Company.ID)
		b.Query(func(r db.Rows) error { return r.Scan(&count) },
			`SELECT count(*) FROM endpoints WHERE company_id = $1 AND removed_at IS NULL`, c.Company.ID)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if count >= domain.MaxEndpoints {
			return domain.ErrTooManyEndpoints
		}
		b = &db.Batch{}
		b.Query(func(r db.Rows) error { return scanEndpoint(r, &e) },
			`INSERT INTO endpoints (company_id, url, description, events, secret, created_at, created_by, disabled_reason,
				strict_order, headers, rate_per_minute, lease_owner, lease_until)
			VALUES ($1, $2, $3, $4, $5, $6, $7, '', $8, $9, $10, '', $6) RETURNING `+endpointColumns,
			c.Company.ID, in.URL, in.Description, encodeList(in.Events), []byte(secret), tx.Now(), c.Actor.Ref(), in.StrictOrder, []byte(in.SealedHeaders), in.RatePerMinute)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		b = &db.Batch{}
		box.audit(b, tx.Now(), endpointEntry(c, e.ID, "webhook.added", "Sends to "+e.URL))
		tx.SendAndCommit(b)
		return nil
	})
	return e, err
}

// Endpoints lists the company's endpoints in ascending id.
func (s *Store) Endpoints(ctx context.Context, company int64) ([]domain.Endpoint, error) {
	var out []domain.Endpoint
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var e domain.Endpoint
		err := scanEndpoint(r, &e)
		out = append(out, e)
		return err
	}, `SELECT `+endpointColumns+` FROM endpoints WHERE company_id = $1 AND removed_at IS NULL ORDER BY id`, company)
	err := s.read(ctx, b)
	return out, err
}

// Endpoint returns one endpoint. Codes: not_found.
func (s *Store) Endpoint(ctx context.Context, company, id int64) (domain.Endpoint, error) {
	var e domain.Endpoint
	found := false
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { found = true; return scanEndpoint(r, &e) },
		`SELECT `+endpointColumns+` FROM endpoints WHERE company_id = $1 AND id = $2 AND removed_at IS NULL`, company, id)
	if err := s.read(ctx, b); err != nil {
		return e, err
	}
	if !found {
		return e, domain.ErrEndpointNotFound
	}
	return e, nil
}

// endpointWrite is a change to one endpoint. Its placeholders begin at $3; args
// returns their values at the time of the change; it receives all kinds of events that
// the endpoint has asked for so far.
type endpointWrite struct {
	set    string
	args   func(now time.Time, asked []domain.EventKind) []any
	action string
	detail string
}

// changeEndpoint makes one change with its audit entry, and wakes whoever sends there.
func (s *Store) changeEndpoint(ctx context.Context, c domain.Caller, id int64, w endpointWrite) (domain.Endpoint, error) {
	var e domain.Endpoint
	err := s.write(ctx, func(tx db.Tx, box *outbox) error {
		asked, err := s.lockAsked(ctx, tx, c.Company.ID, id)
		if err != nil {
			return err
		}
		found := false
		args := []any{c.Company.ID, id}
		if w.args != nil {
			args = append(args, w.args(tx.Now(), asked)...)
		}
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { found = true; return scanEndpoint(r, &e) },
			`UPDATE endpoints SET `+w.set+` WHERE company_id = $1 AND id = $2 AND removed_at IS NULL
			RETURNING `+endpointColumns, args...)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		if !found {
			return domain.ErrEndpointNotFound
		}
		b = &db.Batch{}
		box.audit(b, tx.Now(), endpointEntry(c, id, w.action, w.detail))
		tx.SendAndCommit(b)
		box.due = []domain.EndpointKey{{CompanyID: c.Company.ID, ID: id}}
		return nil
	})
	return e, err
}

// lockSubscriptions queues a lock that waits for the transactions that write events
// of the company, and keeps others from beginning: see outbox.prepare. It also
// makes the number of endpoints exact.
func (s *Store) lockSubscriptions(b *db.Batch, company int64) {
	if lock := s.db.CompanyLock("$1::bigint", false); lock != "" {
		b.Query(ignoreRow, `SELECT `+lock, company)
	}
}

// lockAsked locks an endpoint and returns every kind of event that it asks for or
// has asked for before.
func (s *Store) lockAsked(ctx context.Context, tx db.Tx, company, id int64) ([]domain.EventKind, error) {
	var out []domain.EventKind
	b := &db.Batch{}
	s.lockSubscriptions(b, company)
	b.Query(func(r db.Rows) error {
		var now, past string
		if err := r.Scan(&now, &past); err != nil {
			return err
		}
		kinds, err := decodeList[domain.EventKind](now)
		if err != nil {
			return err
		}
		before, err := decodeList[domain.EventKind](past)
		out = slices.Compact(slices.Sorted(slices.Values(append(kinds, before...))))
		return err
	}, `SELECT e.events, e.past_events FROM endpoints e WHERE e.company_id = $1 AND e.id = $2`+s.db.ForUpdate("e"), company, id)
	err := tx.Send(ctx, b)
	return out, err
}

// UpdateEndpoint changes where and what is sent. Codes: not_found.
func (s *Store) UpdateEndpoint(ctx context.Context, c domain.Caller, id int64, in domain.EndpointInput) (domain.Endpoint, error) {
	return s.changeEndpoint(ctx, c, id, endpointWrite{
		set: `url = $3, description = $4, events = $5, past_events = $6, strict_order = $7, headers = $8, rate_per_minute = $9`,
		args: func(_ time.Time, asked []domain.EventKind) []any {
			return []any{in.URL, in.Description, encodeList(in.Events), encodeList(asked), in.StrictOrder, []byte(in.SealedHeaders), in.RatePerMinute}
		},
		action: "webhook.updated", detail: "Sends to " + in.URL,
	})
}

// RotateSecret puts a new secret in place; those that it replaces keep signing for
// the overlap. Codes: not_found.
func (s *Store) RotateSecret(ctx context.Context, c domain.Caller, id int64, r domain.SecretRotation) (domain.Endpoint, error) {
	return s.changeEndpoint(ctx, c, id, endpointWrite{
		set: `previous_secret = CASE WHEN secret = $5 THEN $6 ELSE secret END, previous_until = $4, secret = $3`,
		args: func(now time.Time, _ []domain.EventKind) []any {
			return []any{[]byte(r.Secret), now.Add(domain.SecretOverlap), []byte(r.Replaced), []byte(r.Previous)}
		},
		action: "webhook.secret_rotated",
	})
}

// EnableEndpoint lets events be sent again, with a clean record. Codes: not_found.
func (s *Store) EnableEndpoint(ctx context.Context, c domain.Caller, id int64, detail string) (domain.Endpoint, error) {
	return s.changeEndpoint(ctx, c, id, endpointWrite{
		set:    `disabled_at = NULL, disabled_reason = '', failing_since = NULL`,
		action: "webhook.enabled", detail: detail,
	})
}

// DisableEndpoint has events held from now on; what is due is held by
// HoldDeliveries. Codes: not_found.
func (s *Store) DisableEndpoint(ctx context.Context, c domain.Caller, id int64) (domain.Endpoint, error) {
	return s.changeEndpoint(ctx, c, id, endpointWrite{
		set: `disabled_at = coalesce(disabled_at, $3),
			disabled_reason = CASE WHEN disabled_at IS NULL THEN $4 ELSE disabled_reason END`,
		args:   func(now time.Time, _ []domain.EventKind) []any { return []any{now, string(domain.DisabledByPerson)} },
		action: "webhook.disabled",
	})
}

// RemoveEndpoint ends an endpoint and forgets its secrets and headers. Codes: not_found.
func (s *Store) RemoveEndpoint(ctx context.Context, c domain.Caller, id int64) error {
	_, err := s.changeEndpoint(ctx, c, id, endpointWrite{
		set:    `removed_at = $3, secret = $4, previous_secret = NULL, previous_until = NULL, headers = NULL`,
		args:   func(now time.Time, _ []domain.EventKind) []any { return []any{now, []byte{}} },
		action: "webhook.removed",
	})
	return err
}

// AuditEndpoint adds an audit entry for something that was done with an endpoint.
func (s *Store) AuditEndpoint(ctx context.Context, c domain.Caller, id int64, action, detail string) error {
	return s.write(ctx, func(tx db.Tx, box *outbox) error {
		if err := tx.Send(ctx, nil); err != nil {
			return err
		}
		b := &db.Batch{}
		box.audit(b, tx.Now(), endpointEntry(c, id, action, detail))
		tx.SendAndCommit(b)
		return nil
	})
}

func endpointEntry(c domain.Caller, id int64, action, detail string) domain.AuditEntry {
	return domain.AuditEntry{
		CompanyID: c.Company.ID, Actor: c.Actor, Action: action, RecordKind: "webhook",
		RecordID: strconv.FormatInt(id, 10), Detail: detail,
	}
}
