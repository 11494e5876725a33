package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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

// ClaimEndpoints takes or prolongs the leases that nobody else holds, and reads
// what is due on those. Of the others it reports who holds them. It does not wait
// for endpoints that another transaction has locked: those have neither an owner
// nor time remaining.
func (s *Store) ClaimEndpoints(ctx context.Context, owner string, hold time.Duration, requests []domain.FetchRequest) ([]domain.EndpointLease, error) {
	byKey := map[domain.EndpointKey]domain.FetchRequest{}
	for _, r := range requests {
		byKey[r.Key] = r
	}
	var leases []*domain.EndpointLease
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		leases = leases[:0]
		var ends []time.Time
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
		b.Query(intoLeases(&leases, &ends), leaseSQL(rows), args...)
		if err := tx.Send(ctx, b); err != nil {
			return err
		}
		now := tx.Now()
		var claimed []domain.EndpointKey
		former := map[formerLease]time.Time{}
		b = &db.Batch{}
		for i, l := range leases {
			key := l.Endpoint.Key()
			switch l.Remaining = ends[i].Sub(now); {
			case locked[key] && (l.Owner == owner || l.Remaining <= 0):
				if f := (formerLease{key.CompanyID, l.Owner}); l.Owner != "" && l.Owner != owner && ends[i].After(former[f]) {
					former[f] = ends[i]
				}
				l.Owner, l.Remaining = owner, hold
				claimed = append(claimed, key)
				s.dueDeliveries(b, l, byKey[key], now)
			case l.Owner == owner:
				l.Owner, l.Remaining = "", 0
			}
		}
		if len(claimed) > 0 {
			rows, args = s.endpointKeys(3, claimed)
			b.Exec(`UPDATE endpoints SET lease_owner = $1, lease_until = $2 FROM `+rows+` k
				WHERE company_id = k.key_company AND id = k.key_id`, append([]any{owner, now.Add(hold)}, args...)...)
			s.rememberFormer(b, former, now)
		}
		tx.SendAndCommit(b)
		return nil
	})
	return values(leases), err
}

// formerLease names an owner of leases in a company that ran out and were taken over.
type formerLease struct {
	company int64
	owner   string
}

// keepFormer is how long former leases are remembered: much longer than an attempt lasts.
const keepFormer = time.Hour

// rememberFormer queues the recording of former leases, with the times at which they ran
// out. Their owners may not know yet that they lost them, and may still be sending.
func (s *Store) rememberFormer(b *db.Batch, former map[formerLease]time.Time, now time.Time) {
	list := slices.SortedFunc(maps.Keys(former), func(x, y formerLease) int {
		return cmp.Or(cmp.Compare(x.company, y.company), cmp.Compare(x.owner, y.owner))
	})
	list = slices.DeleteFunc(list, func(f formerLease) bool { return now.Sub(former[f]) > keepFormer })
	if len(list) == 0 {
		return
	}
	rows, args := s.db.ValuesTable(1, db.Columns(list,
		db.IntColumn("company_id", func(f *formerLease) int64 { return f.company }),
		db.TextColumn("owner", func(f *formerLease) string { return f.owner }),
		db.TimeColumn("until", func(f *formerLease) time.Time { return former[*f] }))...)
	b.Exec(`INSERT INTO former_leases (company_id, owner, until) SELECT company_id, owner, until FROM `+rows+` r WHERE 1 = 1
		ON CONFLICT (company_id, owner) DO UPDATE SET until = excluded.until WHERE former_leases.until < excluded.until`, args...)
	for i, f := range list {
		if i == 0 || f.company != list[i-1].company {
			b.Exec(`DELETE FROM former_leases WHERE company_id = $1 AND until < $2`, f.company, now.Add(-keepFormer))
		}
	}
}

func leaseSQL(rows string) string {
	return `SELECT ` + endpointColumns + `, lease_owner, lease_until
		FROM endpoints JOIN ` + rows + ` k ON company_id = k.key_company AND id = k.key_id`
}

// DueDeliveries reads what is due on endpoints whose leases the caller holds.
func (s *Store) DueDeliveries(ctx context.Context, requests []domain.FetchRequest) ([]domain.EndpointLease, error) {
	found := map[domain.EndpointKey]*domain.EndpointLease{}
	var leases []*domain.EndpointLease
	var ends []time.Time
	now := s.db.Now()
	b := &db.Batch{}
	rows, args := s.endpointKeys(1, requestKeys(requests))
	b.Query(intoLeases(&leases, &ends), leaseSQL(rows), args...)
	for _, r := range requests {
		found[r.Key] = &domain.EndpointLease{}
		s.dueDeliveries(b, found[r.Key], r, now)
	}
	if err := s.read(ctx, b); err != nil {
		return nil, err
	}
	for i, l := range leases {
		due := found[l.Endpoint.Key()]
		l.Due, l.NextDue, l.Remaining = due.Due, due.NextDue, ends[i].Sub(now)
	}
	return values(leases), nil
}

func intoLeases(leases *[]*domain.EndpointLease, ends *[]time.Time) func(db.Rows) error {
	return func(r db.Rows) error {
		var l domain.EndpointLease
		var until time.Time
		err := scanEndpoint(r, &l.Endpoint, &l.Owner, &until)
		*leases, *ends = append(*leases, &l), append(*ends, until)
		return err
	}
}

func values[T any](in []*T) []T {
	out := make([]T, len(in))
	for i, p := range in {
		out[i] = *p
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
	b := &db.Batch{}
	b.Query(appendColumn(&out), `SELECT lease_owner FROM endpoints WHERE company_id = $1 AND lease_owner <> '' AND lease_until > $2
		UNION SELECT owner FROM former_leases WHERE company_id = $1 AND until > $2`, company, s.db.Now().Add(-within))
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
