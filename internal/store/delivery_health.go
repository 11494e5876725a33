package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// EndpointHealth counts the deliveries that were created since an instant, hour by
// hour, for each of the company's endpoints or for one if endpoint is not 0. It
// includes removed endpoints, because their deliveries are still in the log, and
// leaves out endpoints without any. The number of statements is fixed.
func (s *Store) EndpointHealth(ctx context.Context, company, endpoint int64, since time.Time) ([]domain.EndpointHealth, error) {
	h := newHealthCounts(since, s.Now())
	b := &db.Batch{}
	s.countFinished(b, h, company, endpoint)
	s.countRetrying(b, h, company, endpoint)
	countHeld(b, h, company, endpoint)
	b.Query(func(r db.Rows) error {
		var id int64
		var removed bool
		var delivered, failed, tried *time.Time
		err := r.Scan(&id, &removed, &delivered, &failed, &tried)
		if at := latest(delivered, failed, tried); at != nil || h.byID[id] != nil {
			e := h.endpoint(id)
			e.Removed, e.LastSent, e.LastDelivered = removed, at, delivered
		}
		return err
	}, lastSentSQL, company, endpoint, s.Now())
	err := s.read(ctx, b)
	return h.sorted(), err
}

// healthCounts collects what several statements count.
type healthCounts struct {
	since time.Time
	hours []healthHour
	byID  map[int64]*domain.EndpointHealth
}

// healthHour is one hour of the window. What was created between from and ends counts:
// from is later than start in the first hour.
type healthHour struct {
	number            int64
	start, from, ends time.Time
}

func newHealthCounts(since, to time.Time) *healthCounts {
	h := &healthCounts{since: since.UTC(), byID: map[int64]*domain.EndpointHealth{}}
	for start := h.since.Truncate(time.Hour); !start.After(to); start = start.Add(time.Hour) {
		hour := healthHour{number: int64(len(h.hours)), start: start, from: start, ends: start.Add(time.Hour)}
		if start.Before(h.since) {
			hour.from = h.since
		}
		h.hours = append(h.hours, hour)
	}
	// Clocks differ a little: what was created just now counts, whatever its clock.
	h.hours[len(h.hours)-1].ends = to.Add(time.Hour)
	return h
}

// columns returns the hours as the columns of a table.
func (h *healthCounts) columns() []db.Column {
	return db.Columns(h.hours,
		db.IntColumn("hour", func(x *healthHour) int64 { return x.number }),
		db.TimeColumn("starts", func(x *healthHour) time.Time { return x.from }),
		db.TimeColumn("ends", func(x *healthHour) time.Time { return x.ends }))
}

func (h *healthCounts) endpoint(id int64) *domain.EndpointHealth {
	if h.byID[id] == nil {
		h.byID[id] = &domain.EndpointHealth{EndpointID: id}
	}
	return h.byID[id]
}

// hour returns one hour of an endpoint's chart.
func (h *healthCounts) hour(id, number int64) *domain.HealthHour {
	e := h.endpoint(id)
	if e.Hours == nil {
		e.Hours = make([]domain.HealthHour, len(h.hours))
		for i := range e.Hours {
			e.Hours[i].Start = h.hours[i].start
		}
	}
	return &e.Hours[number]
}

func (h *healthCounts) sorted() []domain.EndpointHealth {
	out := make([]domain.EndpointHealth, 0, len(h.byID))
	for _, e := range h.byID {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b domain.EndpointHealth) int { return cmp.Compare(a.EndpointID, b.EndpointID) })
	return out
}

// selectedEndpoints are the company's endpoints, or the one that $2 names.
const selectedEndpoints = `e.company_id = $1 AND (e.id = $2 OR $2 = 0)`

// countFinished counts within the index deliveries_endpoint_log alone, which takes a
// fraction of the time of reading the rows.
func (s *Store) countFinished(b *db.Batch, h *healthCounts, company, endpoint int64) {
	rows, args := s.db.ValuesTable(3, h.columns()...)
	inHour := func(state domain.DeliveryState) string {
		return `(SELECT count(*) FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND ` + inState[state] + `
			AND d.created_at >= h.starts AND d.created_at < h.ends)`
	}
	b.Query(func(r db.Rows) error {
		var id, hour, delivered, failed int64
		err := r.Scan(&id, &hour, &delivered, &failed)
		if err == nil && delivered+failed > 0 {
			at, e := h.hour(id, hour), h.endpoint(id)
			at.Delivered, at.Failed = delivered, failed
			e.Delivered, e.Failed = e.Delivered+delivered, e.Failed+failed
		}
		return err
	}, `SELECT e.id, h.hour, `+inHour(domain.DeliveryDelivered)+`, `+inHour(domain.DeliveryFailed)+`
		FROM endpoints e CROSS JOIN `+rows+` h WHERE `+selectedEndpoints, append([]any{company, endpoint}, args...)...)
}

// countRetrying counts what was tried and is to be tried again. What was never tried
// is on its way and counted nowhere. The hour of each row is computed, because comparing
// each row with 25 hours takes twice the time.
func (s *Store) countRetrying(b *db.Batch, h *healthCounts, company, endpoint int64) {
	first := h.hours[0].start.Unix() / 3600
	b.Query(func(r db.Rows) error {
		var id, hour, retrying int64
		err := r.Scan(&id, &hour, &retrying)
		if err == nil {
			h.hour(id, min(hour-first, int64(len(h.hours)-1))).Retrying += retrying
			h.endpoint(id).Retrying += retrying
		}
		return err
	}, `SELECT d.endpoint_id, `+s.db.EpochSeconds("d.created_at")+` / 3600 AS hour, count(*) FROM deliveries d
		WHERE d.company_id = $1 AND (d.endpoint_id = $2 OR $2 = 0) AND `+inState[domain.DeliveryPending]+`
			AND d.created_at >= $3 AND d.created_at < $4 AND d.attempts > d.round_start
		GROUP BY d.endpoint_id, hour`, company, endpoint, h.since, h.hours[len(h.hours)-1].ends)
}

func countHeld(b *db.Batch, h *healthCounts, company, endpoint int64) {
	b.Query(func(r db.Rows) error {
		var id, held int64
		err := r.Scan(&id, &held)
		if err == nil && held > 0 {
			h.endpoint(id).Held = held
		}
		return err
	}, `SELECT e.id, (SELECT count(*) FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id
		AND `+inState[domain.DeliveryHeld]+` AND d.created_at >= $3) FROM endpoints e WHERE `+selectedEndpoints, company, endpoint, h.since)
}

// lastSentSQL finds when each endpoint's newest deliveries were sent: of those
// delivered, of those given up and of those to be tried again, which alone are
// due later than now.
var lastSentSQL = `SELECT e.id, e.removed_at IS NOT NULL, (` + newestEnd(domain.DeliveryDelivered) + `), (` + newestEnd(domain.DeliveryFailed) + `),
	(SELECT max(t.started_at) FROM delivery_attempts t WHERE t.company_id = e.company_id AND t.delivery_id =
		(SELECT d.id FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND d.state = 'pending' AND d.due_at > $3
		ORDER BY d.due_at DESC, d.seq DESC LIMIT 1))
	FROM endpoints e WHERE ` + selectedEndpoints

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
