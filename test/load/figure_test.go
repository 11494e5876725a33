package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// results collects the figures of the run.
var results table

type table struct {
	mu   sync.Mutex
	rows []figure
}

type figure struct {
	what, got, want string
	reached         bool
}

// MarshalJSON returns the figure as make bench stores it.
func (f figure) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"figure": f.what, "measured": f.got, "target": f.want, "reached": f.reached})
}

// resultEnv names a file to write the figures to.
const resultEnv = "COURSEBRIDGE_BENCH_RESULT"

// save writes the figures as JSON to the file that resultEnv names, if any.
func (t *table) save() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	path := os.Getenv(resultEnv)
	if path == "" || len(t.rows) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(map[string]any{
		"at": time.Now().UTC().Format(time.RFC3339), "processors": runtime.NumCPU(), "full": fullForm(), "figures": t.rows,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

func (t *table) add(f figure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// A benchmark may run several times; the last result counts.
	t.rows = slices.DeleteFunc(t.rows, func(old figure) bool { return old.what == f.what })
	t.rows = append(t.rows, f)
}

func (t *table) print(w io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rows) == 0 {
		return
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\nfigure\tmeasured\ttarget\t")
	for _, f := range t.rows {
		verdict := "pass"
		if !f.reached {
			verdict = "MISS"
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", f.what, f.got, f.want, verdict)
	}
	_ = out.Flush() // there is nowhere to report it
}

// below records a figure that must stay under its target.
func below(b *testing.B, what string, got, target float64, unit string) {
	b.Helper()
	b.ReportMetric(got, unit)
	results.add(figure{what, fmt.Sprintf("%.4g %s", got, unit), fmt.Sprintf("< %.4g", target), got < target})
}

// atLeast records a figure that must reach its target.
func atLeast(b *testing.B, what string, got, target float64, unit string) {
	b.Helper()
	b.ReportMetric(got, unit)
	results.add(figure{what, fmt.Sprintf("%.4g %s", got, unit), fmt.Sprintf(">= %.4g", target), got >= target})
}

// comparison is the result of interleaved rounds.
type comparison struct {
	ratio       float64 // median of the rounds' ratios
	cost        float64 // the same per second of processor time, 0 if it is unknown
	ours, least float64 // medians, per second
}

// pauseBetweenTurns lets a virtual machine regain its processor credits.
const pauseBetweenTurns = time.Second

// turn is the result of one turn: the rate per second, and per second of processor
// time, which is more reliable on a machine with other load.
type turn struct{ rate, perWork float64 }

func measure(fn func() float64) turn {
	time.Sleep(pauseBetweenTurns)
	before, began := processorTime(), time.Now()
	return newTurn(fn(), time.Since(began), processorTime()-before)
}

// newTurn returns the result of a turn that took a time and, if it is known, the
// processors for some time.
func newTurn(rate float64, took, work time.Duration) turn {
	t := turn{rate: rate}
	if work > 0 {
		t.perWork = rate * took.Seconds() / work.Seconds()
	}
	return t
}

// processorTime returns the time that the machine's processors were busy since it
// was started, or 0 if it is unknown.
func processorTime() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[:bytes.IndexByte(text, '\n')]))
	ticks := 0
	for _, i := range []int{1, 2, 3, 6, 7} { // user, nice, system, irq, softirq
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * (10 * time.Millisecond)
}

// compare runs both alternately and returns the medians. A machine that is busy for
// a while slows both functions of a round, so the ratio is more stable than the rates.
func compare(rounds int, ours, least func() float64) comparison {
	return compareTurns(rounds, func() turn { return measure(ours) }, func() turn { return measure(least) })
}

func compareTurns(rounds int, ours, least func() turn) comparison {
	if shortForm() {
		rounds = min(rounds, 5)
	}
	var ratios, costs, fast, bare []float64
	for i := range rounds + 1 {
		var o, l turn
		if i%2 == 0 {
			o, l = ours(), least()
		} else {
			l = least()
			o = ours()
		}
		if i == 0 {
			continue // the first round warms up
		}
		ratios, fast, bare = append(ratios, o.rate/l.rate), append(fast, o.rate), append(bare, l.rate)
		if l.perWork > 0 {
			costs = append(costs, o.perWork/l.perWork)
		}
	}
	c := comparison{ratio: median(ratios), ours: median(fast), least: median(bare)}
	if len(costs) > 0 {
		c.cost = median(costs)
	}
	return c
}

// ratio records a comparison with a baseline.
func ratio(b *testing.B, what string, c comparison, target float64, unit string) {
	b.Helper()
	b.ReportMetric(c.ratio, "ratio")
	b.ReportMetric(c.cost, "ratio-by-work")
	b.ReportMetric(c.ours, unit)
	b.ReportMetric(c.least, "baseline-"+unit)
	results.add(figure{
		what, fmt.Sprintf("%.0f%% (%.0f of %.0f %s; by processor time %.0f%%)", 100*c.ratio, c.ours, c.least, unit, 100*c.cost),
		fmt.Sprintf(">= %.0f%%", 100*target), c.ratio >= target,
	})
}

func median(in []float64) float64 {
	in = slices.Sorted(slices.Values(in))
	return in[len(in)/2]
}

// percentile returns the q-quantile of durations in milliseconds.
func percentile(in []time.Duration, q float64) float64 {
	in = slices.Sorted(slices.Values(in))
	return float64(in[min(len(in)-1, int(q*float64(len(in))))].Microseconds()) / 1000
}
