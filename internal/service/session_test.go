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
func (o office) session(administrator int64, token string) {
	o.t.Helper()
	ctx := o.sessions.Visit(o.t.Context(), here.Address, "Test/1.0")
	o.sessions.Bind(ctx, administrator)
	must(o.t, "commit a session", o.sessions.CommitCtx(ctx, token, []byte("data"), time.Now().Add(domain.SessionLifetime)))
}

func (o office) find(token string) (ctx context.Context, data string, found bool) {
	o.t.Helper()
	ctx = o.sessions.Visit(o.t.Context(), here.Address, "Test/2.0")
	b, found, err := o.sessions.FindCtx(ctx, token)
	must(o.t, "find a session", err)
	return ctx, string(b), found
}

func TestSessionStore(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		_, id := o.settled("anna@x.test")
		if _, _, found := o.find("none"); found {
			o.t.Error("found a session that is not there")
		}
		must(o.t, "delete nothing", o.sessions.Delete("none"))
		o.session(id.Administrator.ID, "token")
		ctx, data, found := o.find("token")
		if !found || data != "data" || o.sessions.AdministratorID(ctx) != id.Administrator.ID {
			o.t.Errorf("found %v: %q of %d", found, data, o.sessions.AdministratorID(ctx))
		}
		must(o.t, "commit", o.sessions.CommitCtx(ctx, "token", []byte("more"), time.Now().Add(time.Hour)))
		if _, data, _ = o.find("token"); data != "more" {
			o.t.Errorf("data %q after a commit", data)
		}
		if n := o.count(`SELECT count(*) FROM sessions WHERE hash = $1`, []byte("token")); n != 0 {
			o.t.Error("the token itself is stored")
		}
		list, err := o.sessions.List(o.t.Context(), id.Administrator.ID)
		if err != nil || len(list) != 1 || list[0].Address != "203.0.113.7" || list[0].UserAgent != "Test/1.0" {
			o.t.Errorf("list %+v, %v", list, err)
		}
		must(o.t, "delete", o.sessions.DeleteCtx(ctx, "token"))
		if o.sessions.AdministratorID(ctx) != 0 {
			o.t.Error("someone who signed out is still there")
		}
		if _, _, found := o.find("token"); found {
			o.t.Error("a session outlives its end")
		}
	})
}

// A request that runs while its session is ended elsewhere must not bring it back.
func TestEndedSessionStaysEnded(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		_, id := o.settled("anna@x.test")
		o.session(id.Administrator.ID, "stolen")
		ctx, _, _ := o.find("stolen")
		n, err := o.sessions.EndOthers(o.t.Context(), id.Actor(here), "mine")
		if err != nil || n != 1 {
			o.t.Errorf("ended %d, %v", n, err)
		}
		must(o.t, "commit", o.sessions.CommitCtx(ctx, "stolen", []byte("more"), time.Now().Add(time.Hour)))
		if _, _, found := o.find("stolen"); found {
			o.t.Error("an ended session came back")
		}
	})
}

func TestSessionIsNotBoundUnlessRenewed(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		_, id := o.settled("anna@x.test")
		o.session(0, "planted")
		ctx, _, _ := o.find("planted")
		o.sessions.Bind(ctx, id.Administrator.ID)
		if err := o.sessions.CommitCtx(ctx, "planted", nil, time.Now().Add(time.Hour)); err == nil {
			o.t.Error("a session known before signing in was bound")
		}
		if err := o.sessions.Commit("plain", []byte("x"), time.Now().Add(time.Hour)); err != nil {
			o.t.Error(err)
		}
		if data, found, err := o.sessions.Find("plain"); !found || string(data) != "x" || err != nil {
			o.t.Errorf("without a context: %q, %v, %v", data, found, err)
		}
	})
}

func TestSessionExpires(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		_, id := o.settled("anna@x.test")
		one := func() domain.Session {
			list, err := o.sessions.List(o.t.Context(), id.Administrator.ID)
			if err != nil || len(list) != 1 {
				o.t.Fatalf("%d sessions, %v", len(list), err)
			}
			return list[0]
		}
		o.session(id.Administrator.ID, "token")
		made := one()
		if left := made.ExpiresAt.Sub(made.CreatedAt); left != domain.SessionIdle {
			o.t.Errorf("an unused session lasts %v", left)
		}
		o.find("token")
		if got := one(); !got.SeenAt.Equal(made.SeenAt) {
			o.t.Error("a use within the minute was written")
		}
		earlier := made.CreatedAt.Add(-10 * time.Hour)
		o.exec(`UPDATE sessions SET created_at = $1, seen_at = $1, expires_at = $2`, earlier, earlier.Add(domain.SessionIdle))
		o.find("token")
		if got := one(); got.SeenAt.Before(made.SeenAt) || got.ExpiresAt.Sub(got.SeenAt) != domain.SessionIdle || got.UserAgent != "Test/2.0" {
			o.t.Errorf("after a use: %+v", got)
		}
		old := made.CreatedAt.Add(-domain.SessionLifetime + time.Hour)
		o.exec(`UPDATE sessions SET created_at = $1, seen_at = $1, expires_at = $2`, old, made.CreatedAt.Add(time.Minute))
		o.find("token")
		if got := one(); !got.ExpiresAt.Equal(old.Add(domain.SessionLifetime)) {
			o.t.Errorf("use prolongs a session past its lifetime: %v", got.ExpiresAt.Sub(old))
		}
		o.exec(`UPDATE sessions SET expires_at = $1`, o.store.Now())
		if _, _, found := o.find("token"); found {
			o.t.Error("found a session that has run out")
		}
		if list, err := o.sessions.List(o.t.Context(), id.Administrator.ID); err != nil || len(list) != 0 {
			o.t.Errorf("listed %d sessions that have run out, %v", len(list), err)
		}
		must(o.t, "sweep", o.sessions.Sweep(o.t.Context()))
		if n := o.count(`SELECT count(*) FROM sessions`); n != 0 {
			o.t.Error("the sweep leaves it")
		}
	})
}

func TestEndSessions(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		ctx := o.t.Context()
		acme, anna := o.settled("anna@x.test")
		bob := o.join(o.caller(acme), "bob@x.test")
		for _, token := range []string{"a1", "a2", "a3"} {
			o.session(anna.Administrator.ID, token)
		}
		o.session(bob.Administrator.ID, "b1")
		theirs, err := o.sessions.List(ctx, bob.Administrator.ID)
		must(o.t, "list", err)
		wantErr(o.t, "end another's", o.sessions.End(ctx, anna.Actor(here), theirs[0].ID), domain.ErrSessionNotFound)
		mine, err := o.sessions.List(ctx, anna.Administrator.ID)
		must(o.t, "list", err)
		must(o.t, "end one", o.sessions.End(ctx, anna.Actor(here), mine[0].ID))
		n, err := o.sessions.EndOthers(ctx, anna.Actor(here), "")
		if err != nil || n != 2 {
			o.t.Errorf("ended %d, %v", n, err)
		}
		if _, _, found := o.find("b1"); !found {
			o.t.Error("another's session ended too")
		}
	})
}

// The library, in front of a server, as the cabinet uses it.
func TestSessionsUnderTheLibrary(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		_, id := o.settled("anna@x.test")
		manager := scs.New()
		manager.Store, manager.Lifetime = o.sessions, domain.SessionLifetime
		mux := http.NewServeMux()
		mux.HandleFunc("/in", func(_ http.ResponseWriter, r *http.Request) {
			if err := manager.RenewToken(r.Context()); err != nil {
				o.t.Error(err)
			}
			o.sessions.Bind(r.Context(), id.Administrator.ID)
			manager.Put(r.Context(), "company", id.Company.ID)
		})
		mux.HandleFunc("/out", func(_ http.ResponseWriter, r *http.Request) {
			if err := manager.Destroy(r.Context()); err != nil {
				o.t.Error(err)
			}
			manager.Put(r.Context(), "message", "You are signed out.")
		})
		mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			if o.sessions.AdministratorID(r.Context()) == id.Administrator.ID && manager.GetInt64(r.Context(), "company") == id.Company.ID {
				w.Header().Set("X-Who", "anna")
			}
		})
		inner := manager.LoadAndSave(mux)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inner.ServeHTTP(w, r.WithContext(o.sessions.Visit(r.Context(), here.Address, r.UserAgent())))
		}))
		defer server.Close()
		jar, err := cookiejar.New(nil)
		must(o.t, "make a jar", err)
		client := &http.Client{Jar: jar}
		defer client.CloseIdleConnections()
		for _, step := range []struct{ path, want string }{{"/", ""}, {"/in", ""}, {"/", "anna"}, {"/in", ""}, {"/", "anna"}, {"/out", ""}, {"/", ""}} {
			res, err := client.Get(server.URL + step.path)
			must(o.t, step.path, err)
			_ = res.Body.Close()
			if got := res.Header.Get("X-Who"); got != step.want || res.StatusCode != http.StatusOK {
				o.t.Errorf("%s: %d, %q", step.path, res.StatusCode, got)
			}
		}
		if list, err := o.sessions.List(o.t.Context(), id.Administrator.ID); err != nil || len(list) != 0 {
			o.t.Errorf("%d sessions left, %v", len(list), err)
		}
	})
}

func TestUserAgentIsCut(t *testing.T) {
	t.Parallel()
	inOffice(t, func(o office) {
		_, id := o.settled("anna@x.test")
		ctx := o.sessions.Visit(o.t.Context(), nowhere, strings.Repeat("é", 300)+"\xff\x00")
		o.sessions.Bind(ctx, id.Administrator.ID)
		must(o.t, "commit", o.sessions.CommitCtx(ctx, "t", []byte("data"), time.Now().Add(time.Hour)))
		list, err := o.sessions.List(o.t.Context(), id.Administrator.ID)
		if err != nil || list[0].UserAgent != strings.Repeat("é", 127) || list[0].Address != "" {
			o.t.Errorf("%+v, %v", list, err)
		}
	})
}
