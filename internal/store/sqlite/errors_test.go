package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

func TestErrorsHaveTheirMeaning(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	engines := make([]*Engine, 2)
	for i := range engines {
		e, err := Open(t.Context(), path, db.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		engines[i] = e
	}
	run := func(e *Engine, sql string) error {
		return e.Write(t.Context(), func(tx db.Tx) error {
			_, err := tx.Exec(t.Context(), sql)
			return err
		})
	}
	if err := engines[0].Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]error{
		`INSERT INTO cache_versions (name, version) SELECT 'x', 1 UNION ALL SELECT 'x', 2`:                    db.ErrUnique,
		`INSERT INTO accounts (email_folded, created_at) VALUES ('x', 1), ('x', 2)`:                           db.ErrUnique,
		`INSERT INTO course_modules (course_id, position, title) VALUES (99, 1, 'x')`:                         db.ErrReference,
		`INSERT INTO employee_tags (company_id, tag, employee_id) VALUES (1, 'x', 99)`:                        db.ErrReference,
		`INSERT INTO courses (owner_company_id, name, is_assessment, pass_mark, allowed_attempts) VALUES (0)`: nil,
		`INSERT INTO accounts (email_folded, created_at) VALUES ('x', NULL)`:                                  nil,
	} {
		err := run(engines[0], sql)
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", sql, err, want)
		}
		for _, other := range []error{db.ErrUnique, db.ErrReference, db.ErrRetry, db.ErrUnavailable} {
			if errors.Is(err, other) && !errors.Is(want, other) {
				t.Errorf("%s: %v passes for %v", sql, err, other)
			}
		}
	}
	// Another process holds the file for longer than we wait.
	impatient := engines[1].all[0]
	if _, err := impatient.Exec(t.Context(), `PRAGMA busy_timeout = 1`); err != nil {
		t.Fatal(err)
	}
	err := engines[0].Write(t.Context(), func(tx db.Tx) error {
		if err := tx.Send(t.Context(), nil); err != nil {
			return err
		}
		return run(engines[1], `DELETE FROM accounts`)
	})
	if !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("a busy file: %v", err)
	}
}
