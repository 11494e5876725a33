package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/coursebridge/coursebridge/internal/cabinet"
	"github.com/coursebridge/coursebridge/internal/delivery"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/platformapi"
	"github.com/coursebridge/coursebridge/internal/publicapi"
	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/server"
	"github.com/coursebridge/coursebridge/internal/service"
)

// ServeConfig is what the server needs beyond the database.
type ServeConfig struct {
	Listen         string
	Webhooks       WebhookConfig
	RateLimit      float64
	RateBurst      int
	ReportLimit    int
	ReportTimeout  time.Duration
	TrustedProxies []string
	// Ready is called once the port is open; nil is fine.
	Ready func(Serving) error
}

// Serving is where a server listens, and where people reach it.
type Serving struct {
	Address string `json:"address"`
	URL     string `json:"url"`
}

// WebhookConfig is how webhooks are sent.
type WebhookConfig struct {
	AllowPrivate bool
	AllowHTTP    bool
	RetryDelays  string
	Timeout      time.Duration
	UseProxy     bool
	MaxDueAge    time.Duration
	Retention    time.Duration
}

func (wc WebhookConfig) guard() delivery.Guard {
	return delivery.Guard{AllowPrivate: wc.AllowPrivate, AllowHTTP: wc.AllowHTTP}
}

// Serve opens the database and serves until ctx ends.
func Serve(ctx context.Context, c Config, sc ServeConfig) error {
	if err := preflight(ctx, sc); err != nil {
		return err
	}
	a, err := Open(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(a.Serve(ctx, sc), a.Close())
}

// Serve serves on an open database until ctx ends. It stops in the order that
// loses nothing: no new requests, then deliveries, then background work.
func (a *App) Serve(ctx context.Context, sc ServeConfig) error {
	if os.Getenv("GOGC") == "" {
		// The live heap is a few megabytes, so the usual 100 would collect many
		// times a second under load.
		debug.SetGCPercent(400)
	}
	if a.keyFile == "" && a.config.SecretKey == "" {
		a.log.Warn("no secret key is set: webhook secrets are kept so that whoever reads the database can read them",
			"hint", "set "+secret.Env+" to 32 random bytes, the same on every replica")
	}
	p, err := a.build(sc)
	if err != nil {
		return err
	}
	if err := p.server.Listen(); err != nil {
		return err
	}
	address := p.server.Addr().String()
	if err := a.rememberPublicURL(ctx, a.address(address)); err != nil {
		return fmt.Errorf("remember the public address: %w", err)
	}
	stopWork, err := a.start(ctx, p)
	if err != nil {
		return err
	}
	a.log.Info("serving", "address", address, "public", a.address(address), "engine", a.store.Engine().Name(), "version", a.config.Version)
	if sc.Ready != nil {
		if err := sc.Ready(Serving{Address: address, URL: a.address(address)}); err != nil {
			return errors.Join(err, stopWork())
		}
	}
	served, late := make(chan error, 1), make(chan struct{})
	go func() { served <- p.server.Run(ctx) }()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(requestGrace, func() { close(late) }) })()
	select {
	case err = <-served:
		return errors.Join(err, stopWork())
	case <-late:
		return errors.Join(stopWork(), <-served)
	}
}

// requestGrace is how long deliveries wait for the last requests when the program
// stops; requests that hang longer share the rest of the time with them.
const requestGrace = 5 * time.Second

// address is where people reach a server that listens there.
func (a *App) address(listening string) string {
	if a.config.PublicURL != "" {
		return strings.TrimRight(a.config.PublicURL, "/")
	}
	return "http://" + listening
}

// parts are what Serve starts and stops.
type parts struct {
	server     *server.Server
	dispatcher *delivery.Dispatcher
	sender     *delivery.Sender
	webhooks   *service.Webhooks
	sessions   *service.Sessions
}

func (a *App) build(sc ServeConfig) (*parts, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := server.RegisterDatabase(registry, a.databaseStats); err != nil {
		return nil, fmt.Errorf("register database metrics: %w", err)
	}
	p := &parts{sessions: service.NewSessions(a.store)}
	if err := a.buildDelivery(p, sc.Webhooks, registry); err != nil {
		return nil, err
	}
	mounts, err := a.mounts(p, sc)
	if err != nil {
		return nil, err
	}
	proxies, err := sc.proxies()
	if err != nil {
		return nil, err
	}
	p.server, err = server.New(server.Options{
		Listen: sc.Listen, Mounts: mounts, Checks: a.checks(p, sc.Webhooks), Log: a.log, Registry: registry, TrustedProxies: proxies,
		HTTPS: strings.HasPrefix(a.config.PublicURL, "https://"),
	})
	return p, err
}

func (a *App) databaseStats() server.DatabaseStats {
	s := a.store.Engine().Stats()
	return server.DatabaseStats{Max: s.Open, Open: s.Open, InUse: s.InUse, Idle: s.Idle, Waits: s.WaitCount, Waited: s.WaitDuration}
}

// apiService is the use cases that the two APIs offer.
type apiService struct {
	*service.Learning
	tokens    *service.Tokens
	companies *service.Companies
}

func (s apiService) Authenticate(ctx context.Context, bearer string, from netip.Addr) (domain.Token, error) {
	return s.tokens.Authenticate(ctx, bearer, from)
}

func (s apiService) AuthenticatePlatform(ctx context.Context, bearer string) (domain.PlatformToken, error) {
	return s.tokens.AuthenticatePlatform(ctx, bearer)
}

func (s apiService) Companies(ctx context.Context, p domain.PageRequest) (domain.Page[domain.Company], error) {
	return s.companies.List(ctx, p)
}

func (a *App) mounts(p *parts, sc ServeConfig) ([]server.Mount, error) {
	svc := apiService{Learning: a.learning, tokens: a.tokens, companies: a.companies}
	var limiter publicapi.Limiter
	if sc.RateLimit > 0 && sc.RateBurst > 0 {
		limiter = server.NewLimiter(sc.RateLimit, sc.RateBurst)
	}
	reports := service.NewReports(a.store, service.ReportOptions{
		Time: sc.ReportTimeout, PerCompany: sc.ReportLimit, Total: service.DefaultReportOptions.Total,
	})
	public := publicapi.New(svc, reports, publicapi.Options{Limiter: limiter})
	platform := platformapi.New(svc, platformapi.Options{})
	pages := a.cabinet(p, reports, sc.Webhooks)
	return []server.Mount{
		{Prefix: "/api/v1", Handler: public, API: true},
		{Prefix: "/platform/v1", Handler: platform, API: true},
		{Prefix: "/cabinet", Handler: pages},
		{Prefix: "/docs", Handler: pages.Docs()},
		{Prefix: "/", Handler: http.RedirectHandler("/cabinet", http.StatusFound)},
	}, nil
}

func (a *App) cabinet(p *parts, reports *service.Reports, wc WebhookConfig) *cabinet.Cabinet {
	return cabinet.New(cabinet.Options{
		SignIn:   service.NewSignIn(a.store, a.box, service.SignInOptions{Now: a.store.Now}),
		Sessions: p.sessions, Companies: a.companies, Administrators: a.administrators, Tokens: a.tokens,
		Webhooks: p.webhooks, Audit: service.NewAudit(a.store), Reports: reports,
		PublicURL: func() string { return a.address(p.server.Addr().String()) },
		Secure:    strings.HasPrefix(a.config.PublicURL, "https://"), AllowHTTP: wc.AllowHTTP, Now: a.store.Now, Log: a.log,
	})
}

func (a *App) checks(p *parts, wc WebhookConfig) []server.Check {
	return []server.Check{
		{Name: "database", Run: a.store.Engine().Ping},
		{Name: "migrations", Run: a.store.Engine().Migrated},
		{Name: "deliveries", Run: func(ctx context.Context) error {
			if wc.MaxDueAge <= 0 {
				return nil
			}
			age, err := p.dispatcher.OldestDue(ctx)
			if err == nil && age > wc.MaxDueAge {
				err = fmt.Errorf("the oldest due delivery has waited for %s", age.Round(time.Second))
			}
			return err
		}},
	}
}

func (a *App) buildDelivery(p *parts, wc WebhookConfig, registry *prometheus.Registry) error {
	schedule, err := wc.schedule()
	if err != nil {
		return err
	}
	metrics, err := delivery.NewMetrics(registry)
	if err != nil {
		return fmt.Errorf("register delivery metrics: %w", err)
	}
	p.sender = a.newSender(wc)
	p.webhooks = service.NewWebhooks(a.store, delivery.NewProber(p.sender), a.box, service.WebhookOptions{Retention: wc.Retention, Log: a.log})
	config := delivery.DispatcherConfig{
		Queue: a.store, Bus: a.store.Engine(), Secrets: a.box, Sender: p.sender, Schedule: schedule, Metrics: metrics, Log: a.log,
	}
	if a.store.Engine().Name() == "sqlite" {
		config.Poll = time.Second // an operator's command is another process, which can't wake this one
	}
	p.dispatcher = delivery.NewDispatcher(config)
	return nil
}

func (a *App) newSender(wc WebhookConfig) *delivery.Sender {
	config := delivery.Config{
		Guard:     wc.guard(),
		UserAgent: "coursebridge/" + a.config.Version, Timeout: wc.Timeout, Now: a.store.Now,
	}
	if wc.UseProxy {
		config.Proxy = http.ProxyFromEnvironment
	}
	return delivery.NewSender(config)
}

// start begins the work that no request waits for, and gives what ends it.
func (a *App) start(ctx context.Context, p *parts) (stop func() error, err error) {
	a.store.OnDeliveries(p.dispatcher.Wake)
	if err := p.dispatcher.Start(ctx); err != nil {
		return nil, err
	}
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { a.learning.Run(work, a.log) })
	wg.Go(func() { a.watcher.Run(work) })
	wg.Go(func() { a.tokens.Run(work) })
	wg.Go(func() { p.webhooks.Run(work) })
	wg.Go(func() { a.every(work, sessionSweep, "sweep sessions", p.sessions.Sweep) })
	wg.Go(func() { a.every(work, tending, "tend the database", a.store.Engine().AnalyzeGrownTables) })
	wg.Go(func() { a.every(work, courseStamping, "stamp renamed courses", a.store.StampRenamedCourses) })
	return func() error {
		grace, done := context.WithTimeout(context.Background(), stopGrace)
		defer done()
		err := p.dispatcher.Stop(grace)
		cancel()
		wg.Wait()
		p.sender.Close()
		return err
	}, nil
}

const (
	sessionSweep = 10 * time.Minute
	tending      = 3 * time.Second
	// courseStamping is how soon another process continues what a rename began.
	courseStamping = time.Second
)

// every repeats background work until ctx ends.
func (a *App) every(ctx context.Context, interval time.Duration, name string, do func(context.Context) error) {
	service.Periodic{Name: name, Every: interval, Log: a.log, Do: do}.Run(ctx)
}

// stopGrace is how long attempts under way may take when the program stops.
const stopGrace = 3 * time.Second
