package main

import (
	"context"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// changeRows runs a statement on a database, behind the program's back.
func changeRows(t *testing.T, database, sql string) {
	t.Helper()
	s, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Engine().Write(t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(context.WithoutCancel(t.Context()), sql)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCheckRepairsWrongTotals(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		newCompany(t, database)
		if got := mustRun(t, database, "check"); len(got["wrong"].([]any)) != 0 || got["companies"] != 1.0 {
			t.Errorf("check of a sound database: %v", got)
		}
		changeRows(t, database, `INSERT INTO totals (company_id, kind, number_key, text_key, n) SELECT id, 'employee', 0, '', 5 FROM companies`)
		changeRows(t, database, `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 250)
			INSERT INTO totals (company_id, kind, number_key, text_key, n) SELECT c.id, 'employee', 0, 'tag ' || CAST(n.n AS text), 1 FROM companies c CROSS JOIN n`)
		wantRefused(t, "check --repair", "check", "--database", database)
		if got := mustRun(t, database, "check", "--repair"); len(got["wrong"].([]any)) != 100 || got["wrongCount"] != 251.0 || got["repaired"] != true {
			t.Errorf("check --repair: %v", got)
		}
		if got := mustRun(t, database, "check"); len(got["wrong"].([]any)) != 0 {
			t.Errorf("check after the repair: %v", got)
		}
	})
}
