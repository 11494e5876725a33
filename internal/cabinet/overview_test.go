package cabinet_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// countingEngine counts the statements that read.
type countingEngine struct {
	db.Engine
	statements atomic.Int64
}

func (e *countingEngine) Read(ctx context.Context, fn func(db.Conn) error) error {
	return e.Engine.Read(ctx, func(c db.Conn) error { return fn(countingConn{c, e}) })
}

type countingConn struct {
	db.Conn
	engine *countingEngine
}

func (c countingConn) Query(ctx context.Context, sql string, args ...any) (db.Rows, error) {
	c.engine.statements.Add(1)
	return c.Conn.Query(ctx, sql, args...)
}

func (c countingConn) Send(ctx context.Context, b *db.Batch) error {
	c.engine.statements.Add(int64(len(b.Items)))
	return c.Conn.Send(ctx, b)
}

// plainBox stands in for the secret box: it does not encrypt.
type plainBox struct{}

func (plainBox) Seal(_ string, plain []byte) []byte           { return plain }
func (plainBox) Open(_ string, sealed []byte) ([]byte, error) { return sealed, nil }
func (b plainBox) OpenUntrusted(label string, sealed []byte) ([]byte, error) {
	return b.Open(label, sealed)
}

func TestFirstPagesSendAFixedNumberOfStatements(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, plain *store.Store) {
		engine := &countingEngine{Engine: plain.Engine()}
		s := store.New(engine)
		companies := service.NewCompanies(s, 0)
		watcher := service.NewWatcher(s, service.WatcherOptions{})
		tokens := service.NewTokens(s, watcher, service.TokenOptions{})
		t.Cleanup(func() { _ = tokens.Close() })
		operator := domain.Actor{Kind: domain.ActorOperator}
		company, link, err := companies.Create(t.Context(), operator, domain.NewCompany{Name: "Acme", AdminEmail: admin})
		if err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.DiscardHandler)
		pages := cabinet.New(cabinet.Options{
			SignIn: service.NewSignIn(s, plainBox{}, service.SignInOptions{}), Sessions: service.NewSessions(s), Companies: companies,
			Administrators: service.NewAdministrators(s, 0), Tokens: tokens, Learning: service.NewLearning(s, watcher), Jobs: service.NewJobs(s, log),
			Webhooks:  service.NewWebhooks(s, nil, plainBox{}, service.WebhookOptions{}),
			PublicURL: func() string { return "" }, Now: s.Now, Log: log,
		})
		server := httptest.NewServer(pages)
		t.Cleanup(server.Close)
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Jar: jar}
		form := url.Values{"password": {password}, "repeat": {password}}
		if _, err := client.PostForm(server.URL+view.PathSignInLink(link), form); err != nil {
			t.Fatal(err)
		}
		count := func(endpoints int) (overview, home int64) {
			for n := range endpoints {
				in := domain.EndpointInput{URL: fmt.Sprintf("https://hr.example/%d", n), Events: domain.EventKinds}
				if _, err := s.AddEndpoint(t.Context(), domain.Caller{Company: company, Actor: operator}, in, []byte("secret")); err != nil {
					t.Fatal(err)
				}
			}
			v := &visitor{fixture: fixture{T: t}, client: client, base: server.URL}
			// A cache that has become too old in between adds statements, so the least of a few counts.
			overview, home = math.MaxInt64, math.MaxInt64
			for range 5 {
				before := engine.statements.Load()
				v.get(view.PathOverview).wantStatus(http.StatusOK).wantText("Getting started")
				between := engine.statements.Load()
				v.get(view.PathHome).wantStatus(http.StatusOK).wantText("Getting started")
				overview, home = min(overview, between-before), min(home, engine.statements.Load()-between)
			}
			return overview, home
		}
		one, oneHome := count(1)
		many, manyHome := count(40)
		if one != many || many > 12 {
			t.Errorf("%d statements with 1 webhook, %d with 41; want the same number, at most 12", one, many)
		}
		if oneHome != manyHome || manyHome > 20 {
			t.Errorf("Home: %d statements with 1 webhook, %d with 41; want the same number, at most 20", oneHome, manyHome)
		}
	})
}
