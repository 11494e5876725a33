package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// InstallationCounts counts over all companies. It asks for the deliveries of one endpoint
// after the other: each has its own range of an index, which holds only those that are not
// delivered.
func (s *Store) InstallationCounts(ctx context.Context) (out domain.InstallationCounts, err error) {
	now := s.Now()
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&out.Companies, &out.Suspended) },
		`SELECT count(*), count(c.suspended_at) FROM companies c`)
	b.Query(func(r db.Rows) error { return r.Scan(&out.Endpoints, &out.DisabledEndpoints) },
		`SELECT count(*), count(e.disabled_at) FROM endpoints e WHERE e.removed_at IS NULL`)
	b.Query(func(r db.Rows) error { return r.Scan(&out.SendingServers) },
		`SELECT count(DISTINCT e.lease_owner) FROM endpoints e WHERE e.lease_until > $1 AND e.lease_owner <> ''`, now)
	b.Query(func(r db.Rows) error { return r.Scan(&out.Pending, &out.Due, &out.OldestDue) },
		`SELECT CAST(coalesce(sum(`+countOf(domain.DeliveryPending, "")+`), 0) AS bigint),
			CAST(coalesce(sum(`+countOf(domain.DeliveryPending, "d.due_at <= $1")+`), 0) AS bigint), min(`+oldestDue+`) FROM endpoints e`, now)
	b.Query(func(r db.Rows) error { return r.Scan(&out.Held, &out.FailedHour) },
		`SELECT CAST(coalesce(sum(`+countOf(domain.DeliveryHeld, "")+`), 0) AS bigint),
			CAST(coalesce(sum(`+countOf(domain.DeliveryFailed, "d.finished_at > $1")+`), 0) AS bigint) FROM endpoints e`, now.Add(-time.Hour))
	err = mapUnavailable(s.db.Snapshot(ctx, func(c db.Conn) error { return c.Send(ctx, b) }))
	return out, err
}

// countOf returns an expression for the number of an endpoint's deliveries in a state. The
// endpoint is called e.
func countOf(state domain.DeliveryState, condition string) string {
	where := inState[state]
	if condition != "" {
		where += ` AND ` + condition
	}
	return `(SELECT count(*) FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND ` + where + `)`
}

// oldestDue is an expression for when the first of an endpoint's deliveries was due, up to
// the instant $1; NULL if none was.
const oldestDue = `(SELECT d.due_at FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND d.state = 'pending'
	AND d.due_at <= $1 ORDER BY d.due_at LIMIT 1)`

// EndpointCounts counts the endpoints of all companies, by one probe of an index each.
func (s *Store) EndpointCounts(ctx context.Context) (out domain.EndpointCounts, err error) {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { return r.Scan(&out.Enabled, &out.Disabled, &out.Holding) },
		`SELECT count(*) - count(e.disabled_at), count(e.disabled_at), count(CASE WHEN EXISTS (SELECT 1 FROM deliveries d
			WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND d.state = 'held') THEN 1 END)
		FROM endpoints e WHERE e.removed_at IS NULL`)
	err = s.read(ctx, b)
	return out, err
}

// StuckEndpoints returns endpoints of all companies with deliveries that were due by
// the instant, or that are held because the endpoint is disabled. Oldest first.
func (s *Store) StuckEndpoints(ctx context.Context, before time.Time, limit int) (out []domain.StuckEndpoint, err error) {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var e domain.StuckEndpoint
		err := r.Scan(&e.CompanyID, &e.CompanyName, &e.EndpointID, &e.URL, &e.Disabled, &e.Due, &e.Held, &e.OldestDue)
		out = append(out, e)
		return err
	}, `SELECT e.company_id, c.name, e.id, e.url, e.disabled_at IS NOT NULL, `+countOf(domain.DeliveryPending, "d.due_at <= $1")+`,
			`+countOf(domain.DeliveryHeld, "")+`, w.oldest
		FROM (SELECT e.company_id, e.id, `+oldestDue+` AS oldest FROM endpoints e WHERE e.removed_at IS NULL) w
		JOIN endpoints e ON e.company_id = w.company_id AND e.id = w.id
		JOIN companies c ON c.id = w.company_id
		WHERE w.oldest IS NOT NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE d.company_id = e.company_id AND d.endpoint_id = e.id AND `+inState[domain.DeliveryHeld]+`)
		ORDER BY w.oldest IS NULL, w.oldest, e.company_id, e.id LIMIT $2`, before, limit)
	err = mapUnavailable(s.db.Snapshot(ctx, func(c db.Conn) error { return c.Send(ctx, b) }))
	return out, err
}

// CompanyUsage returns what each company takes of the service, those with the most events
// since the instant first. It counts the events of the period and all assignments, and
// everything else only of the companies that it returns. The sum in its GROUP BY keeps
// SQLite from reading all events in the order of their companies.
func (s *Store) CompanyUsage(ctx context.Context, since time.Time, limit int) (out []domain.CompanyUsage, err error) {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var u domain.CompanyUsage
		err := r.Scan(&u.CompanyID, &u.Name, &u.Employees, &u.Assignments, &u.Calls, &u.SlowestCall, &u.Events, &u.Attempts, &u.SlowestMs, &u.LastCall)
		out = append(out, u)
		return err
	}, `SELECT w.id, w.name, (SELECT count(*) FROM employees p WHERE p.company_id = w.id), w.assignments,
			(SELECT CAST(coalesce(sum(h.succeeded + h.failed), 0) AS bigint) FROM api_request_hours h WHERE h.company_id = w.id AND h.hour >= $3),
			(SELECT coalesce(max(q.duration_us), 0) / 1000 FROM api_requests q WHERE q.company_id = w.id AND q.at >= $1), w.events,
			(SELECT count(*) FROM delivery_attempts t WHERE t.company_id = w.id AND t.started_at >= $1),
			(SELECT coalesce(max(t.duration_us), 0) / 1000 FROM delivery_attempts t WHERE t.company_id = w.id AND t.started_at >= $1),
			(SELECT max(k.last_used_at) FROM tokens k WHERE k.company_id = w.id)
		FROM (SELECT c.id, c.name, coalesce(v.n, 0) AS events, (SELECT count(*) FROM assignments a WHERE a.company_id = c.id) AS assignments
			FROM companies c
			LEFT JOIN (SELECT company_id, count(*) AS n FROM events WHERE occurred_at >= $1 GROUP BY company_id + 0, company_id) v ON v.company_id = c.id
			ORDER BY 3 DESC, 4 DESC, c.id LIMIT $2) w
		ORDER BY w.events DESC, w.assignments DESC, w.id`, since, limit, since.Truncate(time.Hour))
	err = mapUnavailable(s.db.Snapshot(ctx, func(c db.Conn) error { return c.Send(ctx, b) }))
	return out, err
}
