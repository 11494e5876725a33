package load

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
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

// figure is a measured value and its target. The value of a ratio is the one by wall time or
// the one by processor time; the verdict names it if the other one would change the verdict.
type figure struct {
	What   string  `json:"figure"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Sign   string  `json:"sign"` // how the value should compare with the target: <, <= or >=
	Target float64 `json:"target"`

	Wall          float64 `json:"ratioByWallTime,omitzero"`
	ProcessorTime float64 `json:"ratioByProcessorTime,omitzero"`

	// Cost is the processor time in microseconds per request, delivery or what else Per names.
	Cost float64 `json:"processorMicroseconds,omitzero"`
	Per  string  `json:"per,omitzero"`

	Note string `json:"note,omitzero"` // further numbers, for readers
}

// MarshalJSON returns the figure as make bench stores it.
func (f figure) MarshalJSON() ([]byte, error) {
	type fields figure
	return json.Marshal(struct {
		fields
		Reached bool   `json:"reached"`
		Verdict string `json:"verdict"`
	}{fields(f), f.reaches(f.Value), f.verdict()})
}

func (f figure) reaches(value float64) bool {
	switch f.Sign {
	case "<":
		return value < f.Target
	case "<=":
		return value <= f.Target
	}
	return value >= f.Target
}

func (f figure) verdict() string {
	verdict := "MISS"
	if f.reaches(f.Value) {
		verdict = "pass"
	}
	switch {
	case f.Wall == 0 || f.ProcessorTime == 0 || f.reaches(f.Wall) == f.reaches(f.ProcessorTime):
		return verdict
	case f.Value == f.ProcessorTime:
		return verdict + " (processor time)"
	}
	return verdict + " (wall time)"
}

// measured returns the value with everything that is known besides.
func (f figure) measured() string {
	out := formatNumber(f.Value) + " " + f.Unit
	switch {
	case f.Wall == 0 || f.ProcessorTime == 0:
	case f.Value == f.Wall:
		out += " by wall time, " + formatNumber(f.ProcessorTime) + " by processor time"
	default:
		out += " by processor time, " + formatNumber(f.Wall) + " by wall time"
	}
	var more []string
	if f.Cost > 0 {
		more = append(more, "processor time "+formatNumber(f.Cost)+" µs per "+f.Per)
	}
	if f.Note != "" {
		more = append(more, f.Note)
	}
	if len(more) > 0 {
		out += " (" + strings.Join(more, "; ") + ")"
	}
	return out
}

// formatNumber formats a number with three digits, or all that are before the point.
func formatNumber(v float64) string {
	if math.Abs(v) >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
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
		"at": time.Now().UTC().Format(time.RFC3339), "processors": runtime.NumCPU(), "form": os.Getenv(formEnv), "figures": t.rows,
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
	t.rows = slices.DeleteFunc(t.rows, func(old figure) bool { return old.What == f.What })
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
		fmt.Fprintf(out, "%s\t%s\t%s %s\t%s\n", f.What, f.measured(), f.Sign, formatNumber(f.Target), f.verdict())
	}
	_ = out.Flush() // there is nowhere to report it
}

// record reports a figure and adds it to the table.
func (f figure) record(b *testing.B) {
	b.Helper()
	b.ReportMetric(f.Value, f.Unit)
	if f.Cost > 0 {
		b.ReportMetric(f.Cost, "processor-µs")
	}
	results.add(f)
}

// below records a figure that must stay under its target.
func below(b *testing.B, what string, got, target float64, unit string) {
	b.Helper()
	figure{What: what, Value: got, Unit: unit, Sign: "<", Target: target}.record(b)
}

// atLeast records a figure that must reach its target.
func atLeast(b *testing.B, what string, got, target float64, unit string) {
	b.Helper()
	figure{What: what, Value: got, Unit: unit, Sign: ">=", Target: target}.record(b)
}

// cost is what something takes: milliseconds of wall time and microseconds of processor
// time, 0 if that is unknown.
type cost struct{ wall, work float64 }

// recordFactor records how many times as much the second cost of a pair is as the first, in
// the median. Processor time counts, if it is known: on a machine with other load wall time
// says little.
func recordFactor(what string, most float64, pairs ...[2]cost) {
	var walls, works []float64
	var all [4][]float64
	for _, p := range pairs {
		walls = append(walls, p[1].wall/p[0].wall)
		if p[0].work > 0 {
			works = append(works, p[1].work/p[0].work)
		}
		for i, v := range []float64{p[1].wall, p[0].wall, p[1].work, p[0].work} {
			all[i] = append(all[i], v)
		}
	}
	f := figure{What: what, Unit: "times", Sign: "<=", Target: most, Wall: median(walls)}
	f.Value, f.Note = f.Wall, fmt.Sprintf("%s against %s ms", formatNumber(median(all[0])), formatNumber(median(all[1])))
	if len(works) == len(pairs) {
		f.ProcessorTime = median(works)
		f.Value, f.Note = f.ProcessorTime, fmt.Sprintf("%s against %s µs, %s", formatNumber(median(all[2])), formatNumber(median(all[3])), f.Note)
	}
	results.add(f)
}

// comparison is the result of interleaved rounds.
type comparison struct {
	ratio       float64 // median of the rounds' ratios
	cost        float64 // the same per second of processor time, 0 if it is unknown
	ours, least float64 // medians, per second
}

// rest lets a virtual machine regain its processor credits between two turns.
func rest() {
	pause := time.Second
	if shortForm() {
		pause = 250 * time.Millisecond
	}
	time.Sleep(pause)
}

// turn is the result of one turn: the rate per second, and per second of processor
// time, which is more reliable on a machine with other load.
type turn struct{ rate, perWork float64 }

func measure(fn func() float64) turn {
	rest()
	before, began := processorTime(), time.Now()
	t := turn{rate: fn()}
	if work := processorTime() - before; work > 0 {
		t.perWork = t.rate * time.Since(began).Seconds() / work.Seconds()
	}
	return t
}

// compare runs both alternately and returns the medians. A machine that is busy for
// a while slows both functions of a round, so the ratio is more stable than the rates.
func compare(rounds int, ours, least func() float64) comparison {
	if shortForm() {
		rounds = min(rounds, 5)
	}
	var ratios, costs, fast, bare []float64
	for i := range rounds + 1 {
		var o, l turn
		if i%2 == 0 {
			o, l = measure(ours), measure(least)
		} else {
			l = measure(least)
			o = measure(ours)
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

// ratio records a comparison with a baseline. Wall time counts: the processor time is that of
// the whole machine, also of the clients.
func ratio(b *testing.B, what string, c comparison, target float64, unit string) {
	b.Helper()
	b.ReportMetric(c.cost, "ratio-by-work")
	b.ReportMetric(c.ours, unit)
	b.ReportMetric(c.least, "baseline-"+unit)
	figure{
		What: what, Value: c.ratio, Unit: "ratio", Sign: ">=", Target: target, Wall: c.ratio, ProcessorTime: c.cost,
		Note: fmt.Sprintf("%.0f of %.0f %s", c.ours, c.least, unit),
	}.record(b)
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

func TestAVerdictNamesTheTimeThatDecides(t *testing.T) {
	t.Parallel()
	factor := figure{Sign: "<=", Target: 1.5}
	ratio := figure{Sign: ">=", Target: 0.84}
	for _, c := range []struct {
		f                          figure
		value, wall, processorTime float64
		want                       string
	}{
		{factor, 1.4, 1.3, 1.4, "pass"},
		{factor, 1.5, 0, 1.5, "pass"},
		{factor, 1.4, 1.56, 1.4, "pass (processor time)"},
		{factor, 1.6, 1.4, 1.6, "MISS (processor time)"},
		{factor, 1.6, 1.7, 1.6, "MISS"},
		{ratio, 0.84, 0.84, 0.9, "pass"},
		{ratio, 0.84, 0.84, 0.8, "pass (wall time)"},
		{ratio, 0.8, 0.8, 0.84, "MISS (wall time)"},
		{figure{Sign: "<", Target: 10}, 10, 0, 0, "MISS"},
	} {
		c.f.Value, c.f.Wall, c.f.ProcessorTime = c.value, c.wall, c.processorTime
		if got := c.f.verdict(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
	}
}

func TestFiguresAreStoredAsNumbers(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(figure{What: "lists", Value: 1.2, Unit: "times", Sign: "<=", Target: 1.5, Wall: 1.6, ProcessorTime: 1.2, Note: "8 against 7 ms"})
	want := `{"figure":"lists","value":1.2,"unit":"times","sign":"\u003c=","target":1.5,"ratioByWallTime":1.6,"ratioByProcessorTime":1.2,` +
		`"note":"8 against 7 ms","reached":true,"verdict":"pass (processor time)"}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v\nwant %s", text, err, want)
	}
}
