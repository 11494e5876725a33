package store

import (
	"context"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// A request that was made before an erasure may be written into the log after it, by
// any replica. Therefore an erasure leaves digests of what named the person, both the
// erasure and the writer of the log look for mentions once they have committed, and
// whichever commits last finds what the other one wrote.
const (
	// mentionWindow is how long after an erasure a request that names the person is
	// taken for one that was under way. It covers a slow call and clocks that differ.
	mentionWindow = time.Minute
	// erasedMentionTime is how long the digests are kept.
	erasedMentionTime = time.Hour
)

// mention is a personal value that the body of a logged request names.
type mention struct {
	company   int64
	digest    int64
	requestID string // folded
	at        time.Time
}

// addMentions adds the mentions of requests to b and returns the companies that have any.
func (s *Store) addMentions(b *db.Batch, list []domain.APIRequest) []int64 {
	var mentions []mention
	var companies []int64
	for _, r := range list {
		for _, digest := range r.Mentions {
			mentions = append(mentions, mention{r.CompanyID, digest, domain.FoldID(r.RequestID), r.At})
			companies = append(companies, r.CompanyID)
		}
	}
	if len(mentions) == 0 {
		return nil
	}
	rows, args := s.db.ValuesTable(1, db.Columns(mentions,
		db.IntColumn("company_id", func(m *mention) int64 { return m.company }),
		db.IntColumn("digest", func(m *mention) int64 { return m.digest }),
		db.TextColumn("request_id", func(m *mention) string { return m.requestID }),
		db.TimeColumn("at", func(m *mention) time.Time { return m.at }))...)
	b.Exec(`INSERT INTO api_request_mentions (company_id, digest, request_id, at)
		SELECT r.company_id, r.digest, r.request_id, r.at FROM `+rows+` r WHERE true
		ORDER BY r.company_id, r.digest, r.request_id ON CONFLICT DO NOTHING`, args...)
	slices.Sort(companies)
	return slices.Compact(companies)
}

// markErased adds to b the writes that remember an erased employee's id, e-mail and
// name, each as a digest.
func markErased(b *db.Batch, now time.Time, e domain.Employee) {
	var digests []int64
	for _, value := range []string{e.ExternalID, e.Email, e.Name} {
		if value != "" {
			digests = append(digests, domain.DigestMention(value))
		}
	}
	slices.Sort(digests) // rows are locked in the order of their keys
	for _, digest := range digests {
		b.Exec(`INSERT INTO erased_mentions (company_id, digest, at) VALUES ($1, $2, $3)
			ON CONFLICT (company_id, digest) DO UPDATE SET at = excluded.at`, e.CompanyID, digest, now)
	}
}

// eraseLogged empties the messages and bodies of a company's logged requests that
// name people who were erased. Call it after committing the mentions or the erasure.
func (s *Store) eraseLogged(ctx context.Context, company int64) error {
	var ids []string
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var id string
		var at, erasedAt time.Time
		if err := r.Scan(&id, &at, &erasedAt); err != nil {
			return err
		}
		if !at.After(erasedAt.Add(mentionWindow)) {
			ids = append(ids, id)
		}
		return nil
	}, `SELECT m.request_id, m.at, e.at FROM erased_mentions e`+
		s.db.Join("api_request_mentions", "m", `m.company_id = e.company_id AND m.digest = e.digest`)+` WHERE e.company_id = $1`, company)
	if err := s.read(ctx, b); err != nil || len(ids) == 0 {
		return err
	}
	ids = sortedUnique(ids)
	return s.write(ctx, func(tx db.Tx, _ *outbox) error {
		b := &db.Batch{}
		logged, arg := s.db.In(s.db.Folded("request_id"), 2, db.Texts("request_id", ids))
		b.Exec(`UPDATE api_requests SET message = '', request_body = '' WHERE company_id = $1 AND `+logged, company, arg)
		named, arg := s.db.In("request_id", 2, db.Texts("request_id", ids))
		b.Exec(`DELETE FROM api_request_mentions WHERE company_id = $1 AND `+named, company, arg)
		return tx.Send(ctx, b)
	})
}

// FinishErasures clears what an erasure that was interrupted after its commit left in
// the request log, and then removes the digests of people whose erasure is long past.
func (s *Store) FinishErasures(ctx context.Context) error {
	var companies []int64
	b := &db.Batch{}
	b.Query(appendColumn(&companies), `SELECT DISTINCT company_id FROM erased_mentions`)
	if err := s.read(ctx, b); err != nil {
		return err
	}
	for _, company := range companies {
		if err := s.eraseLogged(ctx, company); err != nil {
			return err
		}
	}
	_, err := s.execStep(ctx, `DELETE FROM erased_mentions WHERE company_id IN (SELECT c.id FROM companies c) AND at < $1`,
		s.Now().Add(-erasedMentionTime))
	return err
}
