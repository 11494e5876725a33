package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// An endpoint's deliveries are sent by the one replica that holds the endpoint's
// lease, so that they start in order and no delivery needs a lease of its own.

func (s *Store) endpointKeys(first int, keys []domain.EndpointKey) (string, []any) {
	return s.db.ValuesTable(first, db.Columns(keys,
		db.IntColumn("key_company", func(k *domain.EndpointKey) int64 { return k.CompanyID }),
		db.IntColumn("key_id", func(k *domain.EndpointKey) int64 { return k.ID }))...)
}

func requestKeys(requests []domain.FetchRequest) []domain.EndpointKey {
	keys := make([]domain.EndpointKey, len(requests))
	for i, r := range requests {
		keys[i] = r.Key
	}
	return keys
}

// lease is a row of endpoints as a claim reads it.
type lease struct {
	domain.EndpointLease
	until  time.Time
	former formerLeases
}

// formerLeases are the leases of an endpoint that ran out and were taken over lately. Their
// owners may not know that yet, and may still be sending.
type formerLeases []formerLease

type formerLease struct {
	Owner string
	Until time.Time
}

// keepFormer is how long a former lease is remembered: much longer than an attempt lasts.
const keepFormer = time.Hour

// takeOver makes owner the owner of the lease.
func (l *lease) takeOver(owner string, hold time.Duration, now time.Time) {
	l.former = slices.DeleteFunc(l.former, func(f formerLease) bool {
		return f.Owner == l.Owner || f.Owner == owner || now.Sub(f.Until) > keepFormer
	})
	if l.Owner != "" && l.Owner != owner && now.Sub(l.until) <= keepFormer {
		l.former = append(l.former, formerLease{l.Owner, l.until})
	}
	l.Owner, l.Remaining = owner, hold
}

func (f formerLeases) encode() string {
	if len(f) == 0 {
		return "[]"
	}
	out, err := json.Marshal(f)
	if err != nil {
		panic(err) // unreachable: names and times always encode
	}
	return string(out)
}

// ClaimEndpoints takes or prolongs the leases that nobody else holds, and reads
// what is due on those. Of the others it reports who holds them. It does not wait
// for endpoints that another transaction has locked: those have neither an owner
// nor time remaining.
func (s *Store) ClaimEndpoints(ctx context.Context, owner string, hold time.Duration, requests []domain.FetchRequest) ([]domain.EndpointLease, error) {
	byKey := map[domain.EndpointKey]domain.FetchRequest{}
	for _, r := range requests {
		byKey[r.Key] = r
	}
	var leases []*lease
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		leases = leases[:0]
		locked := map[domain.EndpointKey]bool{}
		b := &db.Batch{}
		rows, args := s.endpointKeys(1, requestKeys(requests))
		b.Query(func(r db.Rows) error {
			var key domain.EndpointKey
			err := r.Scan(&key.CompanyID, &key.ID)
			locked[key] = true
			return err
		}, `SELECT company_id, id FROM endpoints JOIN `+rows+` k ON company_id = k.key_company AND id = k.key_id`+
			s.db.ForUpdate("endpoints")+s.db.SkipLocked(), args...)
		b.Query(intoLeases(&leases), leaseSQL(rows), args...)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		now := tx.Now()
		var claimed []*lease
		b = &db.Batch{}
		for _, l := range leases {
			key := l.Endpoint.Key()
			switch l.Remaining = l.until.Sub(now); {
			case locked[key] && (l.Owner == owner || l.Remaining <= 0):
				l.takeOver(owner, hold, now)
				claimed = append(claimed, l)
				s.dueDeliveries(b, &l.EndpointLease, byKey[key], now)
			case l.Owner == owner:
				l.Owner, l.Remaining = "", 0
			}
		}
		if len(claimed) > 0 {
			rows, args = s.db.ValuesTable(3, db.Columns(claimed,
				db.IntColumn("key_company", func(l **lease) int64 { return (*l).Endpoint.CompanyID }),
				db.IntColumn("key_id", func(l **lease) int64 { return (*l).Endpoint.ID }),
				db.TextColumn("former", func(l **lease) string { return (*l).former.encode() }))...)
			b.Exec(`UPDATE endpoints SET lease_owner = $1, lease_until = $2, former_leases = k.former FROM `+rows+` k
				WHERE company_id = k.key_company AND id = k.key_id`, append([]any{owner, now.Add(hold)}, args...)...)
		}
		tx.SendAndCommit(b)
		return nil
	})
	return endpointLeases(leases), err
}

func leaseSQL(rows string) string {
	return `SELECT ` + endpointColumns + `, lease_owner, lease_until, former_leases
		FROM endpoints JOIN ` + rows + ` k ON company_id = k.key_company AND id = k.key_id`
}

// DueDeliveries reads what is due on endpoints whose leases the caller holds.
func (s *Store) DueDeliveries(ctx context.Context, requests []domain.FetchRequest) ([]domain.EndpointLease, error) {
	found := map[domain.EndpointKey]*domain.EndpointLease{}
	var leases []*lease
	now := s.db.Now()
	b := &db.Batch{}
	rows, args := s.endpointKeys(1, requestKeys(requests))
	b.Query(intoLeases(&leases), leaseSQL(rows), args...)
	for _, r := range requests {
		found[r.Key] = &domain.EndpointLease{}
		s.dueDeliveries(b, found[r.Key], r, now)
	}
	if err := s.read(ctx, b); err != nil {
		return nil, err
	}
	for _, l := range leases {
		due := found[l.Endpoint.Key()]
		l.Due, l.NextDue, l.Remaining = due.Due, due.NextDue, l.until.Sub(now)
	}
	return endpointLeases(leases), nil
}

func intoLeases(leases *[]*lease) func(db.Rows) error {
	return func(r db.Rows) error {
		var l lease
		var former string
		if err := scanEndpoint(r, &l.Endpoint, &l.Owner, &l.until, &former); err != nil {
			return err
		}
		*leases = append(*leases, &l)
		return decodeFormer(former, &l.former)
	}
}

func decodeFormer(text string, out *formerLeases) error {
	if text == "[]" { // nearly always
		return nil
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		return fmt.Errorf("decode former leases: %w", err)
	}
	return nil
}

func endpointLeases(in []*lease) []domain.EndpointLease {
	out := make([]domain.EndpointLease, len(in))
	for i, l := range in {
		out[i] = l.EndpointLease
	}
	return out
}

// dueWindow is how many times the limit of a fetch are put in the order of their
// sequence, those that are due longest: transactions that overlap take their
// sequences and the times of their deliveries in different orders.
const dueWindow = 2

// inStrictOrder holds for every delivery of an ordinary endpoint. Of an endpoint
// in strict order it holds for those before the first that waits to be tried again.
var inStrictOrder = fmt.Sprintf(`(NOT (SELECT e.strict_order FROM endpoints e WHERE e.company_id = $1 AND e.id = $2)
	OR event_id < coalesce((SELECT min(w.event_id) FROM deliveries w
		WHERE w.company_id = $1 AND w.endpoint_id = $2 AND w.state = 'pending' AND w.due_at > $3), %d))`, math.MaxInt64)

// dueDeliveries queues the reading of one endpoint's due deliveries into l. The
// innermost query walks the index and stops at its limit, whatever the planner
// knows.
func (s *Store) dueDeliveries(b *db.Batch, l *domain.EndpointLease, request domain.FetchRequest, now time.Time) {
	key := request.Key
	if request.Limit > 0 {
		skip, args := s.db.ValuesTable(6, db.Ints("sequence", request.Skip))
		b.Query(func(r db.Rows) error {
			var d domain.DueDelivery
			err := r.Scan(&d.Sequence, &d.ID, &d.EmployeeID, &d.Kind, &d.Attempts, &d.RoundStart, &d.RequestedBy, &d.DueAt,
				&d.CreatedAt, &d.Body, &d.Erased)
			l.Due = append(l.Due, d)
			return err
		}, `SELECT d.event_id, CAST(d.id AS text), coalesce(v.employee_id, 0), d.kind, d.attempts, d.round_start, d.requested_by,
				d.due_at, d.created_at, v.body, v.id IS NULL OR v.erased_at IS NOT NULL
			FROM (SELECT * FROM (SELECT * FROM deliveries WHERE company_id = $1 AND endpoint_id = $2 AND state = 'pending' AND due_at <= $3
					AND event_id NOT IN (SELECT sequence FROM `+skip+` k) AND `+inStrictOrder+`
				ORDER BY due_at, seq LIMIT $5) w ORDER BY event_id LIMIT $4) d
			LEFT JOIN events v ON v.company_id = d.company_id AND v.id = d.event_id ORDER BY d.event_id`,
			append([]any{key.CompanyID, key.ID, now, request.Limit, dueWindow * request.Limit}, args...)...)
	}
	b.Query(func(r db.Rows) error {
		l.NextDue = &time.Time{}
		return r.Scan(l.NextDue)
	}, `SELECT due_at FROM deliveries WHERE company_id = $1 AND endpoint_id = $2 AND state = 'pending' AND due_at > $3
		ORDER BY due_at LIMIT 1`, key.CompanyID, key.ID, now)
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

// LeaseOwners lists the replicas that hold a lease on an endpoint of the company,
// or held one that ran out within the given time, whoever took it over since.
func (s *Store) LeaseOwners(ctx context.Context, company int64, within time.Duration) ([]string, error) {
	var out []string
	after := s.db.Now().Add(-within)
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var current formerLease
		var text string
		if err := r.Scan(&current.Owner, &current.Until, &text); err != nil {
			return err
		}
		var leases formerLeases
		err := decodeFormer(text, &leases)
		for _, l := range append(leases, current) {
			if l.Owner != "" && l.Until.After(after) && !slices.Contains(out, l.Owner) {
				out = append(out, l.Owner)
			}
		}
		return err
	}, `SELECT lease_owner, lease_until, former_leases FROM endpoints WHERE company_id = $1`, company)
	err := s.read(ctx, b)
	return out, err
}

// waiting is every endpoint with pending deliveries, by one probe of the index each.
const waiting = `(SELECT e.company_id, e.id, e.lease_until, e.lease_owner,
		(SELECT d.due_at FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND d.state = 'pending'
		ORDER BY d.due_at LIMIT 1) AS due
	FROM endpoints e) w`

// DeliveryBacklog lists the endpoints with deliveries that are due before the
// horizon, longest waiting first. Its depth is that of the endpoints which owner
// leases, so that the depths of all replicas can be added up.
func (s *Store) DeliveryBacklog(ctx context.Context, owner string, horizon time.Duration) (domain.Backlog, error) {
	var out domain.Backlog
	now := s.db.Now()
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var w domain.WaitingEndpoint
		err := r.Scan(&w.Key.CompanyID, &w.Key.ID, &w.Due, &w.Owner)
		out.Endpoints = append(out.Endpoints, w)
		return err
	}, `SELECT company_id, id, due, lease_owner FROM `+waiting+` WHERE due <= $1 ORDER BY due`, now.Add(horizon))
	if err := s.read(ctx, b); err != nil {
		return out, err
	}
	longest := make([]domain.EndpointKey, 0, domain.MaxDepthEndpoints)
	for _, w := range out.Endpoints {
		if w.Owner == owner && len(longest) < domain.MaxDepthEndpoints {
			longest = append(longest, w.Key)
		}
	}
	if len(longest) == 0 {
		return out, nil
	}
	rows, args := s.endpointKeys(3, longest)
	b = &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&out.Depth) },
		`SELECT CAST(coalesce(sum((SELECT count(*) FROM (SELECT 1 FROM deliveries d WHERE d.company_id = k.key_company
			AND d.endpoint_id = k.key_id AND d.state = 'pending' AND d.due_at <= $1 LIMIT $2) c)), 0) AS bigint) FROM `+rows+` k`,
		append([]any{now, domain.MaxDepthPerEndpoint}, args...)...)
	err := s.read(ctx, b)
	return out, err
}

// OldestUnattended returns when the oldest due delivery became due that no live
// replica looks after; ok is false when there is none. A receiver that is slow has
// a replica that waits for it, and is no fault of this service.
func (s *Store) OldestUnattended(ctx context.Context) (at time.Time, ok bool, err error) {
	now := s.db.Now()
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { ok = true; return r.Scan(&at) },
		`SELECT due FROM `+waiting+` WHERE due <= $1 AND lease_until <= $1 ORDER BY due LIMIT 1`, now)
	return at, ok, s.read(ctx, b)
}
