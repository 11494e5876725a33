package store

import (
	"context"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

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
	rows, args := s.db.Rows(2, db.Column{Name: "hour", Type: db.Int, Values: numbers},
		db.Column{Name: "starts", Type: db.Time, Values: starts}, db.Column{Name: "ends", Type: db.Time, Values: ends})
	args = append([]any{company}, args...)
	byEndpoint := map[int64]*domain.EndpointHealth{}
	health := func(endpoint int64) *domain.EndpointHealth {
		if byEndpoint[endpoint] == nil {
			byEndpoint[endpoint] = &domain.EndpointHealth{EndpointID: endpoint}
		}
		return byEndpoint[endpoint]
	}
	count := func(endpoint, hour int64, state domain.DeliveryState, n int64) {
		if n == 0 {
			return
		}
		h := health(endpoint)
		if h.Hours == nil {
			h.Hours = make([]domain.HealthHour, hours)
			for i := range h.Hours {
				h.Hours[i].Start = starts[i]
			}
		}
		h.Add(state, n)
		h.Hours[hour].Add(state, n)
	}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var endpoint, hour, delivered, failed, held int64
		err := r.Scan(&endpoint, &hour, &delivered, &failed, &held)
		count(endpoint, hour, domain.DeliveryDelivered, delivered)
		count(endpoint, hour, domain.DeliveryFailed, failed)
		count(endpoint, hour, domain.DeliveryHeld, held)
		return err
	}, `SELECT e.id, h.hour, (`+countHour(domain.DeliveryDelivered)+`), (`+countHour(domain.DeliveryFailed)+`), (`+countHour(domain.DeliveryHeld)+`)
		FROM endpoints e CROSS JOIN `+rows+` h WHERE e.company_id = $1 AND e.removed_at IS NULL`, args...)
	b.Query(func(r db.Rows) error {
		var endpoint, hour, n int64
		err := r.Scan(&endpoint, &hour, &n)
		count(endpoint, hour, domain.DeliveryPending, n)
		return err
	}, `SELECT d.endpoint_id, h.hour, count(*) FROM `+rows+` h JOIN deliveries d ON d.company_id = $1
		AND `+inState[domain.DeliveryPending]+` AND d.created_at >= h.starts AND d.created_at < h.ends GROUP BY d.endpoint_id, h.hour`, args...)
	b.Query(func(r db.Rows) error {
		var endpoint int64
		var delivered, failed, tried *time.Time
		err := r.Scan(&endpoint, &delivered, &failed, &tried)
		if at := latest(delivered, failed, tried); at != nil {
			health(endpoint).LastSent = at
		}
		return err
	}, lastSentSQL, company, s.Now())
	err := s.read(ctx, b)
	out := make([]domain.EndpointHealth, 0, len(byEndpoint))
	for _, h := range byEndpoint {
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b domain.EndpointHealth) int { return int(a.EndpointID - b.EndpointID) })
	return out, err
}

// countHour counts within the index deliveries_endpoint_log alone, which takes a
// fraction of the time of reading the rows.
func countHour(state domain.DeliveryState) string {
	return `SELECT count(*) FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND ` + inState[state] + `
		AND d.created_at >= h.starts AND d.created_at < h.ends`
}

// lastSentSQL finds when each endpoint's newest deliveries were sent: of those
// delivered, of those given up and of those to be tried again, which alone are
// due later than now.
var lastSentSQL = `SELECT e.id, (` + newestEnd(domain.DeliveryDelivered) + `), (` + newestEnd(domain.DeliveryFailed) + `),
	(SELECT max(t.started_at) FROM delivery_attempts t WHERE t.company_id = e.company_id AND t.delivery_id =
		(SELECT d.id FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND d.state = 'pending' AND d.due_at > $2
		ORDER BY d.due_at DESC, d.seq DESC LIMIT 1))
	FROM endpoints e WHERE e.company_id = $1 AND e.removed_at IS NULL`

func newestEnd(state domain.DeliveryState) string {
	return `SELECT d.finished_at FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND ` + inState[state] + `
		AND d.attempts > 0 ORDER BY d.created_at DESC, d.id DESC LIMIT 1`
}

func latest(times ...*time.Time) *time.Time {
	var out *time.Time
	for _, t := range times {
		if t != nil && (out == nil || t.After(*out)) {
			out = t
		}
	}
	return out
}
