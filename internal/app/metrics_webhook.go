package app

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/delivery"
)

// webhookMetrics are figures of the whole installation, read at every scrape. Each
// server reports the same, also one that sends nothing, so they are not to be added up.
type webhookMetrics struct {
	app        *App
	dispatcher *delivery.Dispatcher
	oldest     *prometheus.Desc
	endpoints  *prometheus.Desc
	holding    *prometheus.Desc
}

func (a *App) registerWebhookMetrics(registry prometheus.Registerer, d *delivery.Dispatcher) error {
	m := &webhookMetrics{
		app: a, dispatcher: d,
		oldest: prometheus.NewDesc("coursebridge_webhook_oldest_due_seconds",
			"Age of the oldest due delivery that no server looks after; NaN if it cannot be read.", nil, nil),
		endpoints: prometheus.NewDesc("coursebridge_webhook_endpoints", "Webhooks of all companies.", []string{"state"}, nil),
		holding:   prometheus.NewDesc("coursebridge_webhook_endpoints_holding", "Webhooks with events that are held because the webhook is disabled.", nil, nil),
	}
	if err := registry.Register(m); err != nil {
		return fmt.Errorf("register webhook metrics: %w", err)
	}
	return nil
}

// Describe implements prometheus.Collector.
func (m *webhookMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.oldest, m.endpoints, m.holding} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m *webhookMetrics) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	gauge := func(d *prometheus.Desc, value float64, err error, labels ...string) {
		if err != nil {
			value = math.NaN()
		}
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	age, err := m.dispatcher.OldestDue(ctx)
	gauge(m.oldest, age.Seconds(), err)
	counts, err := m.app.store.EndpointCounts(ctx)
	gauge(m.endpoints, float64(counts.Enabled), err, "enabled")
	gauge(m.endpoints, float64(counts.Disabled), err, "disabled")
	gauge(m.holding, float64(counts.Holding), err)
}
