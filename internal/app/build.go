package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"github.com/coursebridge/coursebridge"
	"github.com/coursebridge/coursebridge/internal/cabinet"
	"github.com/coursebridge/coursebridge/internal/delivery"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/platformapi"
	"github.com/coursebridge/coursebridge/internal/publicapi"
	"github.com/coursebridge/coursebridge/internal/server"
	"github.com/coursebridge/coursebridge/internal/service"
)

// parts are what Serve starts and stops.
type parts struct {
	registry   *prometheus.Registry
	server     *server.Server
	background *background
	dispatcher *delivery.Dispatcher
	sender     *delivery.Sender
	webhooks   *service.Webhooks
	sessions   *service.Sessions
	requests   *service.Requests
	reports    *service.Reports
	webhookOff bool
	retention  Retention
	tracer     trace.Tracer // nil if nothing is traced
	notes      []string     // shown by /readyz?verbose
}

func (a *App) build(sc ServeConfig, tracer trace.Tracer) (*parts, error) {
	p := &parts{tracer: tracer, registry: prometheus.NewRegistry(), sessions: service.NewSessions(a.store), webhookOff: sc.Webhooks.Off, retention: sc.Retention}
	p.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := errors.Join(a.registerMetrics(p.registry), a.registerReplicaMetrics(p.registry)); err != nil {
		return nil, err
	}
	var err error
	if p.background, err = newBackground(a.log, p.registry); err != nil {
		return nil, err
	}
	if err := a.buildDelivery(p, sc.Webhooks); err != nil {
		return nil, err
	}
	p.requests = service.NewRequests(a.store, sc.Retention.Requests > 0, p.background.log)
	proxies, err := prefixes("trusted-proxy", sc.TrustedProxies)
	if err != nil {
		return nil, err
	}
	allow, err := prefixes("metrics-allow", sc.Inspect.MetricsAllow)
	if err != nil {
		return nil, err
	}
	p.server, err = server.New(server.Options{
		Listen: sc.Listen, TLSCert: sc.TLSCert, TLSKey: sc.TLSKey, Mounts: a.mounts(p, sc), Checks: a.checks(p, sc.Webhooks), Notes: func() []string { return append(slices.Clip(p.notes), a.replicaNotes()...) },
		Log: a.log, Registry: p.registry, TrustedProxies: proxies, HTTPS: a.https(),
		MetricsAllow: allow, HideMetrics: sc.Inspect.MetricsListen != "",
		ShutdownDelay: sc.Stop.Delay, DrainTimeout: sc.Stop.Drain, Tracer: tracer, LargeBodies: largeBodies(),
	})
	return p, err
}

// largeBodies is how many large request bodies the server holds at once.
func largeBodies() int {
	if lowMemory() {
		return server.DefaultLargeBodies / 2
	}
	return server.DefaultLargeBodies
}

// lowMemory reports whether the process may use less than 1 GiB.
func lowMemory() bool { return debug.SetMemoryLimit(-1) < 1<<30 }

// https reports whether people reach the service over https.
func (a *App) https() bool { return strings.HasPrefix(a.address(""), "https://") }

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

func (a *App) mounts(p *parts, sc ServeConfig) []server.Mount {
	svc := apiService{Learning: a.learning, tokens: a.tokens, companies: a.companies}
	var limiter publicapi.Limiter
	if sc.RateLimit > 0 && sc.RateBurst > 0 {
		limiter = server.NewLimiter(sc.RateLimit, sc.RateBurst)
	}
	p.reports = service.NewReports(a.store, service.ReportOptions{
		Timeout: sc.ReportTimeout, PerCompany: sc.ReportLimit, Total: a.reportsAtOnce(sc.MemoryLimit),
	})
	public := publicapi.New(svc, p.reports, publicapi.Options{Limiter: limiter, PublicURL: strings.TrimRight(a.config.PublicURL, "/")})
	platform := platformapi.New(svc, platformapi.Options{})
	pages := a.cabinet(p, sc)
	mounts := []server.Mount{
		{Prefix: "/api/v1", Handler: public, API: true, Served: a.recordRequest(p.requests)},
		{Prefix: "/platform/v1", Handler: platform, API: true},
		{Prefix: "/cabinet", Handler: pages},
		{Prefix: "/cabinet/employees/import", Handler: pages, MaxBody: cabinet.MaxUpload},
		{Prefix: "/docs", Handler: pages.Docs()},
		{Prefix: "/docs/api", Handler: pages.Explorer()},
		{Prefix: "/", Handler: http.RedirectHandler("/cabinet", http.StatusFound)},
	}
	if sc.extra != nil {
		mounts = append(mounts, sc.extra(pages)...)
	}
	return mounts
}

// recordRequest returns the function that notes a call of the public API in the
// company's log of requests, or nil if there is none.
func (a *App) recordRequest(log *service.Requests) func(server.Served) {
	if !log.On() {
		return nil
	}
	return func(s server.Served) {
		call := service.APICall{
			APIRequest: domain.APIRequest{
				CompanyID: s.Info.CompanyID, TokenID: s.Info.TokenID, At: a.store.Now(), Method: s.Method, Route: s.Info.Route, Status: s.Status,
				Duration: s.Duration, RequestID: s.Info.RequestID, Code: s.Info.Code,
			},
			Bodies:  s.Info.RequestBodies,
			Failure: domain.FailedRequest{Body: s.Info.Body, Subject: s.Info.Subject, Message: s.Info.Message},
		}
		log.Record(call)
	}
}

// reportsAtOnce returns how many reports may run in all. One takes about 15 MiB
// and, on PostgreSQL, a connection: half of the pool stays free for requests.
func (a *App) reportsAtOnce(memoryLimit int64) int {
	total := service.DefaultReportOptions.Total
	if engine := a.store.Engine(); engine.Name() == "postgres" {
		total = min(total, max(1, engine.Stats().Max/2))
	}
	if memoryLimit > 0 && memoryLimit < gibibyte {
		total = min(total, 4)
	}
	return total
}

func (a *App) cabinet(p *parts, sc ServeConfig) *cabinet.Cabinet {
	return cabinet.New(cabinet.Options{
		SignIn: service.NewSignIn(a.store, a.box, service.SignInOptions{
			Now: a.store.Now, Cost: a.config.PasswordCost, MemoryLimit: debug.SetMemoryLimit(-1),
		}),
		Sessions: p.sessions, Companies: a.companies, Administrators: a.administrators, Learning: a.learning, Tokens: a.tokens,
		Imports:  a.imports,
		Webhooks: p.webhooks, Audit: service.NewAudit(a.store), Reports: p.reports, Jobs: a.jobs, Requests: p.requests,
		Bulk: a.bulk, Assigning: a.assigning, People: a.people, SavedViews: service.NewSavedViews(a.store),
		Documents: coursebridge.Documents,
		PublicURL: func() string { return a.address(p.server.Addr().String()) },
		Secure:    a.https(), AllowHTTP: sc.Webhooks.AllowHTTP, Now: a.store.Now, Log: a.log,
		LowMemory: lowMemory(),
	})
}

func (a *App) checks(p *parts, wc WebhookConfig) []server.Check {
	checks := []server.Check{
		{Name: "database", Run: a.store.Engine().Ping},
		{Name: "connections", Run: a.checkSaturation},
		{Name: "migrations", Run: a.store.Engine().CheckSchema},
	}
	if wc.MaxDueAge > 0 && !wc.Off {
		checks = append(checks, server.Check{Name: "deliveries", Run: func(ctx context.Context) error {
			age, err := p.dispatcher.OldestDue(ctx)
			if err == nil && age > wc.MaxDueAge {
				err = fmt.Errorf("the oldest due delivery has waited for %s", age.Round(time.Second))
			}
			return err
		}})
	}
	return checks
}

// saturationTime is how long all connections must be in use for the pool to count as
// saturated; shorter peaks are normal.
const saturationTime = time.Second

// checkSaturation returns an error if all connections of the pool stay in use, so that
// requests wait for them. The database itself may be healthy.
func (a *App) checkSaturation(ctx context.Context) error {
	const pause = 50 * time.Millisecond
	for began := time.Now(); ; {
		stats := a.store.Engine().Stats()
		switch {
		case stats.InUse < stats.Max:
			return nil
		case time.Since(began) >= saturationTime:
			return fmt.Errorf("all %d connections of the pool have been in use for %s", stats.Max, saturationTime)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (a *App) buildDelivery(p *parts, wc WebhookConfig) error {
	schedule, err := wc.schedule()
	if err != nil {
		return err
	}
	metrics, err := delivery.NewMetrics(p.registry)
	if err != nil {
		return fmt.Errorf("register delivery metrics: %w", err)
	}
	p.sender = a.newSender(wc, p.tracer)
	p.webhooks = a.newWebhooks(p.sender, p.retention.Events, p.background.log)
	config := delivery.DispatcherConfig{
		CancellerConfig: delivery.CancellerConfig{Queue: a.store, Bus: a.store.Engine(), Log: p.background.log, AttemptTimeout: wc.Timeout},
		Secrets:         a.box, Sender: p.sender, Schedule: schedule, Metrics: metrics,
	}
	if a.store.Engine().Name() == "sqlite" || a.config.TransactionPooler && a.config.DatabaseDirect == "" {
		config.Poll = time.Second / 2 // an operator's command is another process, which cannot always wake this one
	}
	p.dispatcher = delivery.NewDispatcher(config)
	return a.registerWebhookMetrics(p.registry, p.dispatcher)
}

func (a *App) newSender(wc WebhookConfig, tracer trace.Tracer) *delivery.Sender {
	config := delivery.Config{
		Guard:     wc.guard(),
		UserAgent: "coursebridge/" + a.config.Version, Timeout: wc.Timeout, Now: a.store.Now, Tracer: tracer,
	}
	switch {
	case wc.Off: // test events fail with this sentence
		config.Proxy = func(*http.Request) (*url.URL, error) {
			return nil, &delivery.TargetError{Message: "This server sends no webhooks (--no-webhooks, or a restored database)."}
		}
	case wc.UseProxy:
		config.Proxy = http.ProxyFromEnvironment
	}
	return delivery.NewSender(config)
}

func (a *App) newWebhooks(sender *delivery.Sender, retention time.Duration, log *slog.Logger) *service.Webhooks {
	return service.NewWebhooks(a.store, sender, a.box, service.WebhookOptions{Retention: retention, Log: log})
}
