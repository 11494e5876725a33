package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// The queue: an endpoint's deliveries are sent by the one replica that holds the
// endpoint's lease, so that they start in order and no delivery needs a lease of
// its own.

func (s *Store) endpointKeys(first int, keys []domain.EndpointKey) (string, []any) {
	companies, ids := make([]int64, len(keys)), make([]int64, len(keys))
	for i, k := range keys {
		companies[i], ids[i] = k.CompanyID, k.ID
	}
	return s.keyRows(first, companies, ids)
}

// keyRows is a table of keys that begin with a company.
func (s *Store) keyRows(first int, companies, ids []int64) (string, []any) {
	return s.db.ValuesTable(first, db.Column{Name: "key_company", Type: db.Int, Values: companies},
		db.Column{Name: "key_id", Type: db.Int, Values: ids})
}

// ClaimEndpoints takes the leases that nobody else holds, and reads what is due
// on those. Of the others it tells who holds them until when.
func (s *Store) ClaimEndpoints(ctx context.Context, owner string, hold time.Duration, asks []domain.LaneAsk) ([]domain.Lane, error) {
	keys, limits := make([]domain.EndpointKey, len(asks)), map[domain.EndpointKey]domain.LaneAsk{}
	for i, a := range asks {
		keys[i], limits[a.Key] = a.Key, a
	}
	var lanes []*domain.Lane
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		lanes = lanes[:0]
		now := s.db.Now()
		b := &db.Batch{}
		rows, args := s.endpointKeys(4, keys)
		b.Exec(`UPDATE endpoints SET lease_owner = $1, lease_until = $2 FROM `+rows+` k
			WHERE company_id = k.key_company AND id = k.key_id AND (lease_owner = $1 OR lease_until <= $3)`,
			append([]any{owner, now.Add(hold), now}, args...)...)
		rows, args = s.endpointKeys(1, keys)
		b.Query(intoLanes(&lanes), `SELECT `+endpointColumns+`, lease_owner, lease_until
			FROM endpoints JOIN `+rows+` k ON company_id = k.key_company AND id = k.key_id`, args...)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		b = &db.Batch{}
		for _, l := range lanes {
			if l.Owner == owner {
				s.dueDeliveries(b, l, limits[l.Endpoint.Key()], now)
			}
		}
		tx.SendAndCommit(b)
		return nil
	})
	return values(lanes), err
}

// DueDeliveries reads what is due on endpoints whose leases the caller holds.
func (s *Store) DueDeliveries(ctx context.Context, asks []domain.LaneAsk) ([]domain.Lane, error) {
	keys, found := make([]domain.EndpointKey, len(asks)), map[domain.EndpointKey]*domain.Lane{}
	for i, a := range asks {
		keys[i], found[a.Key] = a.Key, &domain.Lane{}
	}
	now := s.db.Now()
	b := &db.Batch{}
	rows, args := s.endpointKeys(1, keys)
	var lanes []*domain.Lane
	b.Query(intoLanes(&lanes), `SELECT `+endpointColumns+`, lease_owner, lease_until
		FROM endpoints JOIN `+rows+` k ON company_id = k.key_company AND id = k.key_id`, args...)
	for _, a := range asks {
		s.dueDeliveries(b, found[a.Key], a, now)
	}
	if err := s.read(ctx, b); err != nil {
		return nil, err
	}
	for _, l := range lanes {
		l.Due, l.Next = found[l.Endpoint.Key()].Due, found[l.Endpoint.Key()].Next
	}
	return values(lanes), nil
}

func intoLanes(lanes *[]*domain.Lane) func(db.Rows) error {
	return func(r db.Rows) error {
		l := &domain.Lane{}
		*lanes = append(*lanes, l)
		return scanEndpoint(r, &l.Endpoint, &l.Owner, &l.Until)
	}
}

func values[T any](in []*T) []T {
	out := make([]T, len(in))
	for i, p := range in {
		out[i] = *p
	}
	return out
}

// dueDeliveries queues the reading of one endpoint's due deliveries into l. The
// inner query walks the index and stops at the limit, whatever the planner knows.
func (s *Store) dueDeliveries(b *db.Batch, l *domain.Lane, ask domain.LaneAsk, now time.Time) {
	skip, args := s.db.ValuesTable(5, db.Column{Name: "seq", Type: db.Int, Values: ask.Skip})
	b.Query(func(r db.Rows) error {
		var d domain.DueDelivery
		var kind string
		err := r.Scan(&d.Seq, &d.ID, &d.EventID, &kind, &d.Attempts, &d.RoundStart, &d.RequestedBy, &d.DueAt, &d.CreatedAt,
			&d.Body, &d.Erased)
		d.Kind = domain.EventKind(kind)
		l.Due = append(l.Due, d)
		return err
	}, `SELECT d.seq, CAST(d.id AS text), d.event_id, d.kind, d.attempts, d.round_start, d.requested_by, d.due_at, d.created_at,
			v.body, v.id IS NULL OR v.erased_at IS NOT NULL
		FROM (SELECT * FROM deliveries WHERE company_id = $1 AND endpoint_id = $2 AND state = 'pending' AND due_at <= $3
			AND seq NOT IN (SELECT seq FROM `+skip+` k) ORDER BY due_at, seq LIMIT $4) d
		LEFT JOIN events v ON v.company_id = d.company_id AND v.id = d.event_id ORDER BY d.due_at, d.seq`,
		append([]any{ask.Key.CompanyID, ask.Key.ID, now, ask.Limit}, args...)...)
	b.Query(func(r db.Rows) error {
		l.Next = &time.Time{}
		return r.Scan(l.Next)
	}, `SELECT due_at FROM deliveries WHERE company_id = $1 AND endpoint_id = $2 AND state = 'pending' AND due_at > $3
		ORDER BY due_at LIMIT 1`, ask.Key.CompanyID, ask.Key.ID, now)
}

// RenewEndpoints prolongs the leases that owner still holds and gives the
// endpoints as they are now.
func (s *Store) RenewEndpoints(ctx context.Context, owner string, hold time.Duration, keys []domain.EndpointKey) ([]domain.Lane, error) {
	var lanes []*domain.Lane
	rows, args := s.endpointKeys(3, keys)
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		lanes = lanes[:0]
		b := &db.Batch{}
		b.Query(intoLanes(&lanes), `UPDATE endpoints SET lease_until = $2 FROM `+rows+` k
			WHERE company_id = k.key_company AND id = k.key_id AND lease_owner = $1
			RETURNING `+endpointColumns+`, lease_owner, lease_until`, append([]any{owner, s.db.Now().Add(hold)}, args...)...)
		tx.SendAndCommit(b)
		return nil
	})
	return values(lanes), err
}

// ReleaseEndpoints gives up every lease that owner holds.
func (s *Store) ReleaseEndpoints(ctx context.Context, owner string) error {
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		_, err := tx.Exec(ctx, `UPDATE endpoints SET lease_owner = '', lease_until = $2 WHERE lease_owner = $1`, owner, s.db.Now())
		return err
	})
}

// ReclaimEndpoints ends the leases of a process that died, where there can be no
// other process: on SQLite.
func (s *Store) ReclaimEndpoints(ctx context.Context) error {
	if s.db.Name() != "sqlite" {
		return nil
	}
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		_, err := tx.Exec(ctx, `UPDATE endpoints SET lease_owner = '', lease_until = $1 WHERE lease_owner <> ''`, s.db.Now())
		return err
	})
}

// waiting is every endpoint with pending deliveries, by one probe of the index each.
const waiting = `(SELECT e.company_id, e.id, e.lease_owner, e.lease_until,
		(SELECT d.due_at FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND d.state = 'pending'
		ORDER BY d.due_at LIMIT 1) AS due
	FROM endpoints e) w`

// DeliveryBacklog tells where deliveries are due before the horizon, oldest first.
func (s *Store) DeliveryBacklog(ctx context.Context, horizon time.Duration) (domain.Backlog, error) {
	var out domain.Backlog
	now := s.db.Now()
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var w domain.Waiting
		err := r.Scan(&w.Key.CompanyID, &w.Key.ID, &w.Owner, &w.Until, &w.Due)
		out.Endpoints = append(out.Endpoints, w)
		return err
	}, `SELECT company_id, id, lease_owner, lease_until, due FROM `+waiting+` WHERE due <= $1 ORDER BY due`, now.Add(horizon))
	b.Query(func(r db.Rows) error { return r.Scan(&out.Depth) },
		`SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE state = 'pending' AND due_at <= $1 LIMIT $2) d`, now, domain.MaxDepth)
	return out, s.read(ctx, b)
}

// OldestUnattended is when the oldest due delivery that no live replica looks
// after became due; ok is false when there is none. A receiver that is slow has
// a replica that waits for it, and is no fault of ours.
func (s *Store) OldestUnattended(ctx context.Context) (at time.Time, ok bool, err error) {
	now := s.db.Now()
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { ok = true; return r.Scan(&at) },
		`SELECT due FROM `+waiting+` WHERE due <= $1 AND lease_until <= $1 ORDER BY due LIMIT 1`, now)
	return at, ok, s.read(ctx, b)
}
