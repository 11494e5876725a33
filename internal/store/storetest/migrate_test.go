package storetest_test

import (
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/migrations"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// TestNewerSchema has a newer program migrate the database. This one goes on, and
// starts, as long as the newer schema allows it, and refuses otherwise.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		e := s.Engine()
		change(t, s, `INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, $2)`, migrations.Version+1, true)
		if err := e.CheckSchema(t.Context()); err != nil {
			t.Errorf("readiness on a newer schema that allows this program: %v", err)
		}
		if err := e.Migrate(t.Context()); err != nil {
			t.Errorf("a start on a newer schema that allows this program: %v", err)
		}
		change(t, s, `UPDATE schema_compatibility SET oldest_program = $1`, migrations.Version+1)
		for name, err := range map[string]error{"readiness": e.CheckSchema(t.Context()), "a start": e.Migrate(t.Context())} {
			if err == nil || !strings.Contains(err.Error(), "use a newer coursebridge") {
				t.Errorf("%s on a newer schema that refuses this program: %v", name, err)
			}
		}
	})
}

// A schema can forget its first migrations, which stops the first programs: they know
// no other way to be refused. This program goes on and migrates.
func TestForgottenMigrations(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		e := s.Engine()
		change(t, s, storetest.StopOldProgramsSQL)
		change(t, s, `DELETE FROM goose_db_version WHERE version_id = $1`, migrations.Version)
		if err := e.CheckSchema(t.Context()); err == nil {
			t.Error("a schema that lacks a migration is called ready")
		}
		if err := e.Migrate(t.Context()); err != nil && strings.Contains(err.Error(), "missing (out-of-order)") {
			t.Errorf("the newest migration was not tried: %v", err) // it may fail, because it was applied before
		}
		change(t, s, `INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, $2)`, migrations.Version, true)
		if err := e.Migrate(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
