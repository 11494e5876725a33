// Package app is the wiring: it builds every part from the configuration, runs
// and closes them, and offers the operator's commands. Tests start this same
// program. Rules and formats live in the parts, not here.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/delivery"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store"
)

// keySuffix is what the key file's name has more than the database's.
const keySuffix = ".key"

const defaultPublicURL = "http://127.0.0.1:8080"

// Config is what every command needs.
type Config struct {
	Database  string
	SecretKey string
	PublicURL string
	Version   string
	LogTo     io.Writer
	LogLevel  string
	LogFormat string
}

// App is an open database with the use cases on it.
type App struct {
	config Config
	log    *slog.Logger
	store  *store.Store
	box    *secret.Box
	// keyFile is of the secrets of SQLite; PostgreSQL's replicas share no file.
	keyFile string

	watcher        *service.Watcher
	learning       *service.Learning
	companies      *service.Companies
	tokens         *service.Tokens
	administrators *service.Administrators
}

// Open connects to the database, migrates it and builds the use cases.
func Open(ctx context.Context, c Config) (*App, error) {
	log, err := newLogger(c)
	if err != nil {
		return nil, err
	}
	if u, err := url.Parse(c.PublicURL); c.PublicURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("the public address must be a URL such as https://learning.example.com, not %q", c.PublicURL)
	}
	s, err := store.Open(ctx, c.Database)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	a := &App{config: c, log: log, store: s}
	s.OnDeliveries(a.tell)
	if err := a.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	a.watcher = service.NewWatcher(s, service.WatcherOptions{})
	a.learning = service.NewLearning(s, a.watcher)
	a.companies = service.NewCompanies(s, 0)
	a.tokens = service.NewTokens(s, a.watcher, service.TokenOptions{Now: s.Now, Log: log})
	a.administrators = service.NewAdministrators(s, 0)
	return a, nil
}

func (a *App) prepare(ctx context.Context) error {
	if err := a.store.Engine().Migrate(ctx); err != nil {
		return fmt.Errorf("prepare the database: %w", err)
	}
	options := secret.Options{Key: a.config.SecretKey}
	if path, ok := strings.CutPrefix(a.config.Database, "sqlite://"); ok {
		a.keyFile = path + keySuffix
	}
	options.File, options.Bare = a.keyFile, a.keyFile == ""
	var err error
	a.box, err = secret.Open(ctx, a.store, options)
	return err
}

// tell lets the servers on this database send at once what a command has made due.
func (a *App) tell(keys []domain.EndpointKey) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := delivery.Tell(ctx, a.store.Engine(), keys); err != nil {
		a.log.Warn("tell the servers of due deliveries; they find them by themselves soon", "error", err)
	}
}

// Close ends what Open began.
func (a *App) Close() error {
	return errors.Join(a.tokens.Close(), a.store.Close())
}

// operator is who runs commands on this machine.
func operator() domain.Actor {
	label := "operator"
	if user := os.Getenv("USER"); user != "" {
		label += " " + user
	}
	return domain.Actor{Kind: domain.ActorOperator, Label: label}
}

func (a *App) caller(ctx context.Context, company int64) (domain.Caller, error) {
	c, err := a.companies.Get(ctx, company)
	return domain.Caller{Company: c, Actor: operator()}, err
}

const publicURLSetting = "public_url"

// publicURL is where people reach the service: as given, or as the server that
// last ran on this database was told.
func (a *App) publicURL(ctx context.Context) (string, error) {
	if a.config.PublicURL != "" {
		return strings.TrimRight(a.config.PublicURL, "/"), nil
	}
	stored, err := a.store.Setting(ctx, publicURLSetting)
	if err != nil {
		return "", err
	}
	if len(stored) == 0 {
		return defaultPublicURL, nil
	}
	return string(stored), nil
}

// rememberPublicURL lets commands print links that lead to this server.
func (a *App) rememberPublicURL(ctx context.Context, address string) error {
	now, err := a.store.SettingOnce(ctx, publicURLSetting, []byte(address))
	if err != nil || string(now) == address {
		return err
	}
	_, err = a.store.SwapSetting(ctx, publicURLSetting, now, []byte(address))
	return err
}

// OneLine gives what an operator should read of an error.
func OneLine(err error) string {
	var known *domain.Error
	if errors.As(err, &known) && known.Code != domain.CodeUnavailable {
		return known.Message
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

func newLogger(c Config) (*slog.Logger, error) {
	var level slog.Level
	if c.LogLevel != "" {
		if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
			return nil, fmt.Errorf("read the log level: %w", err)
		}
	}
	to := c.LogTo
	if to == nil {
		to = os.Stderr
	}
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(to, options)), nil
	}
	return slog.New(slog.NewJSONHandler(to, options)), nil
}
