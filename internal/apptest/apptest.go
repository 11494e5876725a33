// Package apptest starts the whole program inside a test, on a free port and with
// a database of its own. It is for tests only.
package apptest

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// Program is the running program.
type Program struct {
	*app.App
	URL      string // http://127.0.0.1:port
	Database string
	Log      *Log
}

// Options change how the program is started; zero fields keep the defaults.
type Options struct {
	Database string // a new SQLite file when empty
	Serve    func(*app.ServeConfig)
	Config   func(*app.Config)
}

// Each starts the program once per engine.
func Each(t *testing.T, o Options, fn func(t *testing.T, p *Program)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		o := o
		o.Database = storetest.SQLite(t)
		fn(t, Start(t, o))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		o := o
		o.Database = storetest.Postgres(t)
		fn(t, Start(t, o))
	})
}

// cheapPassword has the least cost. Password hashes of the default cost took a third
// of the time of internal/cabinet.
var cheapPassword = service.PasswordCost{Memory: 64, Passes: 1, Threads: 1}

// Start runs the program until the test ends, with settings that suit tests: no
// rate limit, quick retries, webhooks to this machine, cheap passwords.
func Start(tb testing.TB, o Options) *Program {
	tb.Helper()
	if o.Database == "" {
		o.Database = storetest.SQLite(tb)
	}
	log := &Log{}
	config := app.Config{Database: o.Database, Create: true, Version: "test", LogTo: log, LogLevel: "info", LogFormat: "json",
		PasswordCost: cheapPassword}
	if pgtest.UsePooler() && strings.HasPrefix(o.Database, "postgres") {
		config.Database, config.TransactionPooler = pgtest.Pooler(tb, o.Database), true
	}
	if o.Config != nil {
		o.Config(&config)
	}
	a, err := app.Open(tb.Context(), config)
	if err != nil {
		tb.Fatalf("open the program: %v", err)
	}
	serve := app.ServeConfig{
		Listen: []string{"127.0.0.1:0"},
		Webhooks: app.WebhookConfig{
			AllowPrivate: true, AllowHTTP: true, RetryDelays: "100ms,100ms,100ms,100ms,100ms", Timeout: 5 * time.Second,
		},
		Retention:   app.Retention{Events: 30 * 24 * time.Hour},
		ReportLimit: 4, ReportTimeout: time.Minute,
	}
	if o.Serve != nil {
		o.Serve(&serve)
	}
	p := &Program{App: a, Database: o.Database, Log: log}
	p.run(tb, serve)
	return p
}

func (p *Program) run(tb testing.TB, serve app.ServeConfig) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ready, done := make(chan string, 1), make(chan error, 1)
	serve.Ready = func(s app.Serving) error {
		ready <- s.Address
		return nil
	}
	go func() { done <- p.Serve(ctx, serve) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Errorf("stop the program: %v", err)
		}
		if err := p.Close(); err != nil {
			tb.Errorf("close the program: %v", err)
		}
	})
	select {
	case address := <-ready:
		p.URL = "http://" + address
	case err := <-done:
		done <- err
		tb.Fatalf("start the program: %v", err)
	case <-time.After(30 * time.Second):
		tb.Fatal("the program is not ready after 30 s")
	}
}

// Log collects the log lines of the program.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

var _ io.Writer = (*Log)(nil)

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
