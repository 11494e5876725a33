package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestMetricsCount(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewMetrics(registry); err == nil {
		t.Error("registered twice")
	}
	now := time.Now()
	item := domain.DueDelivery{CreatedAt: now.Add(-time.Second)}
	for range 3 {
		m.started()
	}
	m.ended(&item, &Outcome{}, now)
	m.ended(&item, &Outcome{Kind: KindTimeout}, now)
	m.failed()
	m.backlog(7)
	want := map[string]float64{
		"coursebridge_webhook_queue_due": 7, "coursebridge_webhook_in_flight": 1,
		"coursebridge_webhook_attempts_total delivered": 1, "coursebridge_webhook_attempts_total timeout": 1,
		"coursebridge_webhook_failed_deliveries_total": 1,
		"coursebridge_webhook_delivery_seconds":        1, "coursebridge_webhook_attempt_seconds": 0,
	}
	if diff := cmp.Diff(want, figures(t, registry)); diff != "" {
		t.Errorf("figures (- want):\n%s", diff)
	}
	var none *Metrics
	none.started()
	none.failed()
	none.ended(&item, &Outcome{}, now)
	none.backlog(1)
}

// figures returns the value of every metric, by name and labels.
func figures(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			name := f.GetName()
			for _, l := range metric.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + metric.GetHistogram().GetSampleSum()
		}
	}
	return got
}
