package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

var deliveryColumns = `CAST(d.id AS text), d.endpoint_id, d.event_id, d.kind, v.external_id, d.state, d.attempts,
	d.round_start, d.due_at, d.created_at, d.finished_at, d.status_code, d.error_kind, ` + actorLabelSQL("d.requested_by") + `, e.url,
	v.erased_at IS NOT NULL, d.is_test`

const deliveryTables = ` FROM deliveries d` + deliveryJoins

const deliveryJoins = `
	JOIN events v ON v.company_id = d.company_id AND v.id = d.event_id
	JOIN endpoints e ON e.company_id = d.company_id AND e.id = d.endpoint_id`

func scanDelivery(r db.Rows, d *domain.Delivery, more ...any) error {
	var kind, state string
	err := r.Scan(append([]any{
		&d.ID, &d.EndpointID, &d.Sequence, &kind, &d.ExternalID, &state, &d.Attempts, &d.RoundStart, &d.DueAt,
		&d.CreatedAt, &d.FinishedAt, &d.StatusCode, &d.ErrorKind, &d.RequestedBy, &d.EndpointURL, &d.Erased, &d.Test,
	}, more...)...)
	d.Kind, d.State = domain.EventKind(kind), domain.DeliveryState(state)
	return err
}

// Deliveries returns a page of the log, newest first, without bodies.
func (s *Store) Deliveries(ctx context.Context, company int64, f domain.DeliveryFilter, after *domain.Cursor, limit int) (domain.DeliveryPage, error) {
	page := domain.DeliveryPage{Items: []domain.Delivery{}}
	b := &db.Batch{}
	s.deliveryLog(company, f).queue(b, domain.PageRequest{Limit: limit, After: after}, &page.Items)
	s.queryLogCapped(b, company, f.Search, &page.Capped)
	err := s.read(ctx, b)
	if len(page.Items) > limit {
		page.Items = page.Items[:limit]
		next := deliveryCursor(page.Items[limit-1])
		page.Next = &next
	}
	return page, err
}

func deliveryCursor(last domain.Delivery) domain.Cursor {
	return domain.Cursor{At: last.CreatedAt.UnixMilli(), UUID: last.ID}
}

// deliveryConditions returns the conditions of a filter except its state. The first
// argument is the company, the second the endpoint if the filter has one: see logSQL.
func (s *Store) deliveryConditions(company int64, f domain.DeliveryFilter) *conditions {
	c := &conditions{}
	c.add("d.company_id = ?", company)
	if f.EndpointID != 0 {
		c.add("d.endpoint_id = ?", f.EndpointID)
	}
	if f.Retried {
		c.add("d.attempts > d.round_start")
	}
	if f.Kind != "" {
		c.add("d.kind = ?", string(f.Kind))
	}
	if f.From != nil {
		c.add("d.created_at >= ?", *f.From)
	}
	if f.To != nil {
		c.add("d.created_at < ?", *f.To)
	}
	s.searchDeliveries(c, company, f.Search)
	return c
}

// deliveryLog returns the log as a list of pages.
func (s *Store) deliveryLog(company int64, f domain.DeliveryFilter) pagedList[domain.Delivery] {
	queue := func(b *db.Batch, p domain.PageRequest, into *[]domain.Delivery) {
		c := s.deliveryConditions(company, f)
		if p.After != nil {
			c.add("(d.created_at, d.id) < (?, ?)", p.After.Time(), p.After.UUID)
		}
		c.args = append(c.args, p.Limit+1)
		b.Query(func(r db.Rows) error {
			d := domain.Delivery{CompanyID: company}
			err := scanDelivery(r, &d)
			*into = append(*into, d)
			return err
		}, logSQL(c, f), c.args...)
	}
	return pagedList[domain.Delivery]{queue: queue, cursor: deliveryCursor}
}

// WaitingDeliveries counts the endpoint's pending and held deliveries.
func (s *Store) WaitingDeliveries(ctx context.Context, company, endpoint int64) (int64, error) {
	var n int64
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&n) },
		`SELECT (SELECT count(*) FROM deliveries d WHERE d.company_id = $1 AND d.endpoint_id = $2 AND d.state = 'pending') +
			(SELECT count(*) FROM deliveries d WHERE d.company_id = $1 AND d.endpoint_id = $2 AND `+inState[domain.DeliveryHeld]+`)`, company, endpoint)
	err := s.read(ctx, b)
	return n, err
}

// Delivery returns one delivery with its body and every attempt. Codes: not_found.
func (s *Store) Delivery(ctx context.Context, company int64, id string) (domain.DeliveryDetail, error) {
	var d domain.DeliveryDetail
	parsed, err := uuid.Parse(id)
	if err != nil {
		return d, domain.ErrDeliveryNotFound
	}
	d.CompanyID = company
	found := false
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { found = true; return scanDelivery(r, &d.Delivery, &d.Body) },
		`SELECT `+deliveryColumns+`, v.body`+deliveryTables+` WHERE d.company_id = $1 AND d.id = $2`, company, parsed.String())
	b.Query(func(r db.Rows) error {
		a := domain.Attempt{CompanyID: company, DeliveryID: parsed.String()}
		err := scanAttempt(r, &a)
		d.Tries = append(d.Tries, a)
		return err
	}, `SELECT number, url, started_at, duration_us, status_code, error_kind, error, request_headers, response_headers,
			response_body, `+actorLabelSQL("requested_by")+`
		FROM delivery_attempts WHERE company_id = $1 AND delivery_id = $2 ORDER BY number`, company, parsed.String())
	if err := s.read(ctx, b); err != nil {
		return d, err
	}
	if !found {
		return d, domain.ErrDeliveryNotFound
	}
	return d, nil
}

func scanAttempt(r db.Rows, a *domain.Attempt) error {
	var micros int64
	var sent, got string
	err := r.Scan(&a.Number, &a.URL, &a.StartedAt, &micros, &a.StatusCode, &a.ErrorKind, &a.Error, &sent, &got,
		&a.ResponseBody, &a.RequestedBy)
	if err != nil {
		return err
	}
	a.Duration = time.Duration(micros) * time.Microsecond
	if err := json.Unmarshal([]byte(sent), &a.RequestHeaders); err != nil {
		return fmt.Errorf("decode request headers: %w", err)
	}
	if err := json.Unmarshal([]byte(got), &a.ResponseHeaders); err != nil {
		return fmt.Errorf("decode response headers: %w", err)
	}
	return nil
}
