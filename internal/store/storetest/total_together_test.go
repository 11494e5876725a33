package storetest_test

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// Assignments of every status that are inserted together, within an announced range of
// ids and outside of it, are counted once each.
func TestAssignmentsInsertedTogetherAreCountedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f := newTestCompany(t, s)
		courses := []int64{f.addAssessment(), f.addCourse(domain.Course{Name: "Course"})}
		f.workAtRandom("together", courses)
		company := f.c.Company.ID
		names, _ := columns(t, s, "assignments")
		copySQL := copyAssignmentsSQL(names)
		const announced, outside = 1_000_000, 2_000_000
		b := &db.Batch{}
		before, after := s.Engine().CountTogether()
		if before != "" {
			b.Exec(before, company, int64(announced), int64(outside-1))
		}
		b.Exec(copySQL, company, int64(announced), int64(announced))
		b.Exec(copySQL, company, int64(outside), int64(announced))
		if after != "" {
			b.Exec(after, company)
		}
		err := s.Engine().Write(t.Context(), func(tx db.Tx) error { return tx.Send(t.Context(), b) })
		if err != nil {
			t.Fatal(err)
		}
		f.wantTotals(courses...)
		f.fold()
		f.wantTotals(courses...)
	})
}

// copyAssignmentsSQL returns a statement that copies the assignments whose ids are below
// $3, with ids that are $2 higher.
func copyAssignmentsSQL(columns []string) string {
	into, from := "", ""
	for _, name := range columns {
		value := name
		switch name {
		case "id":
			value = "id + $2"
		case "external_id":
			value = "external_id || '-' || CAST(id + $2 AS text)"
		}
		into, from = into+", "+name, from+", "+value
	}
	return `INSERT INTO assignments (` + into[2:] + `) SELECT ` + from[2:] + ` FROM assignments WHERE company_id = $1 AND id < $3`
}
