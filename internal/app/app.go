// Package app is the wiring: it builds every part from the configuration, runs
// and closes them, and offers the operator's commands. Tests start this same
// program. Rules and formats live in the parts, not here.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	_ "time/tzdata" // a scratch image has no time zones of its own

	"github.com/coursebridge/coursebridge/internal/delivery"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store"
)

// keySuffix is appended to the database's path to name its key file.
const keySuffix = ".key"

// App is an open database with the use cases on it.
type App struct {
	config Config
	log    *slog.Logger
	level  *slog.LevelVar // of log
	store  *store.Store
	box    *secret.Box
	// keyFile is the path of SQLite's key file; it is empty on PostgreSQL, whose
	// replicas share no file.
	keyFile string
	tls     bool // the server itself encrypts connections

	watcher        *service.Watcher
	learning       *service.Learning
	companies      *service.Companies
	tokens         *service.Tokens
	administrators *service.Administrators
	jobs           *service.Jobs
	bulk           *service.BulkActions
	assigning      *service.Assigning
	people         *service.PeopleActions
	imports        *service.Imports
}

// Open connects to the database and builds the use cases. With c.Create it
// creates or migrates the schema; without it a missing or outdated schema is an
// error.
func Open(ctx context.Context, c Config) (*App, error) {
	to := &lockedWriter{to: cmp.Or[io.Writer](c.LogTo, os.Stderr)}
	log, level, err := newLogger(c, to)
	if err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	a := &App{config: c, log: log, level: level}
	if path, ok := sqlitePath(c.Database); ok {
		a.keyFile = path + keySuffix
	}
	if err := a.waitForDatabase(ctx); err != nil {
		return nil, err
	}
	a.store.LogTo(log)
	a.store.OnDeliveries(a.notifyServers)
	a.watcher = service.NewWatcher(a.store, service.WatcherOptions{})
	a.learning = service.NewLearning(a.store, a.watcher)
	a.companies = service.NewCompanies(a.store, 0)
	a.tokens = service.NewTokens(a.store, a.watcher, service.TokenOptions{Now: a.store.Now, Log: log})
	a.administrators = service.NewAdministrators(a.store, 0)
	a.jobs = service.NewJobs(a.store, log)
	a.bulk, a.assigning = service.NewBulkActions(a.store, a.jobs), service.NewAssigning(a.store, a.jobs)
	a.people, a.imports = service.NewPeopleActions(a.store, a.jobs), service.NewImports(a.store, a.jobs)
	return a, nil
}

// openBox opens the box that encrypts secrets at rest.
func (a *App) openBox(ctx context.Context) error {
	var err error
	a.box, err = secret.Open(ctx, a.store, a.boxOptions())
	return err
}

// boxOptions names the operator's key.
func (a *App) boxOptions() secret.Options {
	return secret.Options{Key: a.config.SecretKey, File: a.keyFile, AllowUnprotected: a.keyFile == ""}
}

// notifyServers wakes the servers on this database when a command has made
// deliveries due.
func (a *App) notifyServers(keys []domain.EndpointKey) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := delivery.Notify(ctx, a.store.Engine(), keys); err != nil {
		a.log.Warn("the servers were not notified of due deliveries; they find them when they poll next", "error", err)
	}
}

// Close closes what Open opened.
func (a *App) Close() error {
	return errors.Join(a.tokens.Close(), a.store.Close())
}

// operator returns the actor of commands that are run on this machine.
func operator() domain.Actor {
	label := "operator"
	if user := os.Getenv("USER"); user != "" {
		label += " " + user
	}
	return domain.Actor{Kind: domain.ActorOperator, Label: label}
}

// caller returns the operator acting for a company.
func (a *App) caller(ctx context.Context, company int64) (domain.Caller, error) {
	c, err := a.companies.Get(ctx, company)
	return domain.Caller{Company: c, Actor: operator()}, err
}

// OneLine returns the part of an error that an operator should read.
func OneLine(err error) string {
	var known *domain.Error
	if errors.As(err, &known) && known.Code != domain.CodeUnavailable {
		return known.Message
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// lockedWriter allows concurrent writes.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

const textFormat = "text" // of the log; the other format is JSON

// newLogger returns a logger and its level, which can be changed later.
func newLogger(c Config, to io.Writer) (*slog.Logger, *slog.LevelVar, error) {
	level := &slog.LevelVar{}
	if c.LogLevel != "" {
		if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
			return nil, nil, fmt.Errorf("read the log level: %w", err)
		}
	}
	if c.LogFormat == textFormat {
		return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: level})), level, nil
	}
	return slog.New(newJSONHandler(to, level)), level, nil
}
