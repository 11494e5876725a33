package server

import (
	"net/http"
	"time"
)

const (
	// writeTimeout is how long a client may take nothing of an answer.
	writeTimeout = 60 * time.Second
	// rearm is how often a long answer pushes that limit ahead.
	rearm = 10 * time.Second
)

// writer notes what was answered. A report may take longer than any fixed limit
// for a whole answer, so the limit moves on as long as the client keeps reading.
type writer struct {
	http.ResponseWriter
	status int
	bytes  int64
	armed  time.Time
}

// Unwrap lets http.ResponseController reach the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader notes the final status; 1xx answers come before it.
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
	w.arm(time.Now())
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

func (w *writer) arm(now time.Time) {
	if now.Sub(w.armed) > rearm {
		w.armed = now
		// A writer without deadlines has no client that could stall.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(now.Add(writeTimeout))
	}
}

// Flush serves callers that ask for http.Flusher instead of a controller.
func (w *writer) Flush() {
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}
