package store_test

import (
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// SQLite has neither instants nor booleans, so an export recognises them by the names
// of their columns. PostgreSQL's types show if the names are right.
func TestExportKnowsTheTypesOfColumns(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres(t))
	readable := map[string]bool{"events.body": true, "delivery_attempts.response_body": true}
	for _, line := range storetest.Texts(t, s, `SELECT c.table_name || ' ' || c.column_name || ' ' || c.data_type FROM information_schema.columns c
		WHERE c.table_schema = 'public' AND (c.table_name IN ('companies', 'administrators', 'courses', 'course_modules')
			OR EXISTS (SELECT 1 FROM information_schema.columns o WHERE o.table_name = c.table_name AND o.column_name = 'company_id'))
		AND NOT (SELECT p.relispartition FROM pg_class p WHERE p.oid = CAST(c.table_name AS regclass))`) {
		fields := strings.SplitN(line, " ", 3)
		table, column, kind := fields[0], fields[1], fields[2]
		if store.IsUnexported(table, column) {
			continue
		}
		if got := store.IsExportedInstant(column); got != (kind == "timestamp with time zone") {
			t.Errorf("%s.%s has the type %s, but isInstant returns %v", table, column, kind, got)
		}
		if got := store.IsExportedBool(column); got != (kind == "boolean") {
			t.Errorf("%s.%s has the type %s, but exportedBools has %v", table, column, kind, got)
		}
		if kind == "bytea" && !readable[table+"."+column] {
			t.Errorf("%s.%s holds bytes: add it to unexportedColumns if it is a secret", table, column)
		}
	}
}
