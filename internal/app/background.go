package app

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/service"
)

const (
	sessionSweep    = 10 * time.Minute
	analyzeInterval = 3 * time.Second
	// courseStamping is how soon another process continues what a rename began.
	courseStamping = time.Second
	// nameFolding is how often rows are looked for that an older program wrote.
	nameFolding = 10 * time.Second
	// totalFolding is how often the pending changes of totals are added up: a list
	// reads those that are left.
	totalFolding = time.Second
	// dayFigures is how often companies are looked for that lack the figures of the day.
	dayFigures = 10 * time.Minute
	// stopGrace is how long running delivery attempts may take when the program stops.
	stopGrace = 3 * time.Second
	// stopWorkTime is how long other background work may take to end. A stop begins up to
	// 5 s after the signal and must end within 10.
	stopWorkTime = 4 * time.Second
)

// background runs work that no request waits for and counts its errors.
type background struct {
	log *slog.Logger
	wg  sync.WaitGroup
}

func newBackground(log *slog.Logger, registry prometheus.Registerer) (*background, error) {
	errors := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "coursebridge_background_errors_total", Help: "Warnings and errors that background work has logged.",
	})
	if err := registry.Register(errors); err != nil {
		return nil, fmt.Errorf("register background metrics: %w", err)
	}
	return &background{log: slog.New(countingHandler{log.Handler(), errors})}, nil
}

// countingHandler counts the warnings and errors that are logged through it.
type countingHandler struct {
	slog.Handler
	errors prometheus.Counter
}

func (h countingHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		h.errors.Inc()
	}
	return h.Handler.Handle(ctx, r)
}

func (h countingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return countingHandler{h.Handler.WithAttrs(attrs), h.errors}
}

func (h countingHandler) WithGroup(name string) slog.Handler {
	return countingHandler{h.Handler.WithGroup(name), h.errors}
}

// every calls do at each interval until ctx ends.
func (b *background) every(ctx context.Context, interval time.Duration, task string, do func(context.Context) error) {
	b.wg.Go(func() { service.Periodic{Name: task, Every: interval, Log: b.log, Do: do}.Run(ctx) })
}

// start begins the background work and returns the function that ends it.
func (a *App) start(ctx context.Context, p *parts) (stop func(), err error) {
	a.store.OnErased(p.dispatcher.StopSending)
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b := p.background
	if p.webhookOff {
		b.wg.Go(func() { p.dispatcher.Listen(work) }) // other replicas may be sending
	} else {
		a.store.OnDeliveries(p.dispatcher.Wake)
		if err := p.dispatcher.Start(ctx); err != nil {
			cancel()
			return nil, err
		}
	}
	b.wg.Go(func() { a.watcher.Run(work) })
	b.wg.Go(func() { a.learning.Run(work, b.log) })
	b.wg.Go(func() { a.tokens.Run(work) })
	b.wg.Go(func() { a.jobs.Run(work) })
	b.wg.Go(func() { p.webhooks.Run(work) })
	b.wg.Go(func() { p.requests.Run(work) })
	b.wg.Go(func() { p.reports.RunCounts(work, b.log) })
	b.every(work, sessionSweep, "delete expired sessions", p.sessions.Sweep)
	b.every(work, analyzeInterval, "analyze grown tables", a.store.Engine().AnalyzeGrownTables)
	b.every(work, courseStamping, "stamp renamed courses", a.store.StampRenamedCourses)
	b.every(work, nameFolding, "fold names for searches", a.store.FoldNames)
	b.every(work, totalFolding, "fold totals", a.store.FoldTotals)
	b.every(work, dayFigures, "keep the figures of the day", a.store.KeepDayFigures)
	b.every(work, expireInterval, "delete expired rows", func(ctx context.Context) error { return a.expireAlone(ctx, p.retention) })
	if a.config.DatabaseRead != "" {
		b.every(work, replicaLogging, "watch the read replica", a.logReplica())
	}
	if a.store.Engine().Name() == "sqlite" {
		b.every(work, compactCheck, "compact the database", a.compactWeekly)
	}
	return func() {
		deadline := time.Now().Add(stopWorkTime)
		cancel()
		grace, done := context.WithTimeout(context.Background(), stopGrace)
		defer done()
		if err := p.dispatcher.Stop(grace); err != nil {
			b.log.Warn("deliveries did not stop in time; another server continues them when their leases expire", "error", err)
		}
		b.waitUntil(deadline)
		p.sender.Close()
	}, nil
}

// waitUntil waits for the background work, which a database that hangs may hold up.
func (b *background) waitUntil(deadline time.Time) {
	done := make(chan struct{})
	go func() {
		b.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Until(deadline)):
		b.log.Warn("background work did not end in time", "timeout_ms", stopWorkTime.Milliseconds())
	}
}
