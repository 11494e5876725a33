package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// A company may have more employees than the directory of a report has room for.
func TestReportBeyondItsDirectory(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		company := storetest.Company(t, s, "Large").Company.ID
		storetest.Fill(t, s, company, storetest.Size{Employees: 50, Courses: 3, Assignments: 3000})
		var want []domain.Assignment
		keep := func(to *[]domain.Assignment) func([]domain.Assignment) error {
			return func(rows []domain.Assignment) error {
				for _, a := range rows {
					// What pointers point at is used again for the next batch.
					a.Score, a.StartedAt, a.CompletedAt, a.LastActivityAt = nil, nil, nil, nil
					*to = append(*to, a)
				}
				return nil
			}
		}
		if err := s.AssignmentReport(t.Context(), company, domain.AssignmentFilter{}, keep(&want)); err != nil {
			t.Fatal(err)
		}
		if len(want) != 3000 {
			t.Fatalf("%d rows, want 3000", len(want))
		}
		for _, room := range []struct{ people, text int }{{50, 1 << 20}, {49, 1 << 20}, {8, 1 << 20}, {1000, 100}} {
			var got []domain.Assignment
			if err := s.SmallAssignmentReport(t.Context(), company, room.people, room.text, keep(&got)); err != nil {
				t.Fatalf("room for %v: %v", room, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("room for %v: -want +got:\n%s", room, diff)
			}
		}
	})
}
