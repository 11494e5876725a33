package store

import (
	"context"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// EndpointHealth counts the deliveries of the company's endpoints, or of one if
// it is not 0, since from, hour by hour, and tells when each was last sent
// anything. Endpoints that were sent nothing at all are left out.
func (s *Store) EndpointHealth(ctx context.Context, company, endpoint int64, from time.Time, hours int) ([]domain.EndpointHealth, error) {
	h := newHealthCounts(from, hours)
	b := &db.Batch{}
	s.countHours(b, h, company, endpoint)
	countWaiting(b, h, company, endpoint)
	b.Query(func(r db.Rows) error {
		var id int64
		var delivered, failed, tried *time.Time
		err := r.Scan(&id, &delivered, &failed, &tried)
		if at := latest(delivered, failed, tried); at != nil {
			h.of(id).LastSent = at
		}
		return err
	}, lastSentSQL, company, endpoint, s.Now())
	err := s.read(ctx, b)
	return h.sorted(), err
}

// healthCounts collects what several statements count.
type healthCounts struct {
	starts []time.Time
	byID   map[int64]*domain.EndpointHealth
}

func newHealthCounts(from time.Time, hours int) *healthCounts {
	h := &healthCounts{starts: make([]time.Time, hours), byID: map[int64]*domain.EndpointHealth{}}
	for i := range h.starts {
		h.starts[i] = from.UTC().Truncate(time.Hour).Add(time.Duration(i) * time.Hour)
	}
	return h
}

func (h *healthCounts) of(endpoint int64) *domain.EndpointHealth {
	if h.byID[endpoint] == nil {
		h.byID[endpoint] = &domain.EndpointHealth{EndpointID: endpoint}
	}
	return h.byID[endpoint]
}

// lately is of for an endpoint that had deliveries in the hours looked at.
func (h *healthCounts) lately(endpoint int64) *domain.EndpointHealth {
	e := h.of(endpoint)
	if e.Hours == nil {
		e.Hours = make([]domain.HealthHour, len(h.starts))
		for i := range e.Hours {
			e.Hours[i].Start = h.starts[i]
		}
	}
	return e
}

func (h *healthCounts) sorted() []domain.EndpointHealth {
	out := make([]domain.EndpointHealth, 0, len(h.byID))
	for _, e := range h.byID {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b domain.EndpointHealth) int { return int(a.EndpointID - b.EndpointID) })
	return out
}

// endpointsAsked are the company's endpoints, or the one that $2 names.
const endpointsAsked = `e.company_id = $1 AND (e.id = $2 OR $2 = 0) AND e.removed_at IS NULL`

// countHours counts within the index deliveries_endpoint_log alone, which takes a
// fraction of the time of reading the rows.
func (s *Store) countHours(b *db.Batch, h *healthCounts, company, endpoint int64) {
	numbers, ends := make([]int64, len(h.starts)), make([]time.Time, len(h.starts))
	for i, start := range h.starts {
		numbers[i], ends[i] = int64(i), start.Add(time.Hour)
	}
	rows, args := s.db.ValuesTable(3, db.Column{Name: "hour", Type: db.Int, Values: numbers},
		db.Column{Name: "starts", Type: db.Time, Values: h.starts}, db.Column{Name: "ends", Type: db.Time, Values: ends})
	inHour := func(state domain.DeliveryState) string {
		return `(SELECT count(*) FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND ` + inState[state] + `
			AND d.created_at >= h.starts AND d.created_at < h.ends)`
	}
	b.Query(func(r db.Rows) error {
		var id, hour, delivered, failed int64
		err := r.Scan(&id, &hour, &delivered, &failed)
		if delivered+failed > 0 {
			e := h.lately(id)
			e.Delivered, e.Failed = e.Delivered+delivered, e.Failed+failed
			e.Hours[hour].Delivered, e.Hours[hour].Failed = delivered, failed
		}
		return err
	}, `SELECT e.id, h.hour, `+inHour(domain.DeliveryDelivered)+`, `+inHour(domain.DeliveryFailed)+`
		FROM endpoints e CROSS JOIN `+rows+` h WHERE `+endpointsAsked, append([]any{company, endpoint}, args...)...)
}

// countWaiting counts what is held and what is to be tried again. What was never
// tried is on its way, and counted nowhere.
func countWaiting(b *db.Batch, h *healthCounts, company, endpoint int64) {
	b.Query(func(r db.Rows) error {
		var id, held int64
		err := r.Scan(&id, &held)
		if held > 0 {
			h.lately(id).Held = held
		}
		return err
	}, `SELECT e.id, (SELECT count(*) FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id
		AND `+inState[domain.DeliveryHeld]+` AND d.created_at >= $3) FROM endpoints e WHERE `+endpointsAsked, company, endpoint, h.starts[0])
	b.Query(func(r db.Rows) error {
		var id, retrying int64
		err := r.Scan(&id, &retrying)
		h.lately(id).Retrying = retrying
		return err
	}, `SELECT d.endpoint_id, count(*) FROM deliveries d WHERE d.company_id = $1 AND (d.endpoint_id = $2 OR $2 = 0)
		AND `+inState[domain.DeliveryPending]+` AND d.created_at >= $3 AND d.attempts > d.round_start
		GROUP BY d.endpoint_id`, company, endpoint, h.starts[0])
}

// lastSentSQL finds when each endpoint's newest deliveries were sent: of those
// delivered, of those given up and of those to be tried again, which alone are
// due later than now.
var lastSentSQL = `SELECT e.id, (` + newestEnd(domain.DeliveryDelivered) + `), (` + newestEnd(domain.DeliveryFailed) + `),
	(SELECT max(t.started_at) FROM delivery_attempts t WHERE t.company_id = e.company_id AND t.delivery_id =
		(SELECT d.id FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND d.state = 'pending' AND d.due_at > $3
		ORDER BY d.due_at DESC, d.seq DESC LIMIT 1))
	FROM endpoints e WHERE ` + endpointsAsked

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
