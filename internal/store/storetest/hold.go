package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// HoldLocks runs sql in a transaction that stays open until the returned function
// is called.
func HoldLocks(tb testing.TB, s *store.Store, sql string, args ...any) (release func()) {
	tb.Helper()
	held, end, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		err := s.Engine().Write(tb.Context(), func(tx db.Tx) error {
			_, err := tx.Exec(tb.Context(), sql, args...)
			close(held)
			<-end
			return err
		})
		if err != nil {
			tb.Errorf("hold locks: %v", err)
		}
	}()
	<-held
	return sync.OnceFunc(func() { close(end); <-done })
}

// WaitForLocks returns once n transactions wait for a lock.
func WaitForLocks(tb testing.TB, s *store.Store, n int) {
	tb.Helper()
	for waiting := 0; waiting < n; {
		b := &db.Batch{}
		b.Query(func(r db.Rows) error { return r.Scan(&waiting) }, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`)
		err := s.Engine().Read(tb.Context(), func(c db.Conn) error { return c.Send(tb.Context(), b) })
		if err != nil {
			tb.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}
