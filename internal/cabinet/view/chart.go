package view

import (
	"strconv"
	"time"
)

// Bucket counts what became of the deliveries of one stretch of time.
type Bucket struct {
	From      time.Time
	Delivered int64
	Failed    int64 // attempts that failed, whether or not they are tried again
}

// Chart shows deliveries over time.
type Chart struct {
	Title   string
	Buckets []Bucket // oldest first, evenly spaced
}

func (c Chart) totals() (delivered, failed int64) {
	for _, b := range c.Buckets {
		delivered += b.Delivered
		failed += b.Failed
	}
	return delivered, failed
}

func tallest(buckets []Bucket) int64 {
	var top int64
	for _, b := range buckets {
		top = max(top, b.Delivered+b.Failed)
	}
	return top
}

// bar is one bucket drawn: y grows downwards, as SVG has it.
type bar struct {
	x, width                    string
	deliveredY, deliveredHeight string
	failedY, failedHeight       string
	empty                       bool
}

// bars lays buckets out in a box. What is there at all is at least a pixel high.
func bars(buckets []Bucket, width, height float64) []bar {
	top := float64(max(1, tallest(buckets)))
	step := width / float64(max(1, len(buckets)))
	gap := min(2, step*0.25)
	scale := func(n int64) float64 {
		if n == 0 {
			return 0
		}
		return max(1.5, float64(n)/top*height)
	}
	out := make([]bar, len(buckets))
	for i, b := range buckets {
		good, bad := scale(b.Delivered), scale(b.Failed)
		if sum := good + bad; sum > height {
			good = height - bad
		}
		out[i] = bar{
			x: short(float64(i)*step + gap/2), width: short(step - gap),
			deliveredY: short(height - good), deliveredHeight: short(good),
			failedY: short(height - good - bad), failedHeight: short(bad),
			empty: b.Delivered+b.Failed == 0,
		}
	}
	return out
}

func short(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

func outcome(delivered, failed int64) string {
	return formatCount(delivered) + " delivered, " + formatCount(failed) + " failed"
}
