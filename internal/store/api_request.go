package store

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// AddAPIRequests writes requests into the logs of their companies and adds counts to
// their hours. Bodies that name a person who was erased since are emptied.
func (s *Store) AddAPIRequests(ctx context.Context, list []domain.APIRequest, counts []domain.APIRequestCount) error {
	var mentioning []int64
	err := s.write(ctx, func(tx db.Tx, _ *outbox) error {
		b := &db.Batch{}
		if len(list) > 0 {
			rows, args := s.db.ValuesTable(1, db.Columns(list,
				db.IntColumn("company_id", func(r *domain.APIRequest) int64 { return r.CompanyID }),
				db.TimeColumn("at", func(r *domain.APIRequest) time.Time { return r.At }),
				db.IntColumn("token_id", func(r *domain.APIRequest) int64 { return r.TokenID }),
				db.TextColumn("method", func(r *domain.APIRequest) string { return r.Method }),
				db.TextColumn("route", func(r *domain.APIRequest) string { return r.Route }),
				db.IntColumn("status", func(r *domain.APIRequest) int { return r.Status }),
				db.IntColumn("duration_us", func(r *domain.APIRequest) int64 { return r.Duration.Microseconds() }),
				db.TextColumn("request_id", func(r *domain.APIRequest) string { return r.RequestID }),
				db.TextColumn("code", func(r *domain.APIRequest) domain.Code { return r.Code }),
				db.TextColumn("message", func(r *domain.APIRequest) string { return r.Message }),
				db.TextColumn("request_body", func(r *domain.APIRequest) string { return r.Text }))...)
			b.Exec(`INSERT INTO api_requests (company_id, at, token_id, method, route, status, duration_us, request_id, code, message, request_body)
				SELECT r.company_id, r.at, r.token_id, r.method, r.route, r.status, r.duration_us, r.request_id, r.code, r.message, r.request_body
				FROM `+rows+` r`, args...)
			mentioning = s.addMentions(b, list)
		}
		if len(counts) > 0 {
			rows, args := s.db.ValuesTable(1, db.Columns(counts,
				db.IntColumn("company_id", func(c *domain.APIRequestCount) int64 { return c.CompanyID }),
				db.TimeColumn("hour", func(c *domain.APIRequestCount) time.Time { return c.Hour }),
				db.IntColumn("token_id", func(c *domain.APIRequestCount) int64 { return c.TokenID }),
				db.IntColumn("succeeded", func(c *domain.APIRequestCount) int64 { return c.Succeeded }),
				db.IntColumn("failed", func(c *domain.APIRequestCount) int64 { return c.Failed }),
				db.IntColumn("server_errors", func(c *domain.APIRequestCount) int64 { return c.ServerErrors }))...)
			b.Exec(`INSERT INTO api_request_hours (company_id, hour, token_id, succeeded, failed, server_errors)
				SELECT r.company_id, r.hour, r.token_id, r.succeeded, r.failed, r.server_errors FROM `+rows+` r WHERE true ORDER BY r.company_id, r.hour, r.token_id
				ON CONFLICT (company_id, hour, token_id) DO UPDATE SET
					succeeded = api_request_hours.succeeded + excluded.succeeded, failed = api_request_hours.failed + excluded.failed,
					server_errors = api_request_hours.server_errors + excluded.server_errors`, args...)
		}
		tx.SendAndCommit(b)
		return nil
	})
	for _, company := range mentioning {
		if err == nil {
			err = s.eraseLogged(ctx, company)
		}
	}
	return err
}

const apiRequestColumns = `r.id, r.at, r.token_id,
	coalesce((SELECT t.name FROM tokens t WHERE t.company_id = r.company_id AND t.id = r.token_id), ''),
	r.method, r.route, r.status, r.duration_us, r.request_id, r.code, r.message`

// scanAPIRequest reads apiRequestColumns, and what more follows them.
func scanAPIRequest(row db.Rows, r *domain.APIRequest, more ...any) error {
	var micros int64
	err := row.Scan(append([]any{
		&r.ID, &r.At, &r.TokenID, &r.TokenName, &r.Method, &r.Route, &r.Status, &micros, &r.RequestID, &r.Code, &r.Message,
	}, more...)...)
	r.Duration = time.Duration(micros) * time.Microsecond
	return err
}

// APIRequest returns one request of a company's log with its body. Codes: not_found.
func (s *Store) APIRequest(ctx context.Context, company, id int64) (domain.APIRequest, error) {
	out := domain.APIRequest{CompanyID: company}
	found := false
	b := &db.Batch{}
	b.Query(func(r db.Rows) error { found = true; return scanAPIRequest(r, &out, &out.Text) },
		`SELECT `+apiRequestColumns+`, r.request_body FROM api_requests r WHERE r.company_id = $1 AND r.id = $2`, company, id)
	if err := s.read(ctx, b); err != nil {
		return out, err
	}
	if !found {
		return out, domain.Errorf(domain.CodeNotFound, "There is no such request. Requests are kept for a limited time.")
	}
	return out, nil
}

// APIRequests returns a page of a company's log of requests, the newest first. Pages
// are reached by cursor, and the total is not counted.
func (s *Store) APIRequests(ctx context.Context, company int64, f domain.APIRequestFilter, p domain.PageRequest) (domain.Page[domain.APIRequest], error) {
	out := domain.Page[domain.APIRequest]{Items: []domain.APIRequest{}}
	b := &db.Batch{}
	if found := s.requestsFound(company, f.Search); found != nil {
		found.queryFull(b, &out.Capped)
	}
	s.requestLog(company, f).queue(b, p, &out.Items)
	err := s.read(ctx, b)
	out.Items, out.More = trimPage(out.Items, p.Limit)
	return out, err
}

// requestsFound returns the query of the ids of the requests that a search finds, nil if
// there is no search.
func (s *Store) requestsFound(company int64, text string) *limitedQueries {
	if text = domain.CleanSearch(text); text == "" {
		return nil
	}
	folded := s.db.Folded("x.request_id")
	sql := `SELECT x.id FROM api_requests x WHERE x.company_id = ? AND ` + prefixRange(folded) + ` ORDER BY x.company_id, ` + folded + ` LIMIT ?`
	args := append(append([]any{company}, prefixArgs(domain.FoldID(text))...), domain.MaxMatches)
	return &limitedQueries{[]string{sql}, args, domain.MaxMatches}
}

// requestLog returns a company's log of requests as a list of pages.
func (s *Store) requestLog(company int64, f domain.APIRequestFilter) pagedList[domain.APIRequest] {
	queue := func(b *db.Batch, p domain.PageRequest, into *[]domain.APIRequest) {
		where := &conditions{}
		where.add("r.company_id = ?", company)
		switch f.Outcome {
		case domain.RequestFailed:
			where.add("r.status >= 400")
		case domain.RequestSucceeded:
			where.add("r.status < 400")
		}
		if f.TokenID != 0 {
			where.add("r.token_id = ?", f.TokenID)
		}
		if f.From != nil {
			where.add("r.at >= ?", *f.From)
		}
		if f.To != nil {
			where.add("r.at < ?", *f.To)
		}
		if found := s.requestsFound(company, f.Search); found != nil {
			where.add(`r.id IN (`+found.parts[0]+`)`, found.args...)
		}
		if p.After != nil {
			where.add("(r.at, r.id) < (?, ?)", p.After.Time(), p.After.ID)
		}
		limit := where.limit(domain.PageRequest{Limit: p.Limit})
		b.Query(func(row db.Rows) error {
			r := domain.APIRequest{CompanyID: company}
			err := scanAPIRequest(row, &r)
			*into = append(*into, r)
			return err
		}, `SELECT `+apiRequestColumns+` FROM api_requests r`+where.where()+` ORDER BY r.at DESC, r.id DESC`+limit, where.args...)
	}
	return pagedList[domain.APIRequest]{queue: queue, cursor: func(r domain.APIRequest) domain.Cursor {
		return domain.Cursor{ID: r.ID, At: r.At.UnixMilli()}
	}}
}

// APIRequestHours returns the counts of a company's calls since an instant by hour,
// the oldest first; of one token if it is not 0. Hours without a call are left out.
func (s *Store) APIRequestHours(ctx context.Context, company, token int64, since time.Time) ([]domain.APIRequestHour, error) {
	where := &conditions{}
	where.add("h.company_id = ?", company)
	where.add("h.hour >= ?", since)
	if token != 0 {
		where.add("h.token_id = ?", token)
	}
	var out []domain.APIRequestHour
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var h domain.APIRequestHour
		err := r.Scan(&h.From, &h.Succeeded, &h.Failed, &h.ServerErrors)
		out = append(out, h)
		return err
	}, `SELECT h.hour, CAST(sum(h.succeeded) AS bigint), CAST(sum(h.failed) AS bigint), CAST(sum(h.server_errors) AS bigint) FROM api_request_hours h`+where.where()+
		` GROUP BY h.hour ORDER BY h.hour`, where.args...)
	err := s.read(ctx, b)
	return out, err
}

// ExpireAPIRequests removes the requests from before the instant and their counts, in
// small transactions. Several replicas may call it at once. It looks up the oldest request
// of each company in an index. If it asked whether there is an older one (EXISTS), a planner
// that expects most requests to be older would read the whole table for every company.
func (s *Store) ExpireAPIRequests(ctx context.Context, before time.Time) error {
	for company := int64(0); ; {
		next := int64(0)
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&next) }, `SELECT c.id FROM companies c WHERE c.id >= $1 AND
			((SELECT min(r.at) FROM api_requests r WHERE r.company_id = c.id) < $2 OR
			(SELECT min(h.hour) FROM api_request_hours h WHERE h.company_id = c.id) < $2) ORDER BY c.id LIMIT 1`, company, before)
		if err := s.read(ctx, b); err != nil || next == 0 {
			return err
		}
		n, err := s.execStep(ctx, `DELETE FROM api_requests WHERE company_id = $2 AND id IN (SELECT r.id FROM api_requests r
			WHERE r.company_id = $2 AND r.at < $1 ORDER BY r.at, r.id LIMIT $3`+s.db.ForUpdate("r")+s.db.SkipLocked()+`)`, before, next, rowsPerStep)
		if err != nil {
			return err
		}
		if _, err := s.execStep(ctx, `DELETE FROM api_request_hours WHERE company_id = $2 AND hour < $1`, before, next); err != nil {
			return err
		}
		if _, err := s.execStep(ctx, `DELETE FROM api_request_mentions WHERE company_id = $2 AND at < $1`, before, next); err != nil {
			return err
		}
		company = next
		if n < rowsPerStep {
			company++ // this one is done, or another replica removes the rest
		}
	}
}
