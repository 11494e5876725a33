package storetest_test

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// newSession returns a session that was last used some time ago, with the key as its data.
func newSession(s *store.Store, administrator int64, key string, unused time.Duration) domain.Session {
	return domain.Session{
		Key: []byte(key), AdministratorID: administrator, Data: []byte(key), CreatedAt: before(s, 2*time.Hour), SeenAt: before(s, unused),
		ExpiresAt: before(s, -time.Hour), Address: "198.51.100.1", UserAgent: "browser",
	}
}

// sessionKeys returns the keys of an administrator's sessions as they are listed.
func sessionKeys(t *testing.T, s *store.Store, administrator int64) []string {
	t.Helper()
	list, err := s.Sessions(t.Context(), administrator)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, x := range list {
		out = append(out, string(x.Key))
	}
	return out
}

func wantNoError(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, ctx := newTestCompany(t, s), t.Context()
		ann, bob := f.addAdministrator("ann@x.test", domain.CabinetOwner).Actor, f.addAdministrator("bob@x.test", domain.CabinetOwner).Actor
		expired := newSession(s, ann.ID, "expired", 0)
		expired.ExpiresAt = s.Now()
		stored := newSession(s, ann.ID, "phone", time.Hour)
		for _, x := range []domain.Session{expired, stored, newSession(s, ann.ID, "tablet", time.Minute), newSession(s, 0, "nobody", 0)} {
			wantNoError(t, "add", s.AddSession(ctx, x))
		}
		got, err := s.Session(ctx, []byte("phone"))
		wantNoError(t, "read", err)
		stored.ID = got.ID
		equal(t, "a stored session", got, stored)
		for _, key := range []string{"expired", "never"} {
			_, err = s.Session(ctx, []byte(key))
			wantCode(t, key, err, domain.CodeNotFound)
		}
		equal(t, "sessions, the last used first", sessionKeys(t, s, ann.ID), []string{"ann@x.test", "tablet", "phone"})

		// Signing in puts a session with the same key in the place of the anonymous one.
		wantNoError(t, "add again", s.AddSession(ctx, newSession(s, bob.ID, "nobody", time.Minute)))
		equal(t, "sessions of another", sessionKeys(t, s, bob.ID), []string{"bob@x.test", "nobody"})
		wantNoError(t, "put data", s.PutSessionData(ctx, []byte("phone"), []byte("new")))
		stored.Data, stored.SeenAt, stored.ExpiresAt, stored.Address, stored.UserAgent = []byte("new"), s.Now().Add(time.Second), before(s, -2*time.Hour), "::1", "other"
		wantNoError(t, "touch", s.TouchSession(ctx, domain.Session{
			Key: stored.Key, SeenAt: stored.SeenAt, ExpiresAt: stored.ExpiresAt, Address: stored.Address, UserAgent: stored.UserAgent,
		}))
		got, err = s.Session(ctx, []byte("phone"))
		wantNoError(t, "read", err)
		equal(t, "a changed session", got, stored)
		equal(t, "a session that was used again", sessionKeys(t, s, ann.ID), []string{"phone", "ann@x.test", "tablet"})
		wantNoError(t, "put data of none", s.PutSessionData(ctx, []byte("never"), []byte("new")))
		_, err = s.Session(ctx, []byte("never"))
		wantCode(t, "a session that had ended before its data came", err, domain.CodeNotFound)
	})
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, ctx := newTestCompany(t, s), t.Context()
		ann, bob := f.addAdministrator("ann@x.test", domain.CabinetOwner).Actor, f.addAdministrator("bob@x.test", domain.CabinetOwner).Actor
		for i, key := range []string{"a", "b", "c", "d"} {
			wantNoError(t, "add", s.AddSession(ctx, newSession(s, ann.ID, key, time.Duration(i+1)*time.Minute)))
		}
		a, err := s.Session(ctx, []byte("a"))
		wantNoError(t, "read", err)
		wantCode(t, "end the session of another", s.EndSession(ctx, bob, a.ID), domain.CodeNotFound)
		equal(t, "sessions", sessionKeys(t, s, ann.ID), []string{"ann@x.test", "a", "b", "c", "d"})
		wantNoError(t, "end", s.EndSession(ctx, ann, a.ID))
		wantCode(t, "end twice", s.EndSession(ctx, ann, a.ID), domain.CodeNotFound)
		wantNoError(t, "drop", s.DropSession(ctx, []byte("b")))
		wantNoError(t, "drop twice", s.DropSession(ctx, []byte("b")))
		equal(t, "sessions", sessionKeys(t, s, ann.ID), []string{"ann@x.test", "c", "d"})
		for _, row := range []struct {
			keep  []byte
			ended int64
			left  []string
		}{{[]byte("c"), 2, []string{"c"}}, {[]byte("c"), 0, []string{"c"}}, {nil, 1, []string{}}} {
			ended, err := s.EndOtherSessions(ctx, ann, row.keep)
			wantNoError(t, "end others", err)
			equal(t, "ended", ended, row.ended)
			equal(t, "sessions that are left", sessionKeys(t, s, ann.ID), row.left)
		}
		equal(t, "sessions of another", sessionKeys(t, s, bob.ID), []string{"bob@x.test"})
		equal(t, "audit: only what ended a session", f.audit(), []string{"session.ended", "session.ended", "session.ended"})
	})
}
