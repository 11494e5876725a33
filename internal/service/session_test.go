package service_test

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

var _ scs.CtxStore = (*service.Sessions)(nil)

// session makes a session as the library would.
func (f fixture) session(administrator int64, token string) {
	f.t.Helper()
	ctx := f.sessions.Visit(f.t.Context(), here.Address, "Test/1.0")
	f.sessions.Bind(ctx, administrator)
	must(f.t, "commit a session", f.sessions.CommitCtx(ctx, token, []byte("data"), time.Now().Add(domain.SessionLifetime)))
}

func (f fixture) find(token string) (ctx context.Context, data string, found bool) {
	f.t.Helper()
	ctx = f.sessions.Visit(f.t.Context(), here.Address, "Test/2.0")
	b, found, err := f.sessions.FindCtx(ctx, token)
	must(f.t, "find a session", err)
	return ctx, string(b), found
}

func TestSessionStore(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		_, id := f.companyWithPassword("anna@x.test")
		if _, _, found := f.find("none"); found {
			f.t.Error("found a session that is not there")
		}
		must(f.t, "delete nothing", f.sessions.Delete("none"))
		f.session(id.Administrator.ID, "token")
		ctx, data, found := f.find("token")
		if !found || data != "data" || f.sessions.AdministratorID(ctx) != id.Administrator.ID {
			f.t.Errorf("found %v: %q of %d", found, data, f.sessions.AdministratorID(ctx))
		}
		must(f.t, "commit", f.sessions.CommitCtx(ctx, "token", []byte("more"), time.Now().Add(time.Hour)))
		if _, data, _ = f.find("token"); data != "more" {
			f.t.Errorf("data %q after a commit", data)
		}
		if n := f.count(`SELECT count(*) FROM sessions WHERE hash = $1`, []byte("token")); n != 0 {
			f.t.Error("the token itself is stored")
		}
		list, err := f.sessions.List(f.t.Context(), id.Administrator.ID)
		if err != nil || len(list) != 1 || list[0].Address != "203.0.113.7" || list[0].UserAgent != "Test/1.0" {
			f.t.Errorf("list %+v, %v", list, err)
		}
		must(f.t, "delete", f.sessions.DeleteCtx(ctx, "token"))
		if f.sessions.AdministratorID(ctx) != 0 {
			f.t.Error("someone who signed out is still there")
		}
		if _, _, found := f.find("token"); found {
			f.t.Error("a session outlives its end")
		}
	})
}

// A request that runs while its session is ended elsewhere must not bring it back.
func TestEndedSessionStaysEnded(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		_, id := f.companyWithPassword("anna@x.test")
		f.session(id.Administrator.ID, "stolen")
		ctx, _, _ := f.find("stolen")
		n, err := f.sessions.EndOthers(f.t.Context(), id.Actor(here), "mine")
		if err != nil || n != 1 {
			f.t.Errorf("ended %d, %v", n, err)
		}
		must(f.t, "commit", f.sessions.CommitCtx(ctx, "stolen", []byte("more"), time.Now().Add(time.Hour)))
		if _, _, found := f.find("stolen"); found {
			f.t.Error("an ended session came back")
		}
	})
}

func TestSessionIsNotBoundUnlessRenewed(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		_, id := f.companyWithPassword("anna@x.test")
		f.session(0, "planted")
		ctx, _, _ := f.find("planted")
		f.sessions.Bind(ctx, id.Administrator.ID)
		if err := f.sessions.CommitCtx(ctx, "planted", nil, time.Now().Add(time.Hour)); err == nil {
			f.t.Error("a session known before signing in was bound")
		}
		if err := f.sessions.Commit("plain", []byte("x"), time.Now().Add(time.Hour)); err != nil {
			f.t.Error(err)
		}
		if data, found, err := f.sessions.Find("plain"); !found || string(data) != "x" || err != nil {
			f.t.Errorf("without a context: %q, %v, %v", data, found, err)
		}
	})
}

func TestSessionExpires(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		_, id := f.companyWithPassword("anna@x.test")
		one := func() domain.Session {
			list, err := f.sessions.List(f.t.Context(), id.Administrator.ID)
			if err != nil || len(list) != 1 {
				f.t.Fatalf("%d sessions, %v", len(list), err)
			}
			return list[0]
		}
		f.session(id.Administrator.ID, "token")
		made := one()
		if left := made.ExpiresAt.Sub(made.CreatedAt); left != domain.SessionIdle {
			f.t.Errorf("an unused session lasts %v", left)
		}
		f.find("token")
		if got := one(); !got.SeenAt.Equal(made.SeenAt) {
			f.t.Error("a use within the minute was written")
		}
		earlier := made.CreatedAt.Add(-10 * time.Hour)
		f.exec(`UPDATE sessions SET created_at = $1, seen_at = $1, expires_at = $2`, earlier, earlier.Add(domain.SessionIdle))
		f.find("token")
		if got := one(); got.SeenAt.Before(made.SeenAt) || got.ExpiresAt.Sub(got.SeenAt) != domain.SessionIdle || got.UserAgent != "Test/2.0" {
			f.t.Errorf("after a use: %+v", got)
		}
		old := made.CreatedAt.Add(-domain.SessionLifetime + time.Hour)
		f.exec(`UPDATE sessions SET created_at = $1, seen_at = $1, expires_at = $2`, old, made.CreatedAt.Add(time.Minute))
		f.find("token")
		if got := one(); !got.ExpiresAt.Equal(old.Add(domain.SessionLifetime)) {
			f.t.Errorf("use prolongs a session past its lifetime: %v", got.ExpiresAt.Sub(old))
		}
		f.exec(`UPDATE sessions SET expires_at = $1`, f.store.Now())
		if _, _, found := f.find("token"); found {
			f.t.Error("found a session that has run out")
		}
		if list, err := f.sessions.List(f.t.Context(), id.Administrator.ID); err != nil || len(list) != 0 {
			f.t.Errorf("listed %d sessions that have run out, %v", len(list), err)
		}
		must(f.t, "sweep", f.sessions.Sweep(f.t.Context()))
		if n := f.count(`SELECT count(*) FROM sessions`); n != 0 {
			f.t.Error("the sweep leaves it")
		}
	})
}

func TestEndSessions(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, anna := f.companyWithPassword("anna@x.test")
		bob := f.join(f.caller(acme), "bob@x.test")
		for _, token := range []string{"a1", "a2", "a3"} {
			f.session(anna.Administrator.ID, token)
		}
		f.session(bob.Administrator.ID, "b1")
		theirs, err := f.sessions.List(ctx, bob.Administrator.ID)
		must(f.t, "list", err)
		wantErr(f.t, "end another's", f.sessions.End(ctx, anna.Actor(here), theirs[0].ID), domain.ErrSessionNotFound)
		mine, err := f.sessions.List(ctx, anna.Administrator.ID)
		must(f.t, "list", err)
		must(f.t, "end one", f.sessions.End(ctx, anna.Actor(here), mine[0].ID))
		n, err := f.sessions.EndOthers(ctx, anna.Actor(here), "")
		if err != nil || n != 2 {
			f.t.Errorf("ended %d, %v", n, err)
		}
		if _, _, found := f.find("b1"); !found {
			f.t.Error("another's session ended too")
		}
	})
}

// The library, in front of a server, as the cabinet uses it.
func TestSessionsUnderTheLibrary(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		_, id := f.companyWithPassword("anna@x.test")
		manager := scs.New()
		manager.Store, manager.Lifetime = f.sessions, domain.SessionLifetime
		mux := http.NewServeMux()
		mux.HandleFunc("/in", func(_ http.ResponseWriter, r *http.Request) {
			if err := manager.RenewToken(r.Context()); err != nil {
				f.t.Error(err)
			}
			f.sessions.Bind(r.Context(), id.Administrator.ID)
			manager.Put(r.Context(), "company", id.Company.ID)
		})
		mux.HandleFunc("/out", func(_ http.ResponseWriter, r *http.Request) {
			if err := manager.Destroy(r.Context()); err != nil {
				f.t.Error(err)
			}
			manager.Put(r.Context(), "message", "You are signed out.")
		})
		mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			if f.sessions.AdministratorID(r.Context()) == id.Administrator.ID && manager.GetInt64(r.Context(), "company") == id.Company.ID {
				w.Header().Set("X-Who", "anna")
			}
		})
		inner := manager.LoadAndSave(mux)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inner.ServeHTTP(w, r.WithContext(f.sessions.Visit(r.Context(), here.Address, r.UserAgent())))
		}))
		defer server.Close()
		jar, err := cookiejar.New(nil)
		must(f.t, "make a jar", err)
		client := &http.Client{Jar: jar}
		defer client.CloseIdleConnections()
		for _, step := range []struct{ path, want string }{{"/", ""}, {"/in", ""}, {"/", "anna"}, {"/in", ""}, {"/", "anna"}, {"/out", ""}, {"/", ""}} {
			res, err := client.Get(server.URL + step.path)
			must(f.t, step.path, err)
			_ = res.Body.Close()
			if got := res.Header.Get("X-Who"); got != step.want || res.StatusCode != http.StatusOK {
				f.t.Errorf("%s: %d, %q", step.path, res.StatusCode, got)
			}
		}
		if list, err := f.sessions.List(f.t.Context(), id.Administrator.ID); err != nil || len(list) != 0 {
			f.t.Errorf("%d sessions left, %v", len(list), err)
		}
	})
}

func TestUserAgentIsCut(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		_, id := f.companyWithPassword("anna@x.test")
		ctx := f.sessions.Visit(f.t.Context(), nowhere, strings.Repeat("é", 300)+"\xff\x00")
		f.sessions.Bind(ctx, id.Administrator.ID)
		must(f.t, "commit", f.sessions.CommitCtx(ctx, "t", []byte("data"), time.Now().Add(time.Hour)))
		list, err := f.sessions.List(f.t.Context(), id.Administrator.ID)
		if err != nil || list[0].UserAgent != strings.Repeat("é", 127) || list[0].Address != "" {
			f.t.Errorf("%+v, %v", list, err)
		}
	})
}
