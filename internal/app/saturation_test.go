package app

import (
	"strings"
	"sync"
	"testing"

	"github.com/coursebridge/coursebridge/internal/pgtest"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Readiness names a pool whose connections are all in use, apart from a database that
// does not answer.
func TestSaturatedPoolIsNamed(t *testing.T) {
	t.Parallel()
	const connections = 4
	a, err := Open(t.Context(), Config{Database: pgtest.URL(t), Create: true, DatabaseConnections: connections})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := a.checkSaturation(t.Context()); err != nil {
		t.Errorf("an idle pool: %v", err)
	}
	release := make(chan struct{})
	var started, all sync.WaitGroup
	started.Add(connections)
	for range connections {
		all.Go(func() {
			if err := a.store.Engine().Read(t.Context(), func(db.Conn) error {
				started.Done()
				<-release
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	started.Wait()
	if err := a.checkSaturation(t.Context()); err == nil || !strings.Contains(err.Error(), "all 4 connections of the pool") {
		t.Errorf("a full pool: %v", err)
	}
	close(release)
	all.Wait()
	if err := a.checkSaturation(t.Context()); err != nil {
		t.Errorf("a pool that is free again: %v", err)
	}
}
