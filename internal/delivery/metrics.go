package delivery

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Metrics are the figures of a dispatcher. A nil *Metrics keeps none.
type Metrics struct {
	depth    prometheus.Gauge
	inFlight prometheus.Gauge
	attempts *prometheus.CounterVec
	failures prometheus.Counter
	latency  prometheus.Histogram
	duration prometheus.Histogram
}

// NewMetrics registers the figures.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	buckets := []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 6 * 3600, 24 * 3600}
	m := &Metrics{
		depth: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "coursebridge_webhook_queue_due", Help: "Deliveries that are due and not finished, of the webhooks that this server looks after, as of the last poll."}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "coursebridge_webhook_in_flight", Help: "Attempts under way."}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "coursebridge_webhook_attempts_total", Help: "Attempts by what came of them."}, []string{"outcome"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "coursebridge_webhook_failed_deliveries_total", Help: "Deliveries that failed at their last attempt."}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "coursebridge_webhook_delivery_seconds", Help: "Time from an event to its delivery.", Buckets: buckets}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "coursebridge_webhook_attempt_seconds", Help: "Duration of attempts.", Buckets: buckets[:11]}),
	}
	for _, c := range []prometheus.Collector{m.depth, m.inFlight, m.attempts, m.failures, m.latency, m.duration} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Metrics) backlog(depth int64) {
	if m != nil {
		m.depth.Set(float64(depth))
	}
}

// failed counts a delivery that is not tried again.
func (m *Metrics) failed() {
	if m != nil {
		m.failures.Inc()
	}
}

func (m *Metrics) started() {
	if m != nil {
		m.inFlight.Inc()
	}
}

func (m *Metrics) ended(item *domain.DueDelivery, out *Outcome, now time.Time) {
	if m == nil {
		return
	}
	m.inFlight.Dec()
	outcome := string(out.Kind)
	if out.OK() {
		outcome = "delivered"
	}
	m.attempts.WithLabelValues(outcome).Inc()
	m.duration.Observe(out.Duration.Seconds())
	if out.OK() && item.RequestedBy == "" { // how long ago a resent event happened says nothing
		m.latency.Observe(max(now.Sub(item.CreatedAt), 0).Seconds())
	}
}
