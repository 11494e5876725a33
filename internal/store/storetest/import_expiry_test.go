package storetest_test

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestUploadedTablesExpire(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Acme")
		old, err := s.AddImport(t.Context(), c, domain.Import{FileName: "old.csv", Header: []string{"name"}}, [][]string{{"Ann"}, {"Bob"}})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Engine().Write(t.Context(), func(tx db.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE imports SET created_at = $1`, s.Now().Add(-31*24*time.Hour))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := s.AddImport(t.Context(), c, domain.Import{FileName: "new.csv", Header: []string{"name"}}, [][]string{{"Eve"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.ExpireImports(t.Context(), s.Now().Add(-30*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Import(t.Context(), c.Company.ID, old.ID); domain.CodeOf(err) != domain.CodeNotFound {
			t.Errorf("the old table: %v, want not_found", err)
		}
		if _, err := s.Import(t.Context(), c.Company.ID, fresh.ID); err != nil {
			t.Errorf("the new table: %v", err)
		}
		rows, err := s.CountCompanyRows(t.Context(), c.Company.ID)
		if err != nil || rows["import_rows"] != 1 {
			t.Errorf("%d rows are left, %v; want 1", rows["import_rows"], err)
		}
	})
}
