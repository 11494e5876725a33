package storetest_test

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// TestIdentitiesThatServeNoCompanyAreRemoved checks the sweep. The address of someone
// who has signed in stays for the audit log.
func TestIdentitiesThatServeNoCompanyAreRemoved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		month := before(s, 31*24*time.Hour)
		add := func(name string, createdAt time.Time, lastSignIn *time.Time) int64 {
			change(t, s, `INSERT INTO administrators (email, email_folded, name, recovery_hashes, theme, created_at, last_sign_in_at)
				VALUES ($1, $1, '', '[]', '', $2, $3)`, name+"@x.test", createdAt, lastSignIn)
			return number(t, s, `SELECT id FROM administrators WHERE email = $1`, name+"@x.test")
		}
		serving := add("serving", month, &month)
		change(t, s, `INSERT INTO company_administrators (company_id, administrator_id, added_at, added_by) VALUES ($1, $2, $3, '')`,
			f.c.Company.ID, serving, month)
		add("never came", month, nil)
		add("removed long ago", month, &month)
		add("removed lately", month, ptr(s.Now()))
		add("new", s.Now(), nil)
		add("invited", month, nil)
		if _, err := s.Invite(t.Context(), f.c, "invited@x.test", domain.NewLink{Kind: domain.LinkInvitation, Role: domain.CabinetOwner, Lifetime: time.Hour}); err != nil {
			t.Fatal(err)
		}
		if err := s.SweepSignIn(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "identities", texts(t, s, `SELECT email FROM administrators ORDER BY id`),
			[]string{"serving@x.test", "invited@x.test"})
		equal(t, "addresses kept for the log", texts(t, s, `SELECT email FROM former_administrators ORDER BY administrator_id`),
			[]string{"removed long ago@x.test", "removed lately@x.test"})
		if _, err := s.Invite(t.Context(), f.c, "never came@x.test", domain.NewLink{Kind: domain.LinkInvitation, Role: domain.CabinetOwner, Lifetime: time.Hour, Hash: [32]byte{1}}); err != nil {
			t.Errorf("invite a removed identity again: %v", err)
		}
	})
}
