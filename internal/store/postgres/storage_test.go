package postgres_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// storageSettings are the settings of the tables that change most, which
// docs/operations/postgresql.md explains. All others have PostgreSQL's defaults.
var storageSettings = map[string]string{
	"activities":          "autovacuum_vacuum_scale_factor=0.02",
	"api_requests":        "autovacuum_vacuum_scale_factor=0.02",
	"assignment_attempts": "autovacuum_vacuum_scale_factor=0.02 fillfactor=90",
	"assignments":         "autovacuum_vacuum_scale_factor=0.02",
	"audit_entries":       "autovacuum_vacuum_scale_factor=0.02",
	"deliveries":          "autovacuum_vacuum_scale_factor=0.01",
	"employees":           "autovacuum_vacuum_scale_factor=0.02",
	"events":              "autovacuum_vacuum_scale_factor=0.02",
	"total_changes":       "autovacuum_analyze_scale_factor=1 autovacuum_vacuum_scale_factor=0 autovacuum_vacuum_threshold=20000",
}

func TestTablesHaveTheirStorageSettings(t *testing.T) {
	t.Parallel()
	e := openMigrated(t, db.Options{})
	if e == nil {
		return
	}
	got := map[string]string{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var table, options string
		err := r.Scan(&table, &options)
		got[table] = options
		return err
	}, `SELECT c.relname::text, (SELECT string_agg(o, ' ' ORDER BY o) FROM unnest(c.reloptions) o) FROM pg_class c
		WHERE c.relnamespace = current_schema()::regnamespace AND c.reloptions IS NOT NULL`)
	if err := e.Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, storageSettings) {
		for _, table := range slices.Sorted(maps.Keys(got)) {
			t.Log(table, got[table])
		}
		t.Errorf("the settings are not those of %s", strings.Join(slices.Sorted(maps.Keys(storageSettings)), ", "))
	}
}
