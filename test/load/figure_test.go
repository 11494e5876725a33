package load

import (
	"fmt"
	"io"
	"slices"
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
	ours, least float64 // medians, per second
}

// compare runs both by turns and gives the median of the ratios: a machine that
// is busy for a while slows both of a round.
func compare(rounds int, ours, least func() float64) compared {
	var ratios, fast, bare []float64
	for i := range rounds + 1 {
		var o, l float64
		if i%2 == 0 {
			o, l = ours(), least()
		} else {
			l = least()
			o = ours()
		}
		if i == 0 {
			continue // warms up
		}
		ratios, fast, bare = append(ratios, o/l), append(fast, o), append(bare, l)
	}
	return compared{median(ratios), median(fast), median(bare)}
}

// ratio notes what a comparison came to.
func ratio(b *testing.B, what string, c compared, target float64, unit string) {
	b.Helper()
	b.ReportMetric(c.ratio, "ratio")
	b.ReportMetric(c.ours, unit)
	b.ReportMetric(c.least, "bare-"+unit)
	figures.add(figure{
		what, fmt.Sprintf("%.0f%% (%.0f of %.0f %s)", 100*c.ratio, c.ours, c.least, unit),
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
