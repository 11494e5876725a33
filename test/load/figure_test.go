package load

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// figures is what the run has found out.
var figures table

type table struct {
	mu   sync.Mutex
	rows []figure
}

type figure struct {
	what, got, want string
	reached         bool
}

func (t *table) add(f figure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// A benchmark may run again; its last word counts.
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
	_ = out.Flush() // a table that can't be printed has nobody to tell
}

// below notes a figure that must stay under its target.
func below(b *testing.B, what string, got, target float64, unit string) {
	b.Helper()
	b.ReportMetric(got, unit)
	figures.add(figure{what, fmt.Sprintf("%.4g %s", got, unit), fmt.Sprintf("< %.4g", target), got < target})
}

// atLeast notes a figure that must reach its target.
func atLeast(b *testing.B, what string, got, target float64, unit string) {
	b.Helper()
	b.ReportMetric(got, unit)
	figures.add(figure{what, fmt.Sprintf("%.4g %s", got, unit), fmt.Sprintf(">= %.4g", target), got >= target})
}

// compared is what interleaved rounds gave.
type compared struct {
	ratio       float64 // median of the rounds' ratios
	cost        float64 // the same by what the processors did for each, 0 if that can't be told
	ours, least float64 // medians, per second
}

// rest lets a machine that is lent out by the second catch its breath.
const rest = time.Second

// measured is what one turn gave: how many per second, and how many per second of
// the processors' work, which a machine that others slow down tells better.
type measured struct{ rate, perWork float64 }

func measure(fn func() float64) measured {
	time.Sleep(rest)
	before, began := worked(), time.Now()
	rate := fn()
	m := measured{rate: rate}
	if work := worked() - before; work > 0 {
		m.perWork = rate * time.Since(began).Seconds() / work.Seconds()
	}
	return m
}

// worked is how long the machine's processors have worked since it started; 0
// where that can't be told.
func worked() time.Duration {
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

// compare runs both by turns and gives the median of the ratios: a machine that
// is busy for a while slows both of a round.
func compare(rounds int, ours, least func() float64) compared {
	var ratios, costs, fast, bare []float64
	for i := range rounds + 1 {
		var o, l measured
		if i%2 == 0 {
			o, l = measure(ours), measure(least)
		} else {
			l = measure(least)
			o = measure(ours)
		}
		if i == 0 {
			continue // warms up
		}
		ratios, fast, bare = append(ratios, o.rate/l.rate), append(fast, o.rate), append(bare, l.rate)
		if l.perWork > 0 {
			costs = append(costs, o.perWork/l.perWork)
		}
	}
	c := compared{ratio: median(ratios), ours: median(fast), least: median(bare)}
	if len(costs) > 0 {
		c.cost = median(costs)
	}
	return c
}

// ratio notes what a comparison came to.
func ratio(b *testing.B, what string, c compared, target float64, unit string) {
	b.Helper()
	b.ReportMetric(c.ratio, "ratio")
	b.ReportMetric(c.cost, "ratio-by-work")
	b.ReportMetric(c.ours, unit)
	b.ReportMetric(c.least, "bare-"+unit)
	figures.add(figure{
		what, fmt.Sprintf("%.0f%% (%.0f of %.0f %s; by processor time %.0f%%)", 100*c.ratio, c.ours, c.least, unit, 100*c.cost),
		fmt.Sprintf(">= %.0f%%", 100*target), c.ratio >= target,
	})
}

func median(in []float64) float64 {
	in = slices.Sorted(slices.Values(in))
	return in[len(in)/2]
}

// at gives the q-quantile of durations in milliseconds.
func at(in []time.Duration, q float64) float64 {
	in = slices.Sorted(slices.Values(in))
	return float64(in[min(len(in)-1, int(q*float64(len(in))))].Microseconds()) / 1000
}
