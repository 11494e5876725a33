package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// InstallationCounts counts over all companies. It reads whole tables.
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
		`SELECT count(*), count(CASE WHEN d.due_at <= $1 THEN 1 END), min(CASE WHEN d.due_at <= $1 THEN d.due_at END)
		FROM deliveries d WHERE d.state = 'pending'`, now)
	b.Query(func(r db.Rows) error { return r.Scan(&out.Held, &out.FailedHour) },
		`SELECT count(CASE WHEN d.state = 'held' THEN 1 END), count(CASE WHEN d.state = 'failed' AND d.finished_at > $1 THEN 1 END)
		FROM deliveries d WHERE d.state IN ('held', 'failed')`, now.Add(-time.Hour))
	err = mapUnavailable(s.db.Snapshot(ctx, func(c db.Conn) error { return c.Send(ctx, b) }))
	return out, err
}

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

// StuckEndpoints returns endpoints of all companies with deliveries that were due before
// the instant, or that are held because the endpoint is disabled. Oldest first.
func (s *Store) StuckEndpoints(ctx context.Context, before time.Time, limit int) (out []domain.StuckEndpoint, err error) {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var e domain.StuckEndpoint
		err := r.Scan(&e.CompanyID, &e.CompanyName, &e.EndpointID, &e.URL, &e.Disabled, &e.Due, &e.Held, &e.OldestDue)
		out = append(out, e)
		return err
	}, `SELECT e.company_id, c.name, e.id, e.url, e.disabled_at IS NOT NULL, w.due, w.held, w.oldest
		FROM (SELECT d.company_id, d.endpoint_id, count(CASE WHEN d.state = 'pending' THEN 1 END) AS due,
				count(CASE WHEN d.state = 'held' THEN 1 END) AS held, min(CASE WHEN d.state = 'pending' THEN d.due_at END) AS oldest
			FROM deliveries d WHERE d.state = 'held' OR d.state = 'pending' AND d.due_at < $1
			GROUP BY d.company_id, d.endpoint_id) w
		JOIN endpoints e ON e.company_id = w.company_id AND e.id = w.endpoint_id
		JOIN companies c ON c.id = w.company_id
		WHERE e.removed_at IS NULL
		ORDER BY w.oldest IS NULL, w.oldest, e.company_id, e.id LIMIT $2`, before, limit)
	err = mapUnavailable(s.db.Snapshot(ctx, func(c db.Conn) error { return c.Send(ctx, b) }))
	return out, err
}

// CompanyUsage returns what each company takes of the service, those with the most events
// since the instant first. It reads whole tables.
func (s *Store) CompanyUsage(ctx context.Context, since time.Time, limit int) (out []domain.CompanyUsage, err error) {
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var u domain.CompanyUsage
		err := r.Scan(&u.CompanyID, &u.Name, &u.Employees, &u.Assignments, &u.Calls, &u.SlowestCall, &u.Events, &u.Attempts, &u.SlowestMs, &u.LastCall)
		out = append(out, u)
		return err
	}, `SELECT c.id, c.name, coalesce(p.n, 0), coalesce(a.n, 0), coalesce(h.n, 0), coalesce(q.slowest, 0), coalesce(v.n, 0), coalesce(t.n, 0), coalesce(t.slowest, 0), k.used
		FROM companies c
		LEFT JOIN (SELECT company_id, count(*) AS n FROM employees GROUP BY company_id) p ON p.company_id = c.id
		LEFT JOIN (SELECT company_id, count(*) AS n FROM assignments GROUP BY company_id) a ON a.company_id = c.id
		LEFT JOIN (SELECT company_id, CAST(sum(succeeded + failed) AS bigint) AS n FROM api_request_hours WHERE hour >= $3 GROUP BY company_id) h
			ON h.company_id = c.id
		LEFT JOIN (SELECT company_id, max(duration_us) / 1000 AS slowest FROM api_requests WHERE at >= $1 GROUP BY company_id) q ON q.company_id = c.id
		LEFT JOIN (SELECT company_id, count(*) AS n FROM events WHERE occurred_at >= $1 GROUP BY company_id) v ON v.company_id = c.id
		LEFT JOIN (SELECT company_id, count(*) AS n, max(duration_us) / 1000 AS slowest FROM delivery_attempts WHERE started_at >= $1
			GROUP BY company_id) t ON t.company_id = c.id
		LEFT JOIN (SELECT company_id, max(last_used_at) AS used FROM tokens GROUP BY company_id) k ON k.company_id = c.id
		ORDER BY coalesce(v.n, 0) DESC, coalesce(a.n, 0) DESC, c.id LIMIT $2`, since, limit, since.Truncate(time.Hour))
	err = mapUnavailable(s.db.Snapshot(ctx, func(c db.Conn) error { return c.Send(ctx, b) }))
	return out, err
}
