package storetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// createTokens inserts n tokens of the company, numbered from first.
func (f testCompany) createTokens(first, n int) {
	f.t.Helper()
	change(f.t, f.s, `INSERT INTO tokens (company_id, name, hash, last_four, scopes, allowed, created_by, created_at, last_used_ip)
		WITH RECURSIVE k (i) AS (SELECT CAST($3 AS bigint) UNION ALL SELECT i + 1 FROM k WHERE i + 1 < $3 + $4)
		SELECT $1, 'token ' || i, $5, '', '[]', '[]', '', $2, '' FROM k`,
		f.c.Company.ID, f.s.Now(), int64(first), int64(n), []byte("no token has this hash"))
}

func TestTokensOfACompanyAreLimited(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		other.createTokens(0, domain.MaxTokens)
		f.createTokens(0, domain.MaxTokens+5)
		change(t, s, `UPDATE tokens SET revoked_at = $1 WHERE company_id = $2 AND name IN ('token 0', 'token 1', 'token 2', 'token 3', 'token 4')`, s.Now(), f.c.Company.ID)
		change(t, s, `UPDATE tokens SET expires_at = $1 WHERE company_id = $2 AND name IN ('token 5', 'token 6', 'token 7')`, before(s, time.Minute), f.c.Company.ID)
		var got resultCounts
		race(8, func(i int) {
			_, err := s.CreateToken(t.Context(), f.c, domain.NewToken{Name: "new"}, domain.DigestToken(fmt.Sprint("new ", i)))
			got.add("created", err)
		})
		equal(t, "8 tokens created at once where 3 are free", got.counts, map[string]int{"created": 3, string(domain.CodeInvalid): 5})
	})
}

// A page of tokens costs the same wherever it is, and the pages hold every token once.
func TestTokenPages(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other := newTestCompany(t, s), newTestCompany(t, s)
		f.createTokens(0, 25)
		other.createTokens(100, 10)
		for name, filter := range map[string]domain.TokenFilter{
			"of a company": {CompanyID: f.c.Company.ID}, "live ones": {CompanyID: f.c.Company.ID, LiveAt: ptr(s.Now())}, "of all": {},
		} {
			visits := visitCounts{}
			page := domain.PageRequest{Limit: 10}
			for more := true; more; {
				got, err := s.Tokens(t.Context(), filter, page)
				if err != nil {
					t.Fatal(err)
				}
				for _, token := range got.Items {
					visits[token.Name]++
				}
				if more = got.More; more {
					page.After = &domain.Cursor{ID: got.Items[len(got.Items)-1].ID}
				}
			}
			want := 25
			if filter.CompanyID == 0 {
				want = 35
			}
			equal(t, name, len(visits), want)
			for token, n := range visits {
				if n != 1 {
					t.Errorf("%s: %s is on %d pages", name, token, n)
				}
			}
		}
	})
}
