package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// deadlines records the write deadlines that are set.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

func TestWriteDeadlineMovesWithTheAnswer(t *testing.T) {
	t.Parallel()
	conn := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	w := &writer{ResponseWriter: conn, deadlineSet: time.Now()}
	_, _ = w.Write([]byte("short"))
	if len(conn.set) != 0 {
		t.Error("a short answer moved the deadline")
	}
	w.deadlineSet = time.Now().Add(-time.Minute)
	_, _ = w.Write([]byte("long"))
	_, _ = w.Write([]byte("longer"))
	if len(conn.set) != 1 || time.Until(conn.set[0]) < writeTimeout-time.Second {
		t.Errorf("deadlines %v, want one about a minute ahead", conn.set)
	}
	if w.bytes != 15 || w.status != 200 {
		t.Errorf("%d bytes, status %d", w.bytes, w.status)
	}
}

func TestWriterRecordsTheFinalStatus(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	w := &writer{ResponseWriter: rec, deadlineSet: time.Now()}
	w.WriteHeader(http.StatusEarlyHints)
	w.WriteHeader(http.StatusAccepted)
	w.WriteHeader(http.StatusTeapot)
	w.Flush()
	if w.status != http.StatusAccepted || !rec.Flushed {
		t.Errorf("status %d, flushed %v", w.status, rec.Flushed)
	}
}
