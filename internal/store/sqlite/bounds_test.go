package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/sqlite"
)

func TestWaitForAConnectionIsBounded(t *testing.T) {
	t.Parallel()
	e := open(t, filepath.Join(t.TempDir(), "test.db"), db.Options{ConnectionWait: 50 * time.Millisecond})
	hold := func(run func(fn func() error) error) {
		n := e.Stats().Max
		used, done := make(chan struct{}, n), make(chan struct{})
		var all sync.WaitGroup
		for range n {
			all.Go(func() { _ = run(func() error { used <- struct{}{}; <-done; return nil }) })
		}
		<-used
		err := error(nil)
		for err == nil { // until all connections are taken
			err = run(func() error { return nil })
		}
		if !errors.Is(err, db.ErrUnavailable) {
			t.Errorf("a call while all connections are in use: %v", err)
		}
		close(done)
		all.Wait()
	}
	hold(func(fn func() error) error { return e.Read(t.Context(), func(db.Conn) error { return fn() }) })
	hold(func(fn func() error) error { return e.Write(t.Context(), func(db.Tx) error { return fn() }) })
}

// TestProcessesCreateTheFileTogether opens a new file in many processes at once.
func TestProcessesCreateTheFileTogether(t *testing.T) {
	t.Parallel()
	for range 5 {
		path := filepath.Join(t.TempDir(), "test.db")
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				e, err := sqlite.Open(t.Context(), path, db.Options{})
				if err != nil {
					t.Error("open:", err)
					return
				}
				if err := e.Migrate(t.Context()); err != nil {
					t.Error("migrate:", err)
				}
				if err := e.Close(); err != nil {
					t.Error("close:", err)
				}
			})
		}
		all.Wait()
		if e := open(t, path); e.CheckSchema(t.Context()) != nil {
			t.Error("the file is not migrated")
		}
	}
}

func TestFilesAreTheOwnersOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	e := open(t, path)
	if err := e.Claim(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 3 {
		t.Fatalf("the files are %v, %v", files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", filepath.Base(file), info.Mode().Perm(), err)
		}
	}
}

func TestSecondServerIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	first, second := open(t, path), open(t, path)
	if err := first.Claim(); err != nil {
		t.Fatal(err)
	}
	if err := second.Claim(); err == nil || !strings.Contains(err.Error(), "another server uses "+path) {
		t.Errorf("a second server: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Claim(); err != nil {
		t.Errorf("a server after the first one has stopped: %v", err)
	}
}

// TestOpenLeavesTheLogOfAServer opens the file as a command does while a server and a
// report use it: nobody waits, and the log stays.
func TestOpenLeavesTheLogOfAServer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	server := open(t, path)
	if err := server.Claim(); err != nil {
		t.Fatal(err)
	}
	exec(t, server, `INSERT INTO settings (key, value) VALUES ('k', $1)`, []byte("value"))
	before, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	err = server.Snapshot(t.Context(), func(db.Conn) error {
		began := time.Now()
		command, err := sqlite.Open(t.Context(), path, db.Options{})
		if err != nil {
			return err
		}
		if took := time.Since(began); took > 900*time.Millisecond {
			t.Errorf("opening took %v", took)
		}
		return command.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path + "-wal"); err != nil || after.Size() < before.Size() {
		t.Errorf("the log of %d bytes was emptied: %v, %v", before.Size(), after, err)
	}
}

// TestFullDiskIsNotReady lets a change fail for want of space. Readiness fails until
// a change would succeed.
func TestFullDiskIsNotReady(t *testing.T) {
	t.Parallel()
	e := open(t, filepath.Join(t.TempDir(), "test.db"))
	if err := e.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.LimitPages(t, true)
	err := e.Write(t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(t.Context(), `INSERT INTO settings (key, value) VALUES ('k', $1)`, make([]byte, 1<<20))
		return err
	})
	if !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("a change on a full disk: %v", err)
	}
	if err := e.Write(t.Context(), func(db.Tx) error { return nil }); err != nil || e.WriteFailure() == nil {
		t.Errorf("the failure is forgotten after a transaction without a statement, which returned %v", err)
	}
	if err := e.Ping(t.Context()); err == nil {
		t.Error("ready on a full disk")
	}
	e.LimitPages(t, false)
	if err := e.Ping(t.Context()); err != nil || e.WriteFailure() != nil {
		t.Errorf("readiness after there is space again: %v, %v", err, e.WriteFailure())
	}
}

// TestErasedWhileAnotherProcessReads keeps the log in use from another process: the
// erasure neither fails nor is forgotten.
func TestErasedWhileAnotherProcessReads(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	e, other := open(t, path), open(t, path)
	exec(t, e, `INSERT INTO settings (key, value) VALUES ('k', $1)`, []byte("Zaphod"))
	err := other.Snapshot(t.Context(), func(c db.Conn) error {
		if _, err := c.Exec(t.Context(), `SELECT count(*) FROM settings`); err != nil {
			return err
		}
		exec(t, e, `DELETE FROM settings`)
		e.ScrubDeleted(t.Context())
		exec(t, e, `INSERT INTO settings (key, value) VALUES ('next', $1)`, []byte("Trillian"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.AnalyzeGrownTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	if holds(t, e, "Zaphod") {
		t.Error("the text is still in the files")
	}
}
