package delivery

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// soakTime is how long the soak takes: COURSEBRIDGE_SOAK=20m for a long one.
func soakTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("COURSEBRIDGE_SOAK")
	if text == "" {
		return 20 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// soak is what was measured, with the time of each measurement.
type soak struct {
	at    []time.Time
	value []float64
}

func (s *soak) add(value float64) { s.at, s.value = append(s.at, time.Now()), append(s.value, value) }

// third returns the values of the first, second or last third of the time, sorted.
func (s *soak) third(began time.Time, total time.Duration, n int) []float64 {
	var out []float64
	for i, at := range s.at {
		if min(int(3*at.Sub(began)/total), 2) == n {
			out = append(out, s.value[i])
		}
	}
	slices.Sort(out)
	return out
}

func percentile(sorted []float64, percent int) float64 { return sorted[len(sorted)*percent/100] }

// With a retention that ends again and again, the log is as large at the end as it was
// in the middle, and events arrive as quickly.
func TestRetentionKeepsSizeAndLatency(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres(t))
	total := soakTime(t)
	retention := total / 5
	to := newWebhookReceiver(t, nil)
	r := newFixture(t, s).start()
	r.addEndpoint(to.URL)
	storetest.Texts(t, s, `DROP TABLE delivery_attempts_first`) // it lasts for a day
	stop := maintain(t, s, retention)
	var sizes, latencies soak
	began := time.Now()
	pause := 10 * time.Millisecond
	if total > time.Minute {
		pause = 50 * time.Millisecond // leave the machine to others
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for i := 0; time.Since(began) < total; i++ {
		<-tick.C
		sent := time.Now()
		r.hire("soak"+strconv.Itoa(i)+"-", 1)
		receive(t, to.arrivals)
		latencies.add(float64(time.Since(sent).Microseconds()) / 1000)
		if i%10 == 0 {
			sizes.add(logSize(t, s))
		}
		for len(r.queue.recorded) > 0 {
			<-r.queue.recorded
		}
	}
	stop()
	for name, measured := range map[string]struct {
		soak
		percent    int
		factor     float64
		unit       string
		everything float64 // of more than the factor that noise can explain
	}{"size": {sizes, 50, 1.3, "KB", 200}, "latency": {latencies, 95, 1.5, "ms", 20}} {
		var p [3]float64
		for n := range p {
			p[n] = percentile(measured.third(began, total, n), measured.percent)
		}
		t.Logf("%s of %d measurements, percentile %d of each third: %.1f, %.1f, %.1f %s", name, len(measured.value), measured.percent, p[0], p[1], p[2], measured.unit)
		if p[2] > p[1]*measured.factor+measured.everything {
			t.Errorf("%s grows from %.1f to %.1f %s", name, p[1], p[2], measured.unit)
		}
	}
	left, err := strconv.Atoi(storetest.Texts(t, s, `SELECT CAST(count(*) AS text) FROM delivery_attempts`)[0])
	if err != nil || left > len(latencies.value)/2 {
		t.Errorf("%d of %d attempts are left, want about a fifth: %v", left, len(latencies.value), err)
	}
}

// maintain does what a server does for retention, at the pace of this one.
func maintain(t *testing.T, s *store.Store, retention time.Duration) (stop func()) {
	t.Helper()
	done, ended := make(chan struct{}), make(chan struct{})
	step := func() error {
		if err := s.Engine().AddPartitionsAhead(t.Context(), max(retention/12, time.Second)); err != nil {
			return fmt.Errorf("keep partitions: %w", err)
		}
		now := s.Now()
		if err := s.DropPartitions(t.Context(), now.Add(-retention)); err != nil {
			return fmt.Errorf("drop partitions: %w", err)
		}
		if _, err := s.ExpireRemovals(t.Context(), now.Add(-retention)); err != nil {
			return err
		}
		_, err := s.ExpireEvents(t.Context(), now.Add(-s.RowRetention(retention)))
		return err
	}
	if err := step(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		tick := time.NewTicker(max(retention/48, 50*time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if err := step(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// logSize returns the size of all partitions in KB.
func logSize(t *testing.T, s *store.Store) float64 {
	t.Helper()
	text := storetest.Texts(t, s, `SELECT CAST(coalesce(sum(pg_total_relation_size(i.inhrelid)), 0) / 1024 AS text) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent WHERE c.relkind = 'p'`)[0]
	size, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return size
}
