package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

const deliveryColumns = `CAST(d.id AS text), d.seq, d.endpoint_id, d.event_id, d.kind, v.external_id, d.state, d.attempts,
	d.round_start, d.due_at, d.created_at, d.finished_at, d.status_code, d.error_kind, d.requested_by, e.url,
	v.erased_at IS NOT NULL`

const deliveryTables = ` FROM deliveries d
	JOIN events v ON v.company_id = d.company_id AND v.id = d.event_id
	JOIN endpoints e ON e.company_id = d.company_id AND e.id = d.endpoint_id`

func scanDelivery(r db.Rows, d *domain.Delivery, more ...any) error {
	var kind, state string
	err := r.Scan(append([]any{
		&d.ID, &d.Seq, &d.EndpointID, &d.EventID, &kind, &d.ExternalID, &state, &d.Attempts, &d.RoundStart, &d.DueAt,
		&d.CreatedAt, &d.FinishedAt, &d.StatusCode, &d.ErrorKind, &d.RequestedBy, &d.EndpointURL, &d.Erased,
	}, more...)...)
	d.Kind, d.State = domain.EventKind(kind), domain.DeliveryState(state)
	return err
}

// Deliveries gives a page of the log, newest first, without bodies.
func (s *Store) Deliveries(ctx context.Context, company int64, f domain.DeliveryFilter, after *domain.DeliveryCursor, limit int) (domain.DeliveryPage, error) {
	c := &conditions{}
	c.add("d.company_id = ?", company)
	if f.EndpointID != 0 {
		c.add("d.endpoint_id = ?", f.EndpointID)
	}
	if f.State != "" {
		c.add("d.state = ?", string(f.State))
	}
	if f.Retried {
		c.add("d.attempts > d.round_start")
	}
	if f.Failing {
		c.add("d.state IN ('failed', 'pending') AND (d.state = 'failed' OR d.attempts > d.round_start)")
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
	searchDeliveries(c, company, f.Search)
	if after != nil {
		if _, err := uuid.Parse(after.ID); err != nil {
			return domain.DeliveryPage{}, domain.ErrDeliveryNotFound
		}
		c.add("(d.created_at, d.id) < (?, ?)", after.CreatedAt, after.ID)
	}
	c.args = append(c.args, limit+1)
	page := domain.DeliveryPage{Items: []domain.Delivery{}}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		d := domain.Delivery{CompanyID: company}
		err := scanDelivery(r, &d)
		page.Items = append(page.Items, d)
		return err
	}, `SELECT `+deliveryColumns+deliveryTables+c.where()+
		fmt.Sprintf(" ORDER BY d.created_at DESC, d.id DESC LIMIT $%d", len(c.args)), c.args...)
	err := s.read(ctx, b)
	if len(page.Items) > limit {
		page.Items = page.Items[:limit]
		last := page.Items[limit-1]
		page.Next = &domain.DeliveryCursor{CreatedAt: last.CreatedAt, ID: last.ID}
	}
	return page, err
}

// searchDeliveries finds a delivery by its id, or those about an externalId. One
// text can be either: many systems number their people with UUIDs.
func searchDeliveries(c *conditions, company int64, text string) {
	const about = `SELECT y.id FROM events x JOIN deliveries y ON y.company_id = x.company_id AND y.event_id = x.id
		WHERE x.company_id = ? AND x.external_id = ?`
	id, err := uuid.Parse(strings.TrimSpace(text))
	switch {
	case text == "":
	case err == nil:
		c.add(`d.id IN (SELECT z.id FROM deliveries z WHERE z.company_id = ? AND z.id = ? UNION ALL `+about+`)`, company, id.String(), company, text)
	default:
		c.add(`d.id IN (`+about+`)`, company, text)
	}
}

// WaitingDeliveries counts the endpoint's pending and held deliveries.
func (s *Store) WaitingDeliveries(ctx context.Context, company, endpoint int64) (int64, error) {
	var n int64
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&n) },
		`SELECT count(*) FROM deliveries WHERE company_id = $1 AND endpoint_id = $2 AND state IN ('pending', 'held')`, company, endpoint)
	return n, s.read(ctx, b)
}

// Delivery gives one delivery with its body and every attempt. Codes: not_found.
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
			response_body, requested_by
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

// EndpointHealth counts the company's deliveries since from, hour by hour, and
// tells when each endpoint was last sent anything. Endpoints that were sent
// nothing at all are left out.
func (s *Store) EndpointHealth(ctx context.Context, company int64, from time.Time, hours int) ([]domain.EndpointHealth, error) {
	from = from.UTC().Truncate(time.Hour)
	numbers, starts, ends := make([]int64, hours), make([]time.Time, hours), make([]time.Time, hours)
	for i := range numbers {
		numbers[i], starts[i] = int64(i), from.Add(time.Duration(i)*time.Hour)
		ends[i] = starts[i].Add(time.Hour)
	}
	byEndpoint := map[int64]*domain.EndpointHealth{}
	health := func(endpoint int64) *domain.EndpointHealth {
		if byEndpoint[endpoint] == nil {
			byEndpoint[endpoint] = &domain.EndpointHealth{EndpointID: endpoint}
		}
		return byEndpoint[endpoint]
	}
	rows, args := s.db.Rows(2, db.Column{Name: "hour", Type: db.Int, Values: numbers},
		db.Column{Name: "starts", Type: db.Time, Values: starts}, db.Column{Name: "ends", Type: db.Time, Values: ends})
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var endpoint, hour, n int64
		var state string
		if err := r.Scan(&endpoint, &hour, &state, &n); err != nil {
			return err
		}
		h := health(endpoint)
		if h.Hours == nil {
			h.Hours = make([]domain.HealthHour, hours)
			for i := range h.Hours {
				h.Hours[i].Start = starts[i]
			}
		}
		h.Add(domain.DeliveryState(state), n)
		h.Hours[hour].Add(domain.DeliveryState(state), n)
		return nil
	}, `SELECT d.endpoint_id, h.hour, d.state, count(*) FROM `+rows+` h
		JOIN deliveries d ON d.company_id = $1 AND d.created_at >= h.starts AND d.created_at < h.ends
		GROUP BY d.endpoint_id, h.hour, d.state`, append([]any{company}, args...)...)
	b.Query(func(r db.Rows) error {
		var endpoint int64
		var at *time.Time
		err := r.Scan(&endpoint, &at)
		if at != nil {
			health(endpoint).LastSent = at
		}
		return err
	}, lastSentSQL, company, s.Now().Add(time.Hour))
	err := s.read(ctx, b)
	out := make([]domain.EndpointHealth, 0, len(byEndpoint))
	for _, h := range byEndpoint {
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b domain.EndpointHealth) int { return int(a.EndpointID - b.EndpointID) })
	return out, err
}

// lastSentSQL finds each endpoint's newest delivery that was tried. What came
// after an endpoint was disabled is held, untried, and may be much: the walk
// begins before it.
const lastSentSQL = `SELECT e.id, (SELECT coalesce(d.finished_at, d.created_at) FROM deliveries d
		WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND d.created_at <= coalesce(e.disabled_at, $2) AND d.attempts > 0
		ORDER BY d.created_at DESC, d.id DESC LIMIT 1)
	FROM endpoints e WHERE e.company_id = $1 AND e.removed_at IS NULL`
