package server

import (
	"net/http"
	"time"
)

const (
	// writeTimeout is how long a client may read nothing of its answer.
	writeTimeout = 60 * time.Second
	// extendAfter is how often a long answer moves that deadline.
	extendAfter = 10 * time.Second
)

// writer records the status and the size of an answer. A report may take longer
// than any fixed limit, so the write deadline moves as long as the client reads.
type writer struct {
	http.ResponseWriter
	status      int
	bytes       int64
	deadlineSet time.Time
	traffic     *traffic
	isLong      bool
	wroteAt     time.Time // when a long answer was last written
}

// Unwrap lets http.ResponseController reach the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader records the final status; informational (1xx) answers come before it.
func (w *writer) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	now := time.Now()
	w.extendDeadline(now)
	w.giveWay(now)
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	if w.isLong {
		w.wroteAt = time.Now()
	}
	return n, err
}

func (w *writer) extendDeadline(now time.Time) {
	if now.Sub(w.deadlineSet) > extendAfter {
		w.deadlineSet = now
		// It fails only for recorders in tests, which have no deadline.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(now.Add(writeTimeout))
	}
}

// Flush implements http.Flusher for callers that do not use a controller.
func (w *writer) Flush() {
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}
