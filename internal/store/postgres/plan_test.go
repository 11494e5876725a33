package postgres_test

import (
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// A statement that is planned while its table is small keeps its plan while the table
// grows, so even then it looks up its rows by the index.
func TestRowsOfASmallTableAreFoundByTheIndex(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	for _, sql := range []string{`INSERT INTO counters SELECT g, 0 FROM generate_series(3, 500) g`, `ANALYZE counters`} {
		if err := write(t, e, sql); err != nil {
			t.Fatal(err)
		}
	}
	rows, args := e.ValuesTable(1, db.Ints("key", []int64{1, 2}))
	var plan []string
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var line string
		err := r.Scan(&line)
		plan = append(plan, line)
		return err
	}, `EXPLAIN UPDATE counters SET n = n + 1 FROM `+rows+` r WHERE id = r.key`, args...)
	if err := e.Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(plan, "\n"); !strings.Contains(text, "Index Scan using counters_pkey") {
		t.Errorf("the rows are not looked up by the index:\n%s", text)
	}
}

// Taking ids is planned at most five times by a connection, as PostgreSQL does before
// it keeps a plan.
func TestIDsAreNotPlannedEachTime(t *testing.T) {
	t.Parallel()
	e := openMigrated(t)
	var custom, generic int
	err := e.Write(t.Context(), func(tx db.Tx) error {
		for range 10 {
			b := &db.Batch{}
			var ids []int64
			tx.IDs(b, "employee_ids", 1, &ids)
			if err := tx.Send(t.Context(), b); err != nil {
				return err
			}
		}
		rows, err := tx.Query(t.Context(), `SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement LIKE '%nextval%'`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(&custom, &generic); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	if custom+generic != 10 || custom > 5 {
		t.Errorf("ids were taken with %d plans for one number and %d times with a kept plan, want at most 5 of 10", custom, generic)
	}
}
