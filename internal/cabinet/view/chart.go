package view

import (
	"strconv"
	"strings"
	"time"
)

// Bucket counts the deliveries that were created in one stretch of time, by what
// has become of them.
type Bucket struct {
	From      time.Time
	Delivered int64
	Retrying  int64
	Failed    int64
}

// Chart shows deliveries over time, or other things with three outcomes.
type Chart struct {
	Title   string
	Buckets []Bucket   // oldest first, evenly spaced
	Series  *[3]string // what the counts of a bucket are called; nil: of deliveries
}

// series returns what is shown, from the bottom of a bar to its top.
func (c Chart) series() [3]chartSeries {
	sum := c.totals()
	out := [3]chartSeries{{"delivered", "delivered", sum.Delivered}, {"retrying", "retrying", sum.Retrying}, {"failed", "failed", sum.Failed}}
	if c.Series != nil {
		for i, name := range c.Series {
			out[i].name = name
		}
	}
	return out
}

// chartSeries is one of the counts of a chart.
type chartSeries struct {
	key   string // of its colour and of its column
	name  string
	total int64
}

// heading is the name at the top of a column.
func (s chartSeries) heading() string { return strings.ToUpper(s.name[:1]) + s.name[1:] }

// totals sums up all buckets.
func (c Chart) totals() Bucket {
	var sum Bucket
	for _, b := range c.Buckets {
		sum.Delivered += b.Delivered
		sum.Retrying += b.Retrying
		sum.Failed += b.Failed
	}
	return sum
}

func (b Bucket) total() int64 { return b.Delivered + b.Retrying + b.Failed }

// words describes what a chart shows, for screen readers.
func (b Bucket) words() string {
	return formatCount(b.Delivered) + " delivered, " + formatCount(b.Retrying) + " retrying, " + formatCount(b.Failed) + " failed"
}

func tallest(buckets []Bucket) int64 {
	var top int64
	for _, b := range buckets {
		top = max(top, b.total())
	}
	return top
}

// bar is one rectangle of a chart: y grows downwards, as in SVG.
type bar struct{ class, x, y, width, height string }

// bars lays buckets out in a box, stacked: delivered at the bottom, failed on top.
// Every count above zero is at least a pixel and a half high.
func bars(buckets []Bucket, width, height float64) []bar {
	top := float64(max(1, tallest(buckets)))
	step := width / float64(max(1, len(buckets)))
	gap := min(2, step*0.25)
	var out []bar
	for i, b := range buckets {
		heights := barHeights(b, top, height)
		bottom := height
		for n, class := range []string{"bar-delivered", "bar-retrying", "bar-failed"} {
			if heights[n] == 0 {
				continue
			}
			bottom -= heights[n]
			out = append(out, bar{
				class: class, x: formatPixels(float64(i)*step + gap/2), y: formatPixels(bottom),
				width: formatPixels(step - gap), height: formatPixels(heights[n]),
			})
		}
	}
	return out
}

// barHeights returns the heights of delivered, retrying and failed. The first takes
// less if the others, raised to their minimum, would not fit.
func barHeights(b Bucket, top, height float64) [3]float64 {
	scale := func(n int64) float64 {
		if n == 0 {
			return 0
		}
		return max(1.5, float64(n)/top*height)
	}
	heights := [3]float64{scale(b.Delivered), scale(b.Retrying), scale(b.Failed)}
	if over := heights[0] + heights[1] + heights[2] - height; over > 0 {
		for n := range heights {
			cut := min(over, max(0, heights[n]-1.5))
			heights[n] -= cut
			over -= cut
		}
	}
	return heights
}

func formatPixels(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }
