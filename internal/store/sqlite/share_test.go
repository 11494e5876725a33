package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/sqlite"
)

// settings is an engine whose table settings the tests write to.
type settings struct {
	*testing.T
	*sqlite.Engine
}

func newSettings(t *testing.T) settings {
	t.Helper()
	return settings{t, open(t, filepath.Join(t.TempDir(), "shared.db"))}
}

func (s settings) put(tx db.Tx, key string) error {
	_, err := tx.Exec(s.Context(), `INSERT INTO settings (key, value) VALUES ($1, '')`, key)
	return err
}

func (s settings) has(key string) bool {
	s.Helper()
	found := false
	b := &db.Batch{}
	b.Query(func(db.Rows) error { found = true; return nil }, `SELECT 1 FROM settings WHERE key = $1`, key)
	if err := s.Read(s.Context(), func(c db.Conn) error { return c.Send(s.Context(), b) }); err != nil {
		s.Error(err)
	}
	return found
}

// waitForWriter waits until somebody waits for a connection.
func (s settings) waitForWriter(since int64) {
	for s.Stats().WaitCount == since {
		<-time.After(time.Millisecond)
	}
	<-time.After(time.Millisecond)
}

// shareOnce runs a writer while two others wait: one that fails after it has written,
// and one that succeeds. It reports whether another writer ran before the first one's
// commit.
func (s settings) shareOnce(round int) (shared bool) {
	s.Helper()
	first, failed, second := fmt.Sprintf("first %d", round), fmt.Sprintf("failed %d", round), fmt.Sprintf("second %d", round)
	errFailed := errors.New("failed")
	running := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		err := s.Write(s.Context(), func(tx db.Tx) error {
			close(running)
			s.waitForWriter(s.Stats().WaitCount)
			return s.put(tx, first)
		})
		if err != nil || !s.has(first) {
			s.Errorf("the first writer returned with %v, its row is visible: %v", err, s.has(first))
		}
	})
	<-running
	all.Go(func() {
		err := s.Write(s.Context(), func(tx db.Tx) error { return errors.Join(s.put(tx, failed), errFailed) })
		if !errors.Is(err, errFailed) {
			s.Errorf("the writer that fails got %v", err)
		}
	})
	all.Go(func() {
		err := s.Write(s.Context(), func(tx db.Tx) error {
			shared = !s.has(first)
			return s.put(tx, second)
		})
		if err != nil || !s.has(second) {
			s.Errorf("the second writer returned with %v, its row is visible: %v", err, s.has(second))
		}
	})
	all.Wait()
	if s.has(failed) {
		s.Error("the row of the writer that failed is there")
	}
	return shared
}

func TestWritersShareACommit(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	for round := range 200 {
		if s.shareOnce(round) {
			return
		}
	}
	t.Error("no writer ran before the commit of the one that it had waited for")
}

// A writer that fails because of what another has done, while a third keeps the
// transaction open, does not return before the others can see that change.
func TestAFailureWaitsForTheChangesItSaw(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	errTaken := errors.New("taken")
	for round := range 5 {
		key := fmt.Sprint("key ", round)
		running, failed := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		begun := s.Stats().WaitCount
		all.Go(func() {
			err := s.Write(s.Context(), func(tx db.Tx) error {
				close(running)
				s.waitForWriter(begun)
				s.waitForWriter(begun + 1)
				return s.put(tx, key)
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-running
		all.Go(func() {
			defer close(failed)
			err := s.Write(s.Context(), func(tx db.Tx) error { return errors.Join(s.put(tx, key+"!"), errTaken) })
			if !errors.Is(err, errTaken) || !s.has(key) {
				t.Errorf("round %d: the writer that failed got %v, and the change before it is visible: %v", round, err, s.has(key))
			}
		})
		s.waitForWriter(begun)
		all.Go(func() {
			err := s.Write(s.Context(), func(tx db.Tx) error {
				select {
				case <-failed:
				case <-time.After(50 * time.Millisecond): // time for the other one to return too early
				}
				return s.put(tx, key+"?")
			})
			if err != nil {
				t.Error(err)
			}
		})
		all.Wait()
	}
}

func TestAPanicInASharedTransaction(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			key := fmt.Sprintf("key %d", i)
			defer func() {
				panicked := recover() != nil
				if panicked != (i%4 == 0) || s.has(key) == panicked {
					t.Errorf("writer %d panicked: %v, its row is there: %v", i, panicked, s.has(key))
				}
			}()
			err := s.Write(context.WithoutCancel(t.Context()), func(tx db.Tx) error {
				if err := s.put(tx, key); err != nil || i%4 != 0 {
					return err
				}
				panic("a defect")
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// A writer after whose failure SQLite has rolled everything back takes nothing from those
// whose transaction it shared: they run again, and do not get its error.
func TestALostTransactionRunsAgain(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	errOwn := errors.New("the writer's own failure")
	lost := false
	for round := 0; round < 200 && !lost; round++ {
		var all sync.WaitGroup
		running := make(chan struct{})
		key := fmt.Sprint("first ", round)
		begun := s.Stats().WaitCount
		var once sync.Once
		all.Go(func() {
			err := s.Write(s.Context(), func(tx db.Tx) error {
				once.Do(func() { close(running); s.waitForWriter(begun) })
				return s.put(tx, key)
			})
			if err != nil || !s.has(key) {
				t.Errorf("the first writer returned with %v, its row is visible: %v", err, s.has(key))
			}
		})
		<-running
		all.Go(func() {
			err := s.Write(s.Context(), func(tx db.Tx) error {
				lost = !s.has(key)
				_, err := tx.Exec(s.Context(), "ROLLBACK")
				return errors.Join(err, errOwn)
			})
			if !errors.Is(err, errOwn) {
				t.Errorf("the writer that failed got %v", err)
			}
		})
		all.Wait()
	}
	if !lost {
		t.Error("the writers never shared a transaction")
	}
}

// A reader is served while a writer has its transaction open.
func TestReadersDoNotWaitForAWriter(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	err := s.Write(t.Context(), func(tx db.Tx) error {
		if err := s.put(tx, "open"); err != nil {
			return err
		}
		for range 20 {
			if s.has("open") {
				t.Error("a reader sees a change before its commit")
			}
		}
		return nil
	})
	if err != nil || !s.has("open") {
		t.Errorf("the writer returned with %v", err)
	}
}
